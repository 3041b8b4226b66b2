"""The machine: invocations that run code, one straight stretch at a time.

A segment is a stretch of actions without a jump; for an interleaving schedule it also ends after each
access to memory, so that a turn of one segment is as short as any other invocation could notice.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import StepLimitExceeded
from vyre.ir.limits import U32_MAX
from vyre.reference import code as c
from vyre.reference.actions import Action, Budget, action_of
from vyre.reference.memory import zeroed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.reference.invocations import Ids, Invocation
    from vyre.reference.observe import Observer


@dataclass(frozen=True, slots=True)
class Segment:
    """Actions without a jump between them, and where to go after the last."""

    actions: tuple[Action, ...]
    cost: int
    stop: c.StopInstruction | None
    leave: Callable[[list[int]], int]


class Machine:
    """A program ready to run. All its workgroups share the storage buffers and the budget. `private` are the
    buffers of which every invocation has its own, by their place in the program."""

    def __init__(
        self,
        code: c.Code,
        size: Ids,
        private: Mapping[int, BufferDecl],
        *,
        budget: Budget,
        observer: Observer | None = None,
        split_at_access: bool = False,
        step_limit: int | None = None,
    ) -> None:
        self.code = code
        self.size = size
        self.private = private
        # A limit on turns takes the place of the budget, but for the elements of reductions.
        self.budget = budget if step_limit is None else Budget(sys.maxsize)
        self.observer = observer
        # Where turns are limited, one more register counts down those that an invocation has left.
        self.registers = code.registers if step_limit is None else (*code.registers, step_limit)
        self.segments = _segments(code, budget, observer, split_at_access, step_limit)

    def turn(self, invocation: Invocation, *, one_segment: bool) -> None:
        """Runs an invocation to its next stop, or for one segment only."""
        registers = invocation.registers or self._start(invocation)
        segments, budget = self.segments, self.budget
        at = invocation.segment
        while True:
            segment = segments[at]
            budget.left -= segment.cost
            if budget.left < 0:
                budget.charge(0)
            for action in segment.actions:
                action(registers, invocation)
            if segment.stop is not None:
                invocation.halt(segment.stop, at)
                if self.observer is not None and isinstance(segment.stop, c.Leave):
                    self.observer.ended(invocation)
                return
            at = segment.leave(registers)
            if one_segment:
                invocation.segment = at
                return

    def _start(self, invocation: Invocation) -> list[int]:
        registers = list(self.registers)
        invocation.buffers = invocation.group.buffers
        if self.private:
            invocation.buffers = list(invocation.group.buffers)
            for slot, decl in self.private.items():
                invocation.buffers[slot] = zeroed(decl)
        for wanted in self.code.ids:
            group, local = invocation.group.ids[wanted.axis], invocation.ref.local[wanted.axis]
            values = {
                "LocalId": local,
                "WorkgroupId": group,
                "InvocationId": (group * self.size[wanted.axis] + local) & U32_MAX,
            }
            registers[wanted.register] = values[wanted.kind]
        invocation.registers = registers
        return registers


def _segments(
    code: c.Code, budget: Budget, observer: Observer | None, split: bool, step_limit: int | None
) -> list[Segment]:
    instructions = code.instructions
    counted = None if step_limit is None else (step_limit, len(code.registers))
    starts = {0}
    for at, instruction in enumerate(instructions):
        match instruction:
            case c.Jump(target) | c.JumpIfZero(target=target):
                starts |= {target, at + 1}
            case c.LoopEnter(exit=target) | c.LoopNext(body=target):
                starts |= {target, at + 1}
            case c.Meet() | c.Exchange() | c.Leave():
                starts.add(at + 1)
            case c.Read() | c.Write() | c.Update() | c.Reduce() if split:
                starts.add(at + 1)
            case _:
                pass
    order = sorted(starts - {len(instructions)})
    number = {start: i for i, start in enumerate(order)}
    segments: list[Segment] = []
    for start, end in zip(order, [*order[1:], len(instructions)], strict=True):
        last = instructions[end - 1]
        falls = isinstance(last, c.StraightInstruction)
        straight = instructions[start:end] if falls else instructions[start : end - 1]
        actions = tuple(action_of(i, budget, observer) for i in straight)
        stop = last if isinstance(last, c.StopInstruction) else None
        following = number.get(end, -1)
        segments.append(Segment(actions, end - start, stop, _leave(last, number, following, counted)))
    return segments


def _leave(
    last: c.Instruction, number: dict[int, int], following: int, counted: tuple[int, int] | None
) -> Callable[[list[int]], int]:
    match last:
        case c.Jump(target):
            goal = number[target]
            return lambda registers: goal
        case c.JumpIfZero(condition, target):
            goal = number[target]
            return lambda registers: following if registers[condition] else goal
        case c.LoopEnter(counter, stop, target):
            goal = number[target]

            def enter(registers: list[int]) -> int:
                return following if registers[counter] < registers[stop] else goal

            return enter if counted is None else _counted(enter, goal, *counted)
        case c.LoopNext(counter, stop, target):
            goal = number[target]

            def next_round(registers: list[int]) -> int:
                registers[counter] += 1
                return goal if registers[counter] < registers[stop] else following

            return next_round if counted is None else _counted(next_round, following, *counted)
        case _:
            return lambda registers: following


def _counted(
    leave: Callable[[list[int]], int], outside: int, limit: int, left: int
) -> Callable[[list[int]], int]:
    """`leave`, where going anywhere but `outside` of the loop is a turn of it."""

    def counting(registers: list[int]) -> int:
        to = leave(registers)
        if to != outside:
            if registers[left] == 0:
                raise StepLimitExceeded(limit)
            registers[left] -= 1
        return to

    return counting
