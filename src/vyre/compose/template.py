"""An op with every call expanded, ready to be copied into a caller under fresh names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from vyre.compose.calls import FRESH_NAME, defined_name, distinct_nodes
from vyre.compose.plan import Plan
from vyre.ir import node as n
from vyre.ir.expr import Expr, Var
from vyre.ir.limits import MAX_NAME_LENGTH
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.compose.op import Op

MANY = 2
_STEM_LENGTH = MAX_NAME_LENGTH - len("__call10000000_")


class Use(NamedTuple):
    """How a body uses one parameter.

    `times` saturates at MANY, and a use inside a loop counts as MANY. `position` orders the
    parameters whose only use is in the result; it is None for all others. `assigned` means that the
    parameter is a variable of the body, which needs storage of its own.
    """

    times: int
    position: int | None
    assigned: bool


class Local(NamedTuple):
    """A name that the body defines; `group` is the number of the expanded call it came from."""

    name: str
    group: int | None
    stem: str


@dataclass(frozen=True, slots=True)
class Template:
    """A call-free op.

    `size` counts tree nodes, `depth` levels of its deepest expression, `levels` levels of ops that
    were expanded into it, itself included. `plan` makes the copies.
    """

    params: tuple[Local, ...]
    body: tuple[n.Node, ...]
    result: Expr
    uses: tuple[Use, ...]
    locals: tuple[Local, ...]
    size: int
    depth: int
    levels: int
    plan: Plan


def make_template(op: Op, body: Sequence[n.Node], result: Expr, levels: int) -> Template:
    """The template of an op whose calls have been expanded into `body` and `result`."""
    params, locals_ = _names(tuple(p.name for p in op.params), body)
    roots = [*(x for node in distinct_nodes(body) for x in node.exprs), result]
    return Template(
        params,
        tuple(body),
        result,
        _uses(tuple(p.name for p in op.params), body, result),
        locals_,
        sum(node.size for node in body) + result.size,
        max(root.depth for root in roots),
        levels,
        Plan(body, result),
    )


def _uses(params: tuple[str, ...], body: Sequence[n.Node], result: Expr) -> tuple[Use, ...]:
    counts: dict[str, int] = {}

    def count(root: Expr, times: int) -> None:
        for name, found in _occurrences(root).items():
            counts[name] = min(MANY, counts.get(name, 0) + found * times)

    # A statement that stands in several places, or under a loop, is counted as if met many times.
    met = _meetings(body)
    for node, times in met.items():
        for root in node.exprs:
            count(root, times)
    in_body = set(counts)
    count(result, 1)
    order = [expr.name for expr in postorder(result) if isinstance(expr, Var)]
    position = {name: i for i, name in enumerate(order) if name not in in_body and counts[name] == 1}
    written = {node.name for node in met if isinstance(node, n.Assign)} | {defined_name(node) for node in met}
    return tuple(Use(counts.get(p, 0), position.get(p), p in written) for p in params)


def _meetings(body: Sequence[n.Node]) -> dict[n.Node, int]:
    """How often each distinct statement is executed at most: 1, or MANY for more."""
    met: dict[n.Node, int] = {}
    for node in body:
        met[node] = MANY if node in met else 1
    order = list(distinct_nodes(body))
    for node in reversed(order):
        times = MANY if isinstance(node, n.Loop) else met[node]
        for inner in node.bodies:
            for child in inner:
                met[child] = min(MANY, met.get(child, 0) + times)
    return met


def _occurrences(root: Expr) -> dict[str, int]:
    """How often each variable stands in the tree of `root`, saturating at MANY."""
    order = list(postorder(root))
    times = dict.fromkeys(order, 0)
    times[root] = 1
    for expr in reversed(order):
        for child in expr.children:
            times[child] = min(MANY, times[child] + times[expr])
    return {expr.name: times[expr] for expr in order if isinstance(expr, Var)}


def _names(params: Sequence[str], body: Sequence[n.Node]) -> tuple[tuple[Local, ...], tuple[Local, ...]]:
    """Parameters and defined names, with stems that stay distinct within the length limit."""
    taken: set[tuple[int | None, str]] = set()

    def local(name: str, group: int | None, stem: str) -> Local:
        candidate = stem[:_STEM_LENGTH]
        number = 1
        while (group, candidate) in taken:
            number += 1
            candidate = f"{stem[: _STEM_LENGTH - 8]}_{number}"
        taken.add((group, candidate))
        return Local(name, group, candidate)

    given = {name: local(name, None, name) for name in params}
    found: dict[str, Local] = {}
    for node in distinct_nodes(body):
        name = defined_name(node)
        if name is None or name in found or name in given:
            continue
        inherited = FRESH_NAME.fullmatch(name)
        found[name] = local(name, int(inherited[1]), inherited[2]) if inherited else local(name, None, name)
    return tuple(given[name] for name in params), tuple(found.values())
