"""A loop of each invocation as a loop of the workgroup.

An invocation that takes its elements in a loop jumps by a workgroup's width at each step. With the loop
outside and the invocations inside, neighbours are read one after the other. That changes nothing where every
step of the loop has places of its own in whatever is written: no step sees what another one does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import node as n
from vyre.lower.llvm.regions import Repeat, Run
from vyre.lower.llvm.touched import touched

if TYPE_CHECKING:
    from vyre.lower.llvm.affine import Ranges
    from vyre.lower.llvm.forms import Affine
    from vyre.obligations.order import Order


def interchanged(run: Run, ranges: Ranges, order: Order) -> Run | Repeat:
    """`run`, whose variables are all its own, with its loop outside where it is one and may be moved."""
    match run.body:
        case (n.Loop(var=var, start=start, stop=stop, body=body) as loop,) if ranges.extent(var) is not None:
            ends_early = any(node.breaks for node in body)
            if run.copies == 1 and not ends_early and _apart(body, var, ranges) and order.turns_apart(loop):
                return Repeat(var, start, stop, (Run(body, lanes=True),))
        case _:
            pass
    return run


def _apart(body: tuple[n.Node, ...], var: str, ranges: Ranges) -> bool:
    """Whether each step of the loop has its own part of every buffer that is written, for all invocations."""
    places: dict[str, list[Affine | None]] = {}
    written: set[str] = set()
    for access in touched(body, ranges):
        places.setdefault(access.buffer, []).append(access.form)
        if access.writes:
            written.add(access.buffer)
    return all(_separate(places[buffer], var, ranges) for buffer in written)


def _separate(forms: list[Affine | None], var: str, ranges: Ranges) -> bool:
    known = [form for form in forms if form is not None]
    steps = {form.factor(var) for form in known}
    kinds = {(form.group, form.rows) for form in known}
    if len(known) < len(forms) or len(steps) > 1 or len(kinds) > 1:
        return False
    fixed = [form.without(var) for form in known]
    return max(map(ranges.last, fixed)) - min(map(ranges.first, fixed)) < steps.pop()
