"""What each straight-line instruction does: one small function over the registers for each.

Memory is reached through the invocation; with an observer, every access is shown to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from vyre.errors import StepBudgetExceeded
from vyre.reference import code as c
from vyre.reference.atomics import AtomicEvent, after

if TYPE_CHECKING:
    from vyre.reference.invocations import Invocation
    from vyre.reference.observe import Observer

Action = Callable[[list[int], "Invocation"], None]


class Budget:
    """Steps that the run may still take; shared by all its invocations."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def charge(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise StepBudgetExceeded(
                f"the program took more than {self.limit} steps, its step budget.",
                fix="dispatch fewer invocations, shorten its loops, or pass a larger step_budget; "
                "a call of a kernel takes step_limit= for it.",
            )


def action_of(instruction: c.Instruction, budget: Budget, observer: Observer | None) -> Action:
    """The action of an instruction that is neither a jump nor a stop."""
    match instruction:
        case c.Compute():
            return _compute(instruction)
        case c.Note():
            return _note(instruction)
        case c.Spent():
            return _spent(instruction, observer)
        case c.Read():
            return _read(instruction, observer)
        case c.Write():
            return _write(instruction, observer)
        case c.Update():
            return _update(instruction, observer)
        case c.Reduce():
            return _reduce(instruction, budget, observer)
        case _:
            raise AssertionError(f"{instruction} ends a segment")


def _compute(instruction: c.Compute) -> Action:
    dest, function = instruction.dest, instruction.function
    match instruction.operands:
        case (a,):

            def action(registers: list[int], _: Invocation) -> None:
                registers[dest] = function(registers[a])

        case (a, b):

            def action(registers: list[int], _: Invocation) -> None:
                registers[dest] = function(registers[a], registers[b])

        case operands:

            def action(registers: list[int], _: Invocation) -> None:
                registers[dest] = function(*[registers[operand] for operand in operands])

    return action


def _note(i: c.Note) -> Action:
    def action(registers: list[int], invocation: Invocation) -> None:
        i.tell(invocation, [registers[register] for register in i.registers])

    return action


def _spent(i: c.Spent, observer: Observer | None) -> Action:
    def action(_: list[int], invocation: Invocation) -> None:
        if observer is not None:
            observer.spent(invocation, i.place)

    return action


def _read(i: c.Read, observer: Observer | None) -> Action:
    dest, slot, index, place, chosen = i.dest, i.buffer, i.index, i.place, i.chosen

    def action(registers: list[int], invocation: Invocation) -> None:
        if observer is not None and place is not None:
            # An element that does not exist is told of only where what was read matters.
            matters = all(bool(registers[r]) is wanted for r, wanted in chosen)
            if matters or registers[index] < invocation.buffers[slot].length:
                observer.read(invocation, slot, registers[index], place)
        registers[dest] = invocation.buffers[slot].load(registers[index])

    return action


def _write(i: c.Write, observer: Observer | None) -> Action:
    slot, index, value, place = i.buffer, i.index, i.value, i.place

    def action(registers: list[int], invocation: Invocation) -> None:
        if observer is not None:
            observer.write(invocation, slot, registers[index], place)
        invocation.buffers[slot].store(registers[index], registers[value])

    return action


def _update(i: c.Update, observer: Observer | None) -> Action:
    dest, op, slot, index_at, value_at, expected_at, place = (
        i.dest,
        i.op,
        i.buffer,
        i.index,
        i.value,
        i.expected,
        i.place,
    )

    def action(registers: list[int], invocation: Invocation) -> None:
        index, value = registers[index_at], registers[value_at]
        expected = None if expected_at is None else registers[expected_at]
        buffer = invocation.buffers[slot]
        before = buffer.load(index)
        buffer.store(index, after(op, before, value, expected))
        if observer is not None:
            event = AtomicEvent(op, value, before, expected, invocation.ref, observer.path(place))
            observer.update(invocation, slot, index, place, event)
        registers[dest] = before

    return action


def _reduce(i: c.Reduce, budget: Budget, observer: Observer | None) -> Action:
    def action(registers: list[int], invocation: Invocation) -> None:
        elements = range(registers[i.start], registers[i.stop])
        budget.charge(len(elements))
        if observer is not None:
            for index in elements:
                observer.read(invocation, i.buffer, index, i.place)
        load = invocation.buffers[i.buffer].load
        registers[i.dest] = i.fold([load(index) for index in elements])

    return action
