"""An op with every call expanded, ready to be copied into a caller under fresh names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.compose.plan import InlinePlan
from vyre.compose.scan import FRESH_NAME, block_counts, defined_name, distinct_nodes, tree_counts
from vyre.ir import node as n
from vyre.ir.expr import Expr, Var
from vyre.ir.limits import MAX_NAME_LENGTH
from vyre.ir.walk import postorder
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op

MANY = 2
_STEM_LENGTH = MAX_NAME_LENGTH - len("__call10000000_")


class Measure(NamedTuple):
    """How deep the calls of an op go, itself included, and to how many tree nodes it expands."""

    levels: int
    size: int


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

    `depth` counts the levels of its deepest expression; `plan` makes the copies.
    """

    params: tuple[Local, ...]
    body: tuple[n.Node, ...]
    result: Expr
    uses: tuple[Use, ...]
    locals: tuple[Local, ...]
    depth: int
    measure: Measure
    plan: InlinePlan


def make_template(op: Op, body: Sequence[n.Node], result: Expr, measure: Measure) -> Template:
    """The template of an op whose calls have been expanded into `body` and `result`."""
    params, locals_ = _names(tuple(p.name for p in op.params), body)
    roots = [*(x for node in distinct_nodes(body) for x in node.exprs), result]
    return Template(
        params,
        tuple(body),
        result,
        _uses(tuple(p.name for p in op.params), body, result),
        locals_,
        max(root.depth for root in roots),
        measure,
        InlinePlan(body, result),
    )


def _uses(params: Sequence[str], body: Sequence[n.Node], result: Expr) -> tuple[Use, ...]:
    nodes = list(distinct_nodes(body))
    times = block_counts(body, nodes, loop_weight=MANY)
    in_body: dict[str, int] = {}
    for node in nodes:
        for root in node.exprs:
            for name, found in _occurrences(root).items():
                in_body[name] = in_body.get(name, 0) + found * times[node]
    in_result = _occurrences(result)
    alone = [name for name, found in in_result.items() if found == 1 and name not in in_body]
    position = {name: i for i, name in enumerate(alone)}
    written = {node.name for node in nodes if isinstance(node, n.Assign)} | set(map(defined_name, nodes))
    return tuple(
        Use(
            min(MANY, in_body.get(name, 0) + in_result.get(name, 0)),
            position.get(name),
            name in written,
        )
        for name in params
    )


def _occurrences(root: Expr) -> dict[str, int]:
    """How often each variable stands in the tree of `root`, in the order of first use."""
    order = list(postorder(root))
    times = tree_counts(order, {root: 1})
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
