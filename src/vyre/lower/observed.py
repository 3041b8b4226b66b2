"""Where the bits of a NaN can be seen, so that it is made canonical there and nowhere else (decision 7).

A native result may be any NaN. An operation that takes it as an operand cannot tell one NaN from another; a
store, a bitcast, a sign operation can. A variable holds such raw results where none of its uses can
tell, or where every value that it ever holds was computed: then the uses that can tell make it canonical
themselves. A variable that is also given moved bits (a load) and is observed holds canonical values only,
because behind it nobody knows which of the two it was.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Literal, Select, Var
from vyre.ir.float_formats import FORMATS
from vyre.ir.node import Assign, Let, Node
from vyre.ir.walk import statements
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable


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
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Observed:
    """`canonical` variables hold canonical NaNs; of the others, `lazy` ones are also looked at."""

    canonical: frozenset[str]
    lazy: frozenset[str]


def observed(
    entry: tuple[Node, ...],
    result: Expr | None,
    is_float: Callable[[Expr], bool],
    is_op: Callable[[Expr], bool],
) -> Observed:
    """Looks at statements with unique names. `is_op` says which nodes are float operations.

    `result` is one more expression that is seen, after the statements.
    """
    variables: dict[str, _Variable] = {}
    for _, node in statements(entry):
        if isinstance(node, Let | Assign) and is_float(node.value):
            variables.setdefault(node.name, _Variable())
    for _, node in statements(entry):
        bound = variables.get(node.name) if isinstance(node, Let | Assign) else None
        for root in node.exprs:
            _look(root, bound, variables, is_op)
    if result is not None:
        _look(result, None, variables, is_op)
    _spread_origins(variables)
    return _decide(variables)


def _look(
    root: Expr, bound: _Variable | None, variables: dict[str, _Variable], is_op: Callable[[Expr], bool]
) -> None:
    stack: list[tuple[Expr, _Use]] = [(root, _Use.Seen if bound is None else _Use.Moved)]
    known = set(stack)
    while stack:
        expr, use = stack.pop()
        parts: list[tuple[Expr, _Use]] = []
        if isinstance(expr, Var):
            _use(expr.name, use, bound, variables)
        elif isinstance(expr, Select):
            parts = [(expr.condition, _Use.Seen), (expr.if_true, use), (expr.if_false, use)]
        elif is_op(expr):
            parts = [(child, _Use.Operand) for child in expr.children]
        else:
            if use is _Use.Moved and bound is not None and not _is_harmless(expr):
                bound.computed = False
            parts = [(child, _Use.Seen) for child in expr.children]
        for part in parts:
            if part not in known:
                known.add(part)
                stack.append(part)


def _use(name: str, use: _Use, bound: _Variable | None, variables: dict[str, _Variable]) -> None:
    variable = variables.get(name)
    if use is _Use.Seen and variable is not None:
        variable.seen = True
    elif use is _Use.Moved and bound is not None:
        bound.moves.add(name)
        bound.computed &= variable is not None


def _is_harmless(expr: Expr) -> bool:
    """A literal that is no NaN, or the canonical one."""
    if not isinstance(expr, Literal) or expr.type not in FORMATS:
        return False
    of = FORMATS[expr.type]
    return expr.bits & of.magnitude <= of.infinity or expr.bits == of.nan


def _spread_origins(variables: dict[str, _Variable]) -> None:
    """What takes over bits that no operation made is not computed either."""
    takers: dict[str, list[_Variable]] = {}
    for variable in variables.values():
        for name in variable.moves:
            takers.setdefault(name, []).append(variable)
    stack = [name for name, variable in variables.items() if not variable.computed]
    names = {id(variable): name for name, variable in variables.items()}
    while stack:
        for taker in takers.get(stack.pop(), ()):
            if taker.computed:
                taker.computed = False
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
            lazy.add(name)
        else:
            canonical.add(name)
            stack.extend(variables[name].moves)
    return Observed(frozenset(canonical), frozenset(lazy))
