"""Where the bits of a NaN can be seen, so that it is made canonical there and nowhere else (decision 7).

A native result may be any NaN. An operation that takes it as an operand cannot tell one NaN from another; a
store, a bitcast, a sign operation can. A variable holds such raw results where none of its uses can
tell, or where every value that it ever holds was computed: then the uses that can tell make it canonical
themselves. A variable that is also given moved bits (a load) and is observed holds canonical values only,
because behind it nobody knows which of the two it was. Formulas give the canonical NaN or none: a variable
that holds nothing but their results needs no more.

A private buffer is such a variable. The memory of a workgroup holds canonical NaNs; where all that is stored
there was computed, what a private buffer takes from it counts as computed too. Of a workgroup of one
invocation it is private.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Expr, Literal, Load, Select, Var
from vyre.ir.float_formats import FORMATS
from vyre.ir.node import Assign, Let, Node, Store
from vyre.ir.types import DataType
from vyre.ir.walk import every_node
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vyre.ir.buffers import BufferDecl


class _Use(Enum):
    Seen = "the bits can be seen"
    Operand = "an operation that takes every NaN alike"
    Moved = "moved into the variable that the statement binds"


@dataclass(slots=True)
class _Variable:
    moves: set[str] = field(default_factory=set[str])
    """Variables whose values it may take over unchanged."""
    computed: bool = True
    """False when it may hold bits that no operation made."""
    raw: bool = False
    """True when it may hold the result of an operation that gives some NaN."""
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """`canonical` variables hold canonical NaNs; of the others, `lazy` ones are also looked at.

    Private buffers are among them, under the names that `memory` gives them.
    """

    canonical: frozenset[str] = frozenset()
    lazy: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OwnFloats:
    """The buffers of floats that no host sees."""

    private: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


def own_floats(buffers: Iterable[BufferDecl], *, alone: bool = False) -> OwnFloats:
    """With `alone` a workgroup is one invocation, whose own its memory is then."""
    floats = [b for b in buffers if b.element in (DataType.F32, DataType.F64)]
    private = frozenset(b.name for b in floats if b.access is BufferAccess.Private)
    shared = frozenset(b.name for b in floats if b.access.shared)
    return OwnFloats(private | shared) if alone else OwnFloats(private, shared)


def memory(buffer: str) -> str:
    """A buffer under a name that no variable has."""
    return f"{buffer}[]"


def observed(
    entry: tuple[Node, ...],
    result: Expr | None,
    is_float: Callable[[Expr], bool],
    is_op: Callable[[Expr], bool],
    is_raw: Callable[[Expr], bool],
    own: OwnFloats,
) -> Observed:
    """Looks at statements with unique names. `is_op` says which nodes are float operations, `is_raw` which of
    them may give any NaN.

    `result` is one more expression that is seen, after the statements.
    """
    looking = _Looking(is_op, is_raw, own)
    variables = looking.variables
    for node in every_node(entry):
        if isinstance(node, Let | Assign) and is_float(node.value):
            variables.setdefault(node.name, _Variable())
    for node in every_node(entry):
        if isinstance(node, Store) and memory(node.buffer) in variables:
            looking.store(node)
            continue
        bound = variables.get(node.name) if isinstance(node, Let | Assign) else None
        for root in node.exprs:
            looking.look(root, bound)
    if result is not None:
        looking.look(result, None)
    _spread_origins(variables)
    return _decide(variables)


class _Looking:
    """Notes of every variable how it is used and where its values come from."""

    def __init__(self, is_op: Callable[[Expr], bool], is_raw: Callable[[Expr], bool], own: OwnFloats) -> None:
        self.variables = {memory(name): _Variable() for name in own.private | own.shared}
        self._is_op, self._is_raw, self._own = is_op, is_raw, own

    def store(self, node: Store) -> None:
        """A store to a buffer of its own is a move; what the workgroup is given is seen as well."""
        private = node.buffer in self._own.private
        self.look(node.index, None)
        self.look(node.value, self.variables[memory(node.buffer)], given=private)
        if not private:
            self.look(node.value, None)

    def look(self, root: Expr, bound: _Variable | None, *, given: bool = False) -> None:
        """`bound` takes the value over; `given` says that it is a private buffer."""
        stack: list[tuple[Expr, _Use]] = [(root, _Use.Seen if bound is None else _Use.Moved)]
        known = set(stack)
        while stack:
            expr, use = stack.pop()
            parts: list[tuple[Expr, _Use]] = []
            if isinstance(expr, Var):
                self._use(expr.name, use, bound)
            elif isinstance(expr, Load) and self._is_kept(expr.buffer, use, given=given):
                self._use(memory(expr.buffer), use, bound)
                parts = [(expr.index, _Use.Seen)]
            elif isinstance(expr, Select):
                parts = [(expr.condition, _Use.Seen), (expr.if_true, use), (expr.if_false, use)]
            elif self._is_op(expr):
                if use is _Use.Moved and bound is not None and self._is_raw(expr):
                    bound.raw = True
                parts = [(child, _Use.Operand) for child in expr.children]
            else:
                if use is _Use.Moved and bound is not None and not _is_harmless(expr):
                    bound.computed = False
                parts = [(child, _Use.Seen) for child in expr.children]
            for part in parts:
                if part not in known:
                    known.add(part)
                    stack.append(part)

    def _is_kept(self, buffer: str, use: _Use, *, given: bool) -> bool:
        return buffer in self._own.private or (buffer in self._own.shared and use is _Use.Moved and given)

    def _use(self, name: str, use: _Use, bound: _Variable | None) -> None:
        variable = self.variables.get(name)
        if use is _Use.Seen and variable is not None:
            variable.seen = True
        elif use is _Use.Moved and bound is not None:
            bound.moves.add(name)
            bound.computed &= variable is not None


def _is_harmless(expr: Expr) -> bool:
    """A literal that is not a NaN, or the canonical one."""
    if not isinstance(expr, Literal) or expr.type not in FORMATS:
        return False
    of = FORMATS[expr.type]
    return expr.bits & of.magnitude <= of.infinity or expr.bits == of.nan


def _spread_origins(variables: dict[str, _Variable]) -> None:
    """What takes over bits that no operation made is not computed either; what takes over raw ones is raw."""
    takers: dict[str, list[_Variable]] = {}
    for variable in variables.values():
        for name in variable.moves:
            takers.setdefault(name, []).append(variable)
    names = {id(variable): name for name, variable in variables.items()}
    stack = [name for name, variable in variables.items() if variable.raw or not variable.computed]
    while stack:
        giver = variables[stack.pop()]
        for taker in takers.get(names[id(giver)], ()):
            known = taker.raw, taker.computed
            taker.raw |= giver.raw
            taker.computed &= giver.computed
            if known != (taker.raw, taker.computed):
                stack.append(names[id(taker)])


def _decide(variables: dict[str, _Variable]) -> Observed:
    canonical: set[str] = set()
    lazy: set[str] = set()
    stack = [name for name, variable in variables.items() if variable.seen]
    while stack:
        name = stack.pop()
        if name in canonical or name in lazy or name not in variables:
            continue
        if variables[name].computed:
            if variables[name].raw:
                lazy.add(name)
        else:
            canonical.add(name)
            stack.extend(variables[name].moves)
    return Observed(frozenset(canonical), frozenset(lazy))
