"""One side of a product on its way from memory to a workgroup, a tile at a time.

Both sides are kept the same way: for each k the tile's lines (rows of the left side, columns of the right
one) next to each other. Invocations read what lies next to each other in memory, four words at once where it
lies in fours, be it along the lines or along k; in the second case the tile is turned when it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from vyre.graph.sizes import Size
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, BufLen, Cast, Expr, Lane, LitU32, MakeVec, Select, Var
from vyre.ir.node import Assign, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, factor, product_node
from vyre.planning.layout import lies_in_fours, strides_of
from vyre.planning.numbers import literal, plus, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.node import Node
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
FOUR = 4
FEW = 2
"""Reads that are each asked about."""
NEAR = 1 << 30
"""Places up to which the distances inside a tile can be added without a thought of wrapping around."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a side is a tile: `lines` of `deep` elements, read by so many invocations."""

    lines: int
    deep: int
    lanes: int


class SideRole(Enum):
    """What an operand is to the product."""

    LEFT = "left"
    RIGHT = "right"
    MASK = "mask"


_MINUS_ZERO = {T.F32: 1 << 31, T.F64: 1 << 63, T.I32: 0, T.U32: 0}
"""The bits of what gives -0 when it is multiplied by 0."""


class Side:
    """What the kernel of a product writes about one of its operands, `name`.

    The sides are kept in the type of the accumulator, the mask as words. Past the last k they hold +0, -0
    and a step that is left out.
    """

    def __init__(self, site: Site, pull: Pull, name: str, extent: Extent, role: SideRole) -> None:
        self._site, self._pull, self._name, self._extent, self._role = site, pull, name, extent, role
        self._kind = kind = T.U32 if role is SideRole.MASK else KINDS[product_node(site).accumulator]
        self._left = left = role is not SideRole.RIGHT
        self._nothing = 0 if left else _MINUS_ZERO[kind]
        graph, stored = site.graph, site.fusion.stored
        of = site.of(name)
        k_axis, line_axis = (-1, -2) if left else (-2, -1)
        strides = strides_of(graph, name, stored)
        self._along_k = left if strides is None else strides[k_axis] == Size(1)
        depth = of.shape[k_axis].static
        whole = not self._along_k or (depth is not None and depth % FOUR == 0)
        fast = k_axis if self._along_k else line_axis
        self._fours = (
            of.element is T.F32 and kind is T.F32 and whole and lies_in_fours(graph, name, stored, fast)
        )
        each = FOUR if self._fours else 1
        across = extent.deep if self._along_k else extent.lines
        assert extent.lanes * each % across == 0, "an invocation reads the same place of every so many lines"
        self._lines_apart = extent.lanes * each // across
        """From one that an invocation reads to its next: lines where it reads along k, else k."""
        slow = None if strides is None else strides[line_axis if self._along_k else k_axis].static
        plain = of.element is T.F32 and kind is T.F32
        self._apart = self._lines_apart * slow if plain and slow is not None else None
        """The same in elements of the buffer, where that is known."""
        self.pitch = extent.lines + FOUR
        """Elements from one k to the next; with a gap, to meet all banks where the tile is turned."""
        self.size = self.pitch * extent.deep
        draft = pull.draft
        self.memory = draft.own(BufferDecl.workgroup(role.value, kind, 2 * self.size))
        number = extent.lines * extent.deep // (extent.lanes * each)
        self._held = [draft.variable(self._filled(0), "held") for _ in range(number)]

    def _filled(self, bits: int) -> Expr:
        """An element of these bits, or four of them."""
        if self._fours:
            return MakeVec(T.Vec4U32, (LitU32(bits),) * FOUR)
        return literal(self._kind, bits)

    def _place(self, lane: Expr, number: int) -> tuple[Expr, Expr]:
        """The line and the k, inside the tile, of what an invocation reads as its `number`th."""
        draft, extent = self._pull.draft, self._extent
        across = extent.deep if self._along_k else extent.lines
        each = FOUR if self._fours else 1
        at = draft.let(plus(lane, LitU32(number * extent.lanes)), "e")
        fast = draft.let(times(at % LitU32(across // each), LitU32(each)), "f")
        slow = draft.let(at // LitU32(across // each), "s")
        return (slow, fast) if self._along_k else (fast, slow)

    def fetch(
        self, lane: Expr, batch: tuple[Expr, ...], first: Expr, start: Expr, limit: Expr | None
    ) -> None:
        """Reads the tile at line `first` and k `start`; where there is a `limit`, nothing from that k on."""
        draft = self._pull.draft
        for number, held in enumerate(self._held):
            place, k = self._seen(lane, batch, first, start, number)
            if self._fours:
                value = self._pull.four(self._name, place)
            elif self._role is SideRole.MASK:
                value = draft.let(self._pull.value(self._name, place).cast(T.U32))
            else:
                assert place.coords is not None
                value = factor(self._site, self._pull, self._name, place.coords)
            if limit is not None:
                value = Select(k < limit, value, self._filled(self._nothing))
            draft.emit(Assign(held.name, value))

    def at_once(
        self, lane: Expr, batch: tuple[Expr, ...], first: Expr, start: Expr
    ) -> tuple[Expr, list[Node]] | None:
        """The same reads, and when they are all inside of the buffer: its length is then asked for once.

        None where what an invocation reads does not lie at distances that are known.
        """
        if self._apart is None or len(self._held) <= FEW:
            return None
        draft, each = self._pull.draft, FOUR if self._fours else 1
        place, _ = self._seen(lane, batch, first, start, 0)
        stored, at = self._pull.spot(self._name, place)
        buffer = draft.read(stored, T.Vec4U32 if self._fours else T.F32)
        at = draft.let(at >> LitU32(2) if self._fours else at, "i")
        steps = [number * self._apart // each for number in range(len(self._held))]
        inside = plus(at, LitU32(steps[-1])) < BufLen(buffer.name)
        if steps[-1]:
            inside = BinOp(BinaryOp.And, at < LitU32(NEAR), inside)
        pairs = zip(self._held, steps, strict=True)
        return inside, [Assign(held.name, buffer[plus(at, LitU32(step))]) for held, step in pairs]

    def _seen(
        self, lane: Expr, batch: tuple[Expr, ...], first: Expr, start: Expr, number: int
    ) -> tuple[Place, Expr]:
        """Where an invocation reads its `number`th, and the k of that."""
        line, k = self._place(lane, number)
        k = self._pull.draft.let(plus(start, k), "k")
        line = self._pull.draft.let(plus(first, line), "l")
        coords = (*batch, line, k) if self._left else (*batch, k, line)
        return Place(self._site.of(self._name).shape, coords), k

    def keep(self, lane: Expr, half: Expr) -> None:
        """Stores what was read to one half of the workgroup's memory."""
        draft = self._pull.draft
        slow, fast = (1, self.pitch) if self._along_k else (self.pitch, 1)
        line, k = self._place(lane, 0)
        start = plus(times(half, LitU32(self.size)), plus(times(k, LitU32(self.pitch)), line))
        at = draft.let(start, "at")
        for number, held in enumerate(self._held):
            values = [Cast(self._kind, Lane(held, n)) for n in range(FOUR)] if self._fours else [held]
            for n, value in enumerate(values):
                step = number * self._lines_apart * slow + n * fast
                draft.emit(Store(self.memory.name, plus(at, LitU32(step)), value))

    def place(self, half: Expr, k: int, first: Expr) -> Expr:
        """Where the line `first` of a k lies in one half of the workgroup's memory.

        It is named, so that every element from there on is this place and a number: compilers fold the
        number into the instruction only where they need not ask whether the sum wraps around.
        """
        start = plus(times(half, LitU32(self.size)), LitU32(k * self.pitch))
        return self._pull.draft.let(plus(start, first), "at")

    def line(self, place: Expr, k: int, steps: Sequence[int]) -> list[Var]:
        """Elements so many k behind a place, by how far they lie behind its line."""
        at = [plus(place, LitU32(k * self.pitch + step)) for step in steps]
        return [self._pull.draft.variable(self.memory[index], "x") for index in at]
