"""Who runs: invocations, where each of them stands, and the workgroups that they form."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from vyre.reference import code as c

if TYPE_CHECKING:
    from vyre.reference.memory import Buffer

Ids = tuple[int, int, int]


class InvocationRef(NamedTuple):
    """An invocation by its workgroup and its place in it."""

    workgroup: Ids
    local: Ids

    def __str__(self) -> str:
        return f"invocation {self.local} of workgroup {self.workgroup}"


class State(Enum):
    Running = "running"
    Waiting = "waiting at a barrier"
    Exchanging = "waiting for its subgroup"
    Returned = "returned"
    Finished = "finished"


class Invocation:
    """Where one invocation stands. Its registers and its private memory exist only between its first and last
    step."""

    __slots__ = ("barrier", "buffers", "group", "ref", "registers", "segment", "state", "stop")

    def __init__(self, group: Workgroup, local: Ids) -> None:
        self.group = group
        self.ref = InvocationRef(group.ids, local)
        self.registers: list[int] = []
        self.buffers: list[Buffer] = []
        self.segment = 0
        self.state = State.Running
        self.stop: c.StopInstruction | None = None
        self.barrier: tuple[int, ...] = ()

    def halt(self, stop: c.StopInstruction, position: int) -> None:
        """Stops at a barrier or at the end; `position` tells barrier statements apart."""
        self.stop = stop
        if isinstance(stop, c.Meet | c.Exchange):
            rounds = (self.registers[counter] - self.registers[start] for counter, start in stop.loops)
            self.barrier = (position, *rounds)
            self.segment = position + 1
            self.state = State.Waiting if isinstance(stop, c.Meet) else State.Exchanging
            return
        self.state = State.Finished if stop.place is None else State.Returned
        self.registers = []
        self.buffers = []


class Workgroup:
    __slots__ = ("buffers", "epoch", "ids", "invocations")

    """`buffers` are those of the program in order; where an invocation has its own, they are empty."""

    def __init__(self, ids: Ids, size: Ids, buffers: list[Buffer]) -> None:
        self.ids = ids
        self.buffers = buffers
        self.epoch = 0
        x, y, z = size
        locals_ = ((i, j, k) for k in range(z) for j in range(y) for i in range(x))
        self.invocations = [Invocation(self, local) for local in locals_]
