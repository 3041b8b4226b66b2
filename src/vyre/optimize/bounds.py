"""Accesses that are always in bounds, so that an emitter may leave out their checks.

The contract: `proven_accesses` looks at statements in normal form (each variable with a name of its own;
nothing is known of the result of a call) and numbers them in program order, as `vyre.ir.walk.statements`
yields them: a statement before its bodies, `then` before `orelse`. `covers(number, buffer, index)` is True
when every evaluation of a load, store or atomic of `buffer` at the expression `index` by the statement of
that number is in bounds, for all inputs, grids and schedules. The conditions of an If and the bounds of a
Loop belong to the If and the Loop itself. An emitter counts the statements it prints and asks; what was not
proven keeps its check. The claim is about these very statements: after any further rewriting, ask again.

`adds_up(number, buffer, index)` is True for such an access at `x + literal` where this sum never wraps: then
the element lies that many places behind the element x, which is in bounds too.

What is known: the interval of every number, and how far below which buffers' lengths it is. It comes from
literals, declared counts, local ids, `%`, `&`, `>>`, `min` by Select, the bounds of loops, and the conditions
of every If around the access or before it with a branch that returned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, statements
from vyre.optimize.facts import Knowledge, State, literal_sum
from vyre.optimize.ranges import Range, Transfer
from vyre.optimize.reads import Reads
from vyre.optimize.types import Types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.signature import OpSignature

_Access = tuple[int, str, e.Expr]


@dataclass(frozen=True, slots=True)
class ProvenAccesses:
    """The accesses of one program that need no check; `total` counts all distinct ones."""

    proven: frozenset[_Access]
    total: int
    sums: frozenset[_Access] = field(default=frozenset(), kw_only=True)

    def covers(self, statement: int, buffer: str, index: e.Expr) -> bool:
        return (statement, buffer, index) in self.proven

    def adds_up(self, statement: int, buffer: str, index: e.Expr) -> bool:
        return (statement, buffer, index) in self.sums


def proven_accesses(
    entry: tuple[n.Node, ...],
    buffers: Iterable[BufferDecl],
    workgroup_size: tuple[int, int, int],
    *,
    signature: Callable[[str], OpSignature | None] | None = None,
) -> ProvenAccesses:
    """The accesses that are in bounds for all inputs; `signature` knows the ops that are called, if any."""
    return _Analysis(entry, tuple(buffers), workgroup_size, signature).run(entry)


def accesses(node: n.Node) -> Iterator[tuple[str, e.Expr]]:
    """Buffer and index of every distinct element access that the statement itself makes."""
    if isinstance(node, n.Store):
        yield node.buffer, node.index
    seen: set[e.Expr] = set()
    for root in node.exprs:
        for expr in postorder(root):
            if isinstance(expr, e.Load | e.Atomic) and expr not in seen:
                seen.add(expr)
                yield expr.buffer, expr.index


class _Analysis:
    def __init__(
        self,
        entry: tuple[n.Node, ...],
        buffers: tuple[BufferDecl, ...],
        size: tuple[int, int, int],
        signature: Callable[[str], OpSignature | None] | None,
    ) -> None:
        self._counts = {b.name: b.count for b in buffers}
        self._types = Types.of(entry, buffers, signatures=signature)
        self._assigned = {node.name for _, node in statements(entry) if isinstance(node, n.Assign)}
        writable = frozenset(b.name for b in buffers if b.access.writable)
        transfer = Transfer(self._counts, size)
        self._known = Knowledge(self._types, Reads(), transfer, writable, State())
        self._tasks: list[Callable[[], None]] = []
        self._number = 0
        self._proven: set[_Access] = set()
        self._sums: set[_Access] = set()
        self._seen: set[_Access] = set()

    def run(self, entry: tuple[n.Node, ...]) -> ProvenAccesses:
        self._block(entry)
        while self._tasks:
            self._tasks.pop()()
        return ProvenAccesses(frozenset(self._proven), len(self._seen), sums=frozenset(self._sums))

    def _block(self, body: tuple[n.Node, ...]) -> None:
        self._tasks.extend(partial(self._statement, node) for node in reversed(body))

    def _statement(self, node: n.Node) -> None:
        self._look(node)
        known = self._known
        match node:
            case n.Let(name=name, value=value):
                if name in self._assigned:
                    known.assign(name, known.range(value))
                else:
                    known.fixed[name] = known.range(value)
            case n.Assign(name=name, value=value):
                known.assign(name, known.range(value))
            case n.If():
                self._branch(node)
            case n.Loop():
                self._loop(node)
            case n.Return():
                known.state.ended = True
            case n.Block(body=body):
                self._block(body)
            case _:
                pass

    def _look(self, node: n.Node) -> None:
        for buffer, index in accesses(node):
            key = (self._number, buffer, index)
            self._seen.add(key)
            value = self._known.range(index)
            count = self._counts[buffer]
            if value.room(buffer) > 0 or (count and value.hi < count):
                self._proven.add(key)
                parts = literal_sum(index)
                if parts and self._known.no_wrap(*parts):
                    self._sums.add(key)
        self._number += 1

    def _branch(self, node: n.If) -> None:
        known = self._known
        before = known.state
        known.state = before.copy()
        known.assume(node.condition, True)

        def after_then() -> None:
            then = known.state
            known.state = before.copy()
            known.assume(node.condition, False)
            self._tasks.append(partial(after_else, then))
            self._block(node.orelse)

        def after_else(then: State) -> None:
            known.state = then.join(known.state)

        self._tasks.append(after_then)
        self._block(node.then)

    def _loop(self, node: n.Loop) -> None:
        known = self._known
        start, stop = known.range(node.start), known.range(node.stop)
        changed = {s.name for _, s in statements(node.body) if isinstance(s, n.Assign)}
        before = known.state
        known.state = before.copy()
        known.less(node.start, node.stop)
        known.forget(changed)
        known.fixed[node.var] = Range(start.lo).meet(stop.below())
        self._types.declare(node.var, DataType.U32)

        def after_body() -> None:
            known.state = before.copy()
            known.forget(changed)

        self._tasks.append(after_body)
        self._block(node.body)
