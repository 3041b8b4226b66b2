"""The memory of a generated program: its grid, its buffers, and which slot belongs to which invocation."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import varied_buffer
from vyre.ir import AtomicOp, BufferDecl, DataType, Expr, InvocationId, LitU32, LocalId, Var, WorkgroupId

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from vyre.conform.generate.scope import Scope

COMMUTING = (
    *(AtomicOp.Add, AtomicOp.Xor) * 8,
    *(AtomicOp.Or, AtomicOp.And, AtomicOp.Min, AtomicOp.Max),
)
"""Those that lose what was added before are rare: they hide it."""
_WORKGROUPS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (4, 1, 1), (8, 1, 1), (2, 2, 1), (2, 1, 2), (4, 2, 1))
_GRIDS = ((1, 1, 1), (2, 1, 1), (3, 1, 1), (1, 2, 1), (2, 1, 2), (3, 1, 2), (7, 1, 1), (2, 3, 2), (5, 3, 1))
_LEAST, _MOST = 12, 32
"""How many invocations: enough for both sides of a branch, few enough for the reference."""


@dataclass(slots=True)
class Shared:
    """A buffer that is written and read in phases, and the slot that belongs to the invocation."""

    decl: BufferDecl
    slot: Expr
    first: Expr | None = None
    """First slot of the workgroup, where several workgroups share the buffer."""


class Buffers:
    """Everything that a program reads and writes; the variables `i` and `l` number the invocation.

    `scope` learns what expressions may read.
    """

    def __init__(self, rng: Random, types: Sequence[DataType], scope: Scope) -> None:
        self._rng = rng
        self._types = tuple(types)
        self._scope = scope
        self.buffers: list[BufferDecl] = []
        self.inputs: dict[str, bytes] = {}
        self.shared: list[Shared] = []
        self.histograms: list[BufferDecl] = []
        self.counters: list[tuple[BufferDecl, AtomicOp]] = []
        self.outputs: list[tuple[BufferDecl, Expr]] = []
        self.size = rng.choice(_WORKGROUPS)
        self.local_count = prod(self.size)
        self.grid = rng.choice([g for g in _GRIDS if _LEAST <= self.local_count * prod(g) <= _MOST])
        self.count = self.local_count * prod(self.grid)
        self._declare_inputs()
        self._declare_outputs()
        self._declare_shared()

    def invocation(self) -> Expr:
        return self._linear(InvocationId, self._extent())

    def local(self) -> Expr:
        return self._linear(LocalId, self.size)

    def group(self) -> Expr:
        return self._linear(WorkgroupId, self.grid)

    def _extent(self) -> tuple[int, int, int]:
        return self.size[0] * self.grid[0], self.size[1] * self.grid[1], self.size[2] * self.grid[2]

    def _linear(self, kind: type[InvocationId | WorkgroupId | LocalId], extent: tuple[int, int, int]) -> Expr:
        """A number of its own for each; an axis that has one place only adds nothing."""
        place: Expr = kind(0)
        for axis in (1, 2):
            if extent[axis] > 1:
                place = place + kind(axis) * prod(extent[:axis])
        return place

    def _declare(self, decl: BufferDecl) -> BufferDecl:
        self.buffers.append(decl)
        self._scope.lengths.append(decl.name)
        return decl

    def _binding(self) -> int:
        return len([b for b in self.buffers if b.binding is not None])

    def _declare_inputs(self) -> None:
        rng = self._rng
        for n in range(rng.randrange(1, 4)):
            element = DataType.Bytes if rng.randrange(8) == 0 else self._rng.choice(self._types)
            count = rng.choice((1, *(5, 8, 13) * 4))
            declared = count if rng.randrange(2) else 0
            make = BufferDecl.uniform if rng.randrange(4) == 0 else BufferDecl.read
            decl = make(f"in{n}", self._binding(), element, count=declared)
            self._declare(decl)
            self.inputs[decl.name] = varied_buffer(rng, element, count)
            self._scope.readable.append(decl)
            self._scope.sizes[decl.name] = count

    def _declare_outputs(self) -> None:
        rng = self._rng
        for n in range(rng.randrange(1, 4)):
            element = DataType.Bytes if rng.randrange(12) == 0 else self._rng.choice(self._types)
            slots = rng.choice((1, 1, 2))
            count = self.count * slots if rng.randrange(4) else max(1, self.count * slots - 2)
            given = rng.randrange(2) == 0
            declared = 0 if given and rng.randrange(2) else count
            decl = self._declare(BufferDecl.read_write(f"out{n}", self._binding(), element, count=declared))
            if given:
                self.inputs[decl.name] = varied_buffer(rng, element, count)
            for slot in range(slots):
                index = Var("i") if slots == 1 else Var("i") * slots + slot
                self.outputs.append((decl, index))
            if given:
                self._scope.own[decl.name] = (decl, self.outputs[-1][1])
        if rng.randrange(2):
            decl = BufferDecl.read_write("counters", self._binding(), DataType.U32, count=4)
            self.counters.append((self._declare(decl), rng.choice(COMMUTING)))
            self.inputs[decl.name] = varied_buffer(rng, DataType.U32, 4)
        self.digest = self._declare(
            BufferDecl.read_write("digest", self._binding(), DataType.U32, count=self.count)
        )

    def _declare_shared(self) -> None:
        rng = self._rng
        if rng.randrange(2):
            slot = Var("l") if rng.randrange(2) else LitU32(self.local_count - 1) - Var("l")
            count = self.local_count + rng.randrange(2)
            decl = self._declare(BufferDecl.workgroup("tile", self._rng.choice(self._types), count))
            self.shared.append(Shared(decl, slot))
        if rng.randrange(3) == 0:
            decl = BufferDecl.read_write(
                "exchange", self._binding(), self._rng.choice(self._types), count=self.count
            )
            first = self.group() * self.local_count
            self.shared.append(Shared(self._declare(decl), first + Var("l"), first))
        if rng.randrange(3) == 0:
            decl = BufferDecl.workgroup("hist", DataType.U32, rng.choice((1, 4, 4, 7, 7)), atomic=True)
            self.histograms.append(self._declare(decl))
