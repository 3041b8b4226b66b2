"""One side of a product on its way through a workgroup, panel by panel along k.

Invocations load what lies next to each other in memory, four words at once where it lies in fours, to
variables of one of several panels; later they keep it in one half of the workgroup's memory, from where some
of them take the steps of their sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.graph.sizes import Size
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, Lane, LitU32, MakeVec, Select
from vyre.ir.node import Assign, If, Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, factor, product_node
from vyre.planning.kernels.sides import SideRole
from vyre.planning.layout import lies_in_fours, strides_of
from vyre.planning.numbers import literal, plus, times

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Var
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType
FOUR = 4
STEPS = 32
"""Elements that are taken from the workgroup's memory at once."""
_MINUS_ZERO = {T.F32: 1 << 31, T.F64: 1 << 63, T.I32: 0, T.U32: 0}
"""The bits of what gives -0 when it is multiplied by 0."""


@dataclass(frozen=True, slots=True)
class StreamExtent:
    """How much of a side is a panel: `lines` of `deep` elements, loaded by so many invocations, and so many
    panels ahead, to one of the `halves` of the workgroup's memory."""

    lines: int
    deep: int
    lanes: int
    ahead: int
    halves: int


class Stream:
    """Rows of the left side or of the mask, or columns of the right one, and `deep` elements of each a panel.

    Where memory holds neighbours of a line next to each other, so does a panel, with a gap between lines to
    meet all banks; else it holds the lines of one k next to each other.
    """

    def __init__(self, site: Site, pull: Pull, name: str, role: SideRole, extent: StreamExtent) -> None:
        self._site, self._pull, self._name, self._role, self._extent = site, pull, name, role, extent
        masks, self._left = role is SideRole.MASK, role is not SideRole.RIGHT
        self._kind = kind = T.U32 if masks else KINDS[product_node(site).accumulator]
        graph, stored, of = site.graph, site.fusion.stored, site.of(name)
        k_axis, line_axis = (-1, -2) if self._left else (-2, -1)
        strides = strides_of(graph, name, stored)
        along = self._left if strides is None else strides[k_axis] == Size(1)
        self._along_k = along or extent.lines < FOUR
        depth = of.shape[k_axis].static
        whole = not along or (depth is not None and depth % FOUR == 0)
        fours = along is self._along_k and (along or extent.lines % FOUR == 0)
        plain = of.element is T.F32 and kind is T.F32 and not masks
        axis = k_axis if along else line_axis
        self._each = FOUR if plain and fours and whole and lies_in_fours(graph, name, stored, axis) else 1
        self._pitch = extent.deep + FOUR if self._along_k else extent.lines
        self._size = self._pitch * (extent.lines if self._along_k else extent.deep)
        count = extent.lines * extent.deep
        number = -(-count // (extent.lanes * self._each))
        self._over = number * extent.lanes * self._each > count
        """Whether not every invocation has a part of the panel each time."""
        draft = pull.draft
        self._memory = draft.own(BufferDecl.workgroup(role.value, kind, extent.halves * self._size))
        self._held: list[list[Var]] = [
            [draft.variable(self._filled(0), "held") for _ in range(number)] for _ in range(extent.ahead)
        ]

    def _filled(self, bits: int) -> Expr:
        return MakeVec(T.Vec4U32, (LitU32(bits),) * FOUR) if self._each == FOUR else literal(self._kind, bits)

    def _place(self, lane: Expr, number: int) -> tuple[Expr, Expr]:
        """The line and the k, inside the panel, of what an invocation loads as its `number`th."""
        draft, extent = self._pull.draft, self._extent
        across = LitU32((extent.deep if self._along_k else extent.lines) // self._each)
        at = draft.let(plus(lane, LitU32(number * extent.lanes)), "e")
        fast = draft.let(times(at % across, LitU32(self._each)), "f")
        slow = draft.let(at // across, "s")
        return (slow, fast) if self._along_k else (fast, slow)

    def fetch(
        self,
        lane: Expr,
        ahead: int,
        first: tuple[Expr, Expr],
        limit: Expr | None,
        coords: Callable[[Expr, Expr], tuple[Expr, ...]],
    ) -> None:
        """Loads the panel at a first line and k; where there is a `limit`, nothing from that k on.

        `coords` says where in the operand a line and a k are.
        """
        draft, of = self._pull.draft, self._site.of(self._name)
        nothing = 0 if self._left else _MINUS_ZERO[self._kind]
        for number, held in enumerate(self._held[ahead]):
            line, k = self._place(lane, number)
            k = draft.let(plus(first[1], k), "k")
            place = Place(of.shape, coords(draft.let(plus(first[0], line), "l"), k))
            if self._each == FOUR:
                value = self._pull.four(self._name, place)
            elif self._role is SideRole.MASK:
                value = draft.let(self._pull.value(self._name, place).cast(T.U32))
            else:
                value = factor(self._site, self._pull, self._name, draft.coords(place))
            if limit is not None:
                value = Select(k < limit, value, self._filled(nothing))
            draft.emit(Assign(held.name, value))

    def keep(self, lane: Expr, ahead: int, half: int) -> None:
        """Stores what was loaded to one half of the workgroup's memory."""
        draft, extent = self._pull.draft, self._extent
        for number, held in enumerate(self._held[ahead]):
            line, k = self._place(lane, number)
            fours = self._each == FOUR
            values = [Cast(self._kind, Lane(held, n)) for n in range(FOUR)] if fours else [held]
            with draft.block() as body:
                at = draft.let(plus(self._at(line, k), LitU32(half * self._size)), "i")
                for n, value in enumerate(values):
                    draft.emit(Store(self._memory.name, plus(at, LitU32(n)), value))
            inside = line < LitU32(extent.lines) if self._along_k else k < LitU32(extent.deep)
            draft.emit(*([If(inside, body)] if self._over else body))

    def _at(self, line: Expr, k: Expr) -> Expr:
        slow, fast = (line, k) if self._along_k else (k, line)
        return plus(times(slow, LitU32(self._pitch)), fast)

    def steps(self, half: int, line: Expr, k: Expr) -> list[Var]:
        """The elements of one line at `STEPS` k from `k` on."""
        draft = self._pull.draft
        first = draft.let(plus(self._at(line, k), LitU32(half * self._size)), "first")
        step = 1 if self._along_k else self._pitch
        return [draft.variable(self._memory[plus(first, LitU32(n * step))], "x") for n in range(STEPS)]
