"""Effects in order: no target language fixes the order of operands, so ours is made explicit.

Where a statement contains an atomic, every access to memory that may change (loads of writable
buffers, reductions over them, atomics) becomes a `Let` of its own, in evaluation order (decision 1).
A statement without atomics cannot observe the order of its loads and is left as it is. Hardware instructions,
the only calls at this stage, are treated like atomics: all lanes execute them, so none may end up behind
a `&&`, a `?:` or another place that a language evaluates for some lanes only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Atomic, Call, Expr, FReduce, FReduceApprox, Load, Var
from vyre.ir.node import Let, Node
from vyre.ir.walk import postorder, rebuild, with_parts

if TYPE_CHECKING:
    from vyre.lower.names import NameSupply


_NAMES: dict[type[Expr], str] = {Atomic: "old", Call: "lane"}


def sequence_effects(
    entry: tuple[Node, ...], writable: frozenset[str], supply: NameSupply
) -> tuple[Node, ...]:
    """Statements whose expressions contain at most one effect each, as the whole value of a `Let`."""
    return rewrite_blocks(entry, _Sequencer(writable, supply).statement, None)


class _Sequencer:
    def __init__(self, writable: frozenset[str], supply: NameSupply) -> None:
        self._writable = writable
        self._supply = supply
        self._atomic: dict[Expr, bool] = {}

    def statement(self, node: Node, _: None, out: list[Node]) -> tuple[Node, None]:
        exprs = node.exprs
        if any(self._has_atomic(x) for x in exprs) and not self._is_single(node):
            exprs = tuple(self._spill(x, out) for x in exprs)
        return with_parts(node, exprs, node.bodies), None

    def _is_single(self, node: Node) -> bool:
        """`let x = atomic(…)`, or an instruction, over operands without effects is already in order."""
        value = node.exprs[0]
        return (
            isinstance(node, Let)
            and isinstance(value, Atomic | Call)
            and not any(self._effect_inside(c) for c in value.children)
        )

    def _effect_inside(self, root: Expr) -> bool:
        return any(self._is_effect(x) for x in postorder(root))

    def _is_effect(self, expr: Expr) -> bool:
        if isinstance(expr, Atomic | Call):
            return True
        return isinstance(expr, Load | FReduce | FReduceApprox) and expr.buffer in self._writable

    def _has_atomic(self, root: Expr) -> bool:
        known = self._atomic.get(root)
        if known is None:
            for expr in postorder(root):
                inside = isinstance(expr, Atomic | Call) or any(self._atomic[c] for c in expr.children)
                self._atomic[expr] = inside
            known = self._atomic[root]
        return known

    def _spill(self, root: Expr, out: list[Node]) -> Expr:
        """Rebuilds one tree occurrence by occurrence: a node used twice is evaluated twice."""
        done: list[Expr] = []
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            expr, ready = stack.pop()
            if not ready:
                stack.append((expr, True))
                stack.extend((c, False) for c in reversed(expr.children))
                continue
            count = len(expr.children)
            children = tuple(done[len(done) - count :])
            del done[len(done) - count :]
            value = rebuild(expr, children)
            if self._is_effect(expr):
                name = self._supply.fresh(_NAMES.get(type(expr), "seen"))
                out.append(Let(name, value))
                value = Var(name)
            done.append(value)
        return done[0]
