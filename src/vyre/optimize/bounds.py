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

Each answer comes with its witness, a claim that `vyre.obligations.check` verifies: emitters act on nothing
else.

What is known: the interval of every number, and how far below which buffers' lengths it is. It comes from
literals, declared counts, local ids, `%`, `&`, `>>`, `min` by Select, the bounds of loops, and the conditions
of every If around the access or before it with a branch that returned or left the loop.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.environment import Types
from vyre.ir.types import DataType
from vyre.ir.walk import every_node, postorder
from vyre.obligations.claims import BEFORE, Rule
from vyre.optimize.facts import Knowledge, State, literal_sum, says
from vyre.optimize.ranges import Range, Transfer
from vyre.optimize.reads import Reads
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.signature import OpSignature
    from vyre.obligations.claims import Claim

_UNSIGNED = (DataType.U8, DataType.U16)
_Access = tuple[int, str, e.Expr]


@dataclass(frozen=True, slots=True)
class ProvenAccesses:
    """The accesses of one program that need no check, with what shows it; `total` counts all distinct ones.

    The witness of a sum is a claim about `x`.
    """

    proven: dict[_Access, Claim]
    total: int
    sums: dict[_Access, Claim] = field(default_factory=dict["_Access", "Claim"], kw_only=True)

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
        self._assigned = {node.name for node in every_node(entry) if isinstance(node, n.Assign)}
        narrow = {b.name: b.element.bits for b in buffers if b.element in _UNSIGNED}
        self._known = Knowledge(self._types, Reads(), Transfer(self._counts, size, narrow), State())
        self._tasks: list[Callable[[], None]] = []
        self._number = -1
        self._proven: dict[_Access, Claim] = {}
        self._sums: dict[_Access, Claim] = {}
        self._seen: set[_Access] = set()

    def run(self, entry: tuple[n.Node, ...]) -> ProvenAccesses:
        self._block(entry)
        while self._tasks:
            self._tasks.pop()()
        return ProvenAccesses(self._proven, len(self._seen), sums=self._sums)

    def _block(self, body: tuple[n.Node, ...]) -> None:
        self._tasks.extend(partial(self._statement, node) for node in reversed(body))

    def _statement(self, node: n.Node) -> None:
        known = self._known
        self._number += 1
        known.place = (self._number, BEFORE)
        self._look(node)
        match node:
            case n.Let(name=name, value=value):
                claim = known.claim(value)
                if name in self._assigned:
                    known.assign(name, claim)
                else:
                    known.fixed[name] = (Rule.LET, says(claim), (claim,))
            case n.Assign(name=name, value=value):
                known.assign(name, known.claim(value))
            case n.If():
                self._branch(node)
            case n.Loop():
                self._loop(node)
            case n.Return() | n.Break():
                known.state.ended = True
            case n.Block(body=body):
                self._block(body)
            case _:
                pass

    def _look(self, node: n.Node) -> None:
        for buffer, index in accesses(node):
            key = (self._number, buffer, index)
            self._seen.add(key)
            claim = self._known.claim(index)
            value = says(claim)
            count = self._counts[buffer]
            if value.room(buffer) > 0 or (count and value.hi < count):
                self._proven[key] = claim
                parts = literal_sum(index)
                if parts and self._known.no_wrap(*parts):
                    self._sums[key] = self._known.claim(parts[0])

    def _branch(self, node: n.If) -> None:
        known, number = self._known, self._number
        before = known.state

        def take(branch: int) -> None:
            known.state = before.copy()
            known.place = (number, branch)
            known.assume(node.condition, branch == 0)

        def after_then() -> None:
            then = known.state
            take(1)
            self._tasks.append(partial(after_else, then))
            self._block(node.orelse)

        def after_else(then: State) -> None:
            known.state = then.join(known.state)

        take(0)
        self._tasks.append(after_then)
        self._block(node.then)

    def _loop(self, node: n.Loop) -> None:
        known = self._known
        start, stop = known.claim(node.start), known.claim(node.stop)
        changed = {s.name for s in every_node(node.body) if isinstance(s, n.Assign)}
        before = known.state
        known.state = before.copy()
        known.forget(changed)
        known.place = (self._number, 0)
        known.less(node.start, node.stop)
        known.forget(changed)
        counted = Range(says(start).lo).meet(says(stop).below())
        known.fixed[node.var] = (Rule.LOOP, counted, (start, stop))
        self._types.declare(node.var, DataType.U32)

        def after_body() -> None:
            known.state = before.copy()
            known.forget(changed)

        self._tasks.append(after_body)
        self._block(node.body)
