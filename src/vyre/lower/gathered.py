"""Rare cases of calls in a row, behind one branch: what comes before it is computed side by side.

A function in doubles ends with a branch for the arguments that it leaves to integers. Four calls in a row
have four, and a compiler moves nothing across them: each call waits for the one before, and loads
every coefficient again. Here the statements of such functions take the place of the calls, their branches
move behind the last of them, inside a branch for all, and the statements that use the results follow.

A row is `Let` and `Store` alone. A call stays where it is if its operands come from the row itself or from
memory that the row may have changed. Functions are pure and total, so that none may be computed too early.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from vyre.ir.blocks import keep, rewrite_blocks
from vyre.ir.environment import Types
from vyre.ir.expr import Atomic, BinOp, Call, Expr, Load, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.walk import postorder, transform, with_parts
from vyre.lower.legalise import DOUBLE
from vyre.lower.names import NameSupply, rename_unique
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.lower.prepare import Function, Prepared

MOST = 4
"""How many calls share a branch; more need more registers than they save time."""


def gathered(prepared: Prepared) -> Prepared:
    """The same program; its functions are kept, for the calls that stay."""
    ending = {f.name: f for f in prepared.functions if f.body.entry and isinstance(f.body.entry[-1], If)}
    if not ending:
        return prepared
    gatherer = _Gatherer(prepared, ending)
    entry = rewrite_blocks(prepared.entry, keep, None, block=gatherer.block)
    types = Types.of(entry, prepared.buffers, signatures=prepared.types.signature)
    return replace(prepared, entry=entry, types=types)


class _Gatherer:
    def __init__(self, prepared: Prepared, ending: Mapping[str, Function]) -> None:
        self._ending = ending
        self._supply = NameSupply(prepared.variables)
        self._writable = {b.name for b in prepared.buffers if b.access.writable}
        self._intrinsics = prepared.intrinsics
        self._row: list[Node] = []
        self._calls: dict[Call, None] = {}

    def block(self, nodes: list[Node]) -> tuple[Node, ...]:
        out: list[Node] = []
        for node in nodes:
            if not isinstance(node, Let | Store) or self._has_effect(node):
                self._close(out)
                out.append(node)
                continue
            found = self._found(node)
            if len(self._calls.keys() | found.keys()) > MOST:
                self._close(out)
                found = self._found(node)
            self._calls |= found
            early = isinstance(node, Let) and not found and self._is_early(node.value)
            if (self._row or found) and not early:
                self._row.append(node)
            else:
                out.append(node)
        self._close(out)
        return tuple(out)

    def _has_effect(self, node: Node) -> bool:
        return any(
            isinstance(x, Atomic) or (isinstance(x, Call) and x.op_id in self._intrinsics)
            for root in node.exprs
            for x in postorder(root)
        )

    def _found(self, node: Node) -> dict[Call, None]:
        """The calls of the statement that can be computed before the row."""
        calls = [x for root in node.exprs for x in postorder(root) if self._ends_rarely(x)]
        return {x: None for x in calls if isinstance(x, Call) and all(map(self._is_early, x.args))}

    def _ends_rarely(self, expr: Expr) -> bool:
        return (
            isinstance(expr, Call)
            and expr.op_id.startswith(DOUBLE)
            and function_name(expr.op_id) in self._ending
        )

    def _is_early(self, root: Expr) -> bool:
        """Whether the value is the same before the row, and no rare case is part of it."""
        own = {n.name for n in self._row if isinstance(n, Let)}
        return not any(
            (isinstance(x, Var) and x.name in own)
            or (isinstance(x, Load) and x.buffer in self._writable)
            or self._ends_rarely(x)
            for x in postorder(root)
        )

    def _close(self, out: list[Node]) -> None:
        """Ends the row: its calls, where there are several, then its statements."""
        row, calls = self._row, list(self._calls)
        self._row, self._calls = [], {}
        if len(calls) < 2:
            out.extend(row)
            return
        results: dict[Expr, Expr] = {}
        flags: list[Var] = []
        rare: list[Node] = []
        for call in calls:
            *steps, last, result = self._steps(call)
            assert isinstance(last, If)
            assert isinstance(result, Let)
            flag = Var(self._supply.fresh("rare"))
            out.extend((*steps, Let(flag.name, last.condition)))
            flags.append(flag)
            rare.append(If(flag, (*last.then,)))
            results[call] = result.value
        out.append(If(reduce(lambda a, b: BinOp(BinaryOp.Or, a, b), flags), tuple(rare)))
        for node in row:
            exprs = tuple(transform(root, lambda x: results.get(x, x)) for root in node.exprs)
            out.append(with_parts(node, exprs, node.bodies))

    def _steps(self, call: Call) -> tuple[Node, ...]:
        """The statements of the function of a call, with names of their own, and one of its result."""
        function = self._ending[function_name(call.op_id)]
        names = {name: self._supply.fresh(name) for name in function.params}
        given = [Let(names[name], value) for name, value in zip(function.params, call.args, strict=True)]
        body = (*function.body.entry, Let("result", function.result))
        return (*given, *rename_unique(body, self._supply, outer=names))
