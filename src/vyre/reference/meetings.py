"""Where the invocations of a workgroup meet: barriers, and exchanges between the lanes of a subgroup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import InterpreterError
from vyre.reference import code as c
from vyre.reference.invocations import Invocation, State, Workgroup

if TYPE_CHECKING:
    from vyre.reference.observe import Observer


def meet(group: Workgroup, observer: Observer | None) -> None:
    """Opens the barrier once nobody runs: every live invocation must wait at the same one.

    An invocation that returned is not live. One that ran past the last statement took the other
    way round a barrier, which is divergence like waiting somewhere else.
    """
    waiting = [i for i in group.invocations if i.state is State.Waiting]
    if not waiting or any(i.state in (State.Running, State.Exchanging) for i in group.invocations):
        return
    first = waiting[0]
    for other in group.invocations:
        if other.state is State.Finished or (other.state is State.Waiting and other.barrier != first.barrier):
            raise _divergence(first, other)
        if other.state is State.Returned and observer is not None:
            observer.met(first, _place(first), other, _place(other))
    group.epoch += 1
    for invocation in waiting:
        invocation.state = State.Running


def exchange(group: Workgroup) -> None:
    """Lets every subgroup go on whose lanes all wait at one exchange.

    Once nobody runs, a subgroup that still waits is divergent: some lane went another way.
    """
    stuck: tuple[Invocation, Invocation] | None = None
    progress = any(i.state is State.Running for i in group.invocations)
    for number, first in enumerate(group.invocations):
        stop = first.stop
        if first.state is not State.Exchanging or not isinstance(stop, c.Exchange):
            continue
        start = number - number % stop.lanes
        lanes = group.invocations[start : start + stop.lanes]
        other = next((i for i in lanes if not _is_partner(first, i)), None)
        if other is not None:
            stuck = stuck or (first, other)
            continue
        results = stop.function([tuple(i.registers[r] for r in stop.operands) for i in lanes])
        for invocation, result in zip(lanes, results, strict=True):
            invocation.registers[stop.dest] = result
            invocation.state = State.Running
        progress = True
    if stuck is not None and not progress:
        raise _divergence(*stuck)


def _is_partner(first: Invocation, other: Invocation) -> bool:
    return other.state is State.Exchanging and other.barrier == first.barrier


def _place(invocation: Invocation) -> c.Place:
    stop = invocation.stop
    return stop.place if stop is not None and stop.place is not None else c.Place("the end of the program")


def _divergence(first: Invocation, other: Invocation) -> InterpreterError:
    again = " in another iteration" if _place(first) is _place(other) else ""
    what = "exchange" if first.state is State.Exchanging else "barrier"
    return InterpreterError(
        f"divergent {what}: {first.ref} waits at {_place(first)}, "
        f"but {other.ref} is at {_place(other)}{again}.",
        fix=f"let every invocation of the workgroup reach the same {what}s; conditions and loop bounds "
        f"around {'an' if what == 'exchange' else 'a'} {what} must be uniform.",
        place=str(_place(first)),
    )
