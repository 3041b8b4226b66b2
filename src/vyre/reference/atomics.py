"""The eight atomics, and what any run of them on one location must look like from outside.

A history is what was observed at one location: the value at the start, the value at the end, and for
each operation its operands and the value it returned, in no particular order. Each operation is a
step from the value before to the value after, so some sequential order explains a history exactly when
all its steps form one unbroken trail from the initial to the final value (decision 12: the total order
is per location). The checks below say None when the history is lawful, and otherwise what is wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.limits import U32_MAX
from vyre.ir.operators import AtomicOp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.reference.invocations import InvocationRef

_AFTER: Mapping[AtomicOp, Callable[[int, int, int | None], int]] = {
    AtomicOp.Add: lambda before, value, _: (before + value) & U32_MAX,
    AtomicOp.Or: lambda before, value, _: before | value,
    AtomicOp.And: lambda before, value, _: before & value,
    AtomicOp.Xor: lambda before, value, _: before ^ value,
    AtomicOp.Min: lambda before, value, _: min(before, value),
    AtomicOp.Max: lambda before, value, _: max(before, value),
    AtomicOp.Exchange: lambda before, value, _: value,
    AtomicOp.CompareExchange: lambda before, value, expected: value if before == expected else before,
}


def after(op: AtomicOp, before: int, value: int, expected: int | None = None) -> int:
    """What the location holds after the operation found `before` in it."""
    return _AFTER[op](before, value, expected)


@dataclass(frozen=True, slots=True)
class AtomicEvent:
    """One atomic as its invocation saw it."""

    op: AtomicOp
    value: int
    before: int
    expected: int | None = None
    invocation: InvocationRef | None = None
    place: str = ""

    @property
    def after(self) -> int:
        return after(self.op, self.before, self.value, self.expected)


@dataclass(frozen=True, slots=True)
class History:
    """All atomics on one location between two plain stores to it.

    `workgroup` is None for storage, which all workgroups share.
    """

    initial: int
    final: int
    events: tuple[AtomicEvent, ...]
    buffer: str = ""
    element: int = 0
    workgroup: tuple[int, int, int] | None = None


def check(history: History) -> str | None:
    """Every property that applies to this history."""
    if {event.op for event in history.events} == {AtomicOp.Add}:
        return check_add(history)
    return (
        check_monotone(history, AtomicOp.Min)
        or check_monotone(history, AtomicOp.Max)
        or check_compare_exchange(history)
        or check_sequential(history)
    )


def check_sequential(history: History) -> str | None:
    """Some order of the operations explains every value they returned, and the final value.

    This is the whole law for Or, And, Xor and Exchange, and for any mixture of operations.
    """
    surplus: Counter[int] = Counter({history.initial: 1})
    surplus[history.final] -= 1
    steps: defaultdict[int, list[int]] = defaultdict(list)
    for event in history.events:
        surplus[event.before] -= 1
        surplus[event.after] += 1
        steps[event.before].append(event.after)
    for value, count in surplus.items():
        if count < 0:
            return f"the value {value:#x} was found {-count} times more often than it was left behind."
    reached = {history.initial}
    frontier = [history.initial]
    while frontier:
        for value in steps[frontier.pop()]:
            if value not in reached:
                reached.add(value)
                frontier.append(value)
    stray = next((event for event in history.events if event.before not in reached), None)
    if stray is not None:
        return f"no order of operations from {history.initial:#x} ever reaches {stray.before:#x}."
    return None


def check_add(history: History) -> str | None:
    """The final value is the sum, and the returned values are the partial sums of one order."""
    total = (history.initial + sum(event.value for event in history.events)) & U32_MAX
    if history.final != total:
        return f"the additions sum to {total:#x}, but the final value is {history.final:#x}."
    return check_sequential(history)


def check_compare_exchange(history: History) -> str | None:
    """An expected value that never comes back is exchanged away at most once (decision 12)."""
    left: Counter[int] = Counter()
    restored: set[int] = set()
    for event in history.events:
        if event.after == event.before:
            continue
        restored.add(event.after)
        if event.op is AtomicOp.CompareExchange:
            left[event.before] += 1
    for expected, count in left.items():
        if count > 1 and expected not in restored:
            return f"CompareExchange succeeded {count} times for the expected value {expected:#x}."
    return check_sequential(history)


def check_monotone(history: History, op: AtomicOp) -> str | None:
    """Min (or Max) alone moves from the initial to the final value and never beyond or back."""
    if not history.events or any(event.op is not op for event in history.events):
        return None
    low, high = sorted((history.initial, history.final))
    best = min if op is AtomicOp.Min else max
    extreme = best([history.initial, *(event.value for event in history.events)])
    if history.final != extreme:
        return f"the {op.value} of all operands is {extreme:#x}, but the final value is {history.final:#x}."
    for event in history.events:
        if not low <= event.before <= high:
            return f"{op.value} returned {event.before:#x}, outside {low:#x}..{high:#x}."
    return check_sequential(history)
