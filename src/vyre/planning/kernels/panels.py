"""Products of matrices by panels, for backends on which a workgroup is the work of one core.

A workgroup is one invocation. It copies a panel of each side to memory of its own, in the order in which it
is read, and sums small tiles of the result in registers: for every k one element of each row of the tile,
times a strip of neighbouring columns. Loops over strips have a length that is known, and become vectors.

Every element of the result is summed by one invocation with k ascending, whatever the panels are: between
two panels the sums lie in memory. So they never show in the bits. What lies past the last row and column is
computed from whatever is there and not stored; no k past the end is ever taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.graph.sizes import Size, product
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, Select
from vyre.ir.node import Store
from vyre.ir.types import DataType
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, factor, product_node, result, step_of
from vyre.planning.kernels.site import ALWAYS, Variant, WrittenLater
from vyre.planning.layout import strides_of
from vyre.planning.numbers import plus, times

if TYPE_CHECKING:
    from vyre.planning.draft import Draft, Drafted
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

T = DataType


@dataclass(frozen=True, slots=True)
class Panel:
    """How the result is cut: `rows` x `columns` a workgroup, `high` x `wide` in registers, `deep` a panel."""

    rows: int
    columns: int
    deep: int
    high: int
    wide: int


WIDE = Panel(128, 256, 256, 8, 32)
NARROW = Panel(120, 240, 256, 6, 16)
"""For 32 registers of 64 bytes, and for half as many of half that."""
THIN = Panel(1, 64, 64, 1, 64)
THIN_NARROW = Panel(1, 32, 64, 1, 32)
"""For few rows: a panel of the right side is read once, so it is no larger than the nearest cache."""
SMALLEST = 32
"""Rows and columns below which a panel is not halved so that there is work for more cores."""
GROUPS = 32
"""Workgroups from which on there is enough for all cores."""
GAP = 16
"""Elements between two rows of the left panel, or rows would meet in one set of the cache."""
LEAST = 4
"""Rows from which on a panel is worth its copy."""


def panel_variants(site: Site, *, wide: bool) -> tuple[Variant, ...]:
    """The panels that suit the shape, and those for few rows; `wide` says for which registers."""
    rows, columns = site.type.shape[-2:]
    panels = ((WIDE if wide else NARROW, LEAST, ALWAYS), (THIN if wide else THIN_NARROW, 1, LEAST))
    wanted = [(panel, low, high) for panel, low, high in panels if _fits(rows, low, high)]
    return tuple(
        replace(
            panel_variant(site, fitted(panel, site)),
            when=((rows, low, high), (columns, LEAST, ALWAYS)),
        )
        for panel, low, high in wanted
    )


def _fits(size: Size, low: int, high: int) -> bool:
    return size.static is None or low <= size.static < high


def panel_variant(site: Site, panel: Panel) -> Variant:
    *batch, rows, columns = site.type.shape
    return Variant(
        WrittenLater(lambda: _Product(site, site.pull(), panel).drafted()),
        ((product(batch), 1), (rows, panel.rows), (columns, panel.columns)),
        (),
        f"panels of {panel.rows} x {panel.columns}",
    )


def fitted(panel: Panel, site: Site) -> Panel:
    """No larger than the matrices, as far as they are known, and small enough that there are many."""
    node, (*batch, rows, columns) = product_node(site), site.type.shape
    if KINDS[node.accumulator] is T.F64:
        panel = replace(panel, columns=panel.columns // 2, wide=panel.wide // 2)
    high, wide, deep = panel.rows, panel.columns, panel.deep
    if (known := site.of(node.left).shape[-1].static) is not None:
        deep = max(1, min(deep, known))
    if rows.static is not None:
        high = min(high, _up(rows.static, panel.high))
    if columns.static is not None:
        wide = min(wide, _up(columns.static, panel.wide))
    number = product(batch).static
    if number is not None and rows.static is not None and columns.static is not None:
        while number * -(-rows.static // high) * -(-columns.static // wide) < GROUPS:
            if wide > 2 * SMALLEST:
                wide = _up(wide // 2, panel.wide)
            elif high > SMALLEST:
                high = _up(high // 2, panel.high)
            else:
                break
    return replace(panel, rows=high, columns=wide, deep=deep)


def _up(number: int, to: int) -> int:
    """The next multiple."""
    return max(1, -(-number // to)) * to


class _Product:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull, panel: Panel) -> None:
        self.site, self.pull, self.panel = site, pull, panel
        self.draft: Draft = pull.draft
        self.node = product_node(site)
        self.kind = kind = KINDS[self.node.accumulator]
        draft = self.draft
        self.rows, self.columns = (draft.size(size) for size in site.type.shape[-2:])
        self.depth = draft.size(site.of(self.node.left).shape[-1])
        self.pitch = panel.deep + GAP
        self.left = draft.own(BufferDecl.workgroup("left", kind, panel.rows * self.pitch))
        self.right = draft.own(BufferDecl.workgroup("right", kind, panel.columns * panel.deep))
        self.sums = draft.own(BufferDecl.workgroup("sums", kind, panel.rows * panel.columns))
        masked = self.node.mask is not None
        mask = BufferDecl.workgroup("mask", T.U32, panel.rows * self.pitch)
        self.mask = draft.own(mask) if masked else None
        self.lines = [draft.own(BufferDecl.private(f"line{i}", kind, panel.wide)) for i in range(panel.high)]

    def drafted(self) -> Drafted:
        draft, panel = self.draft, self.panel
        group = draft.group()
        across = self._parts(self.columns, panel.columns)
        down = self._parts(self.rows, panel.rows)
        rest = draft.let(group // down, "q")
        self.first_row = draft.let(times(group % down, LitU32(panel.rows)), "row")
        self.first_column = draft.let(times(rest % across, LitU32(panel.columns)), "column")
        number = draft.let(rest // across, "batch")
        with draft.where(number < draft.size(product(self.site.type.shape[:-2]))):
            self.batch = draft.parted(number, self.site.type.shape[:-2])
            self._body()
        return self.site.finished(self.pull, 1)

    def _body(self) -> None:
        draft, panel = self.draft, self.panel
        one = panel.rows == 1
        self.high = LitU32(1) if one else self._least(self.rows - self.first_row, panel.rows)
        self.wide = self._least(self.columns - self.first_column, panel.columns)
        self.strips, self.blocks = self._parts(self.wide, panel.wide), self._parts(self.high, panel.high)
        with draft.loop("t", self._parts(self.depth, panel.deep)) as turn:
            start = draft.let(times(turn, LitU32(panel.deep)), "start")
            reach = self._least(self.depth - start, panel.deep)
            self._copy_left(start, reach)
            self._copy_right(start, reach)
            with draft.loop("s", self.strips) as strip, draft.loop("b", self.blocks) as block:
                self._tile(strip, block, reach)
        self._leave()

    def _parts(self, size: Expr, each: int) -> Expr:
        return self.draft.let((size + LitU32(each - 1)) // LitU32(each), "parts")

    def _least(self, size: Expr, most: int) -> Expr:
        size = self.draft.let(size, "n")
        return self.draft.let(Select(size < LitU32(most), size, LitU32(most)), "n")

    def _copy_left(self, start: Expr, reach: Expr) -> None:
        """Row by row, read in the order in which it lies in memory."""
        draft, node = self.draft, self.node
        strides = strides_of(self.site.graph, node.left, self.site.fusion.stored)
        by_rows = strides is None or strides[-1] == Size(1)
        first, second = (self.high, reach) if by_rows else (reach, self.high)
        with draft.loop("i", first) as outer, draft.loop("k", second) as inner:
            i, k = (outer, inner) if by_rows else (inner, outer)
            row, deep = draft.let(plus(self.first_row, i), "r"), draft.let(plus(start, k), "k")
            at = draft.let(plus(times(i, LitU32(self.pitch)), k), "at")
            value = factor(self.site, self.pull, node.left, (*self.batch, row, deep))
            draft.emit(Store(self.left.name, at, value))
            if self.mask is not None and node.mask is not None:
                taken = self.pull.at(node.mask, *self.batch, row, deep).cast(T.U32)
                draft.emit(Store(self.mask.name, at, taken))

    def _copy_right(self, start: Expr, reach: Expr) -> None:
        """Strip after strip, in each of them k after k."""
        draft, panel = self.draft, self.panel
        with (
            draft.loop("s", self.strips) as s,
            draft.loop("k", reach) as k,
            draft.loop("j", LitU32(panel.wide)) as j,
        ):
            inside = draft.let(plus(times(s, LitU32(panel.wide)), j), "c")
            column, deep = draft.let(plus(self.first_column, inside), "c"), draft.let(plus(start, k), "k")
            value = factor(self.site, self.pull, self.node.right, (*self.batch, deep, column))
            at = plus(times(plus(times(s, LitU32(panel.deep)), k), LitU32(panel.wide)), j)
            draft.emit(Store(self.right.name, at, value))

    def _tile(self, strip: Expr, block: Expr, reach: Expr) -> None:
        """The sums of some rows and a strip of columns, which stay in registers over the k of the panel."""
        draft, panel = self.draft, self.panel
        row = draft.let(times(block, LitU32(panel.high)), "row")
        rows = [draft.let(plus(row, LitU32(i)), "row") for i in range(panel.high)]
        column = draft.let(times(strip, LitU32(panel.wide)), "column")
        sums = [draft.let(plus(times(row, LitU32(panel.columns)), column), "at") for row in rows]
        with draft.loop("j", LitU32(panel.wide)) as j:
            for line, at in zip(self.lines, sums, strict=True):
                draft.emit(Store(line.name, j, self.sums[plus(at, j)]))
        with draft.loop("k", reach) as k:
            places = [draft.let(plus(times(row, LitU32(self.pitch)), k), "at") for row in rows]
            taken = [draft.variable(self.left[at], "a") for at in places]
            mask = self.mask
            asked = [draft.let(mask[at].ne(0), "m") for at in places] if mask is not None else []
            at = draft.let(times(plus(times(strip, LitU32(panel.deep)), k), LitU32(panel.wide)), "at")
            with draft.loop("j", LitU32(panel.wide)) as j:
                b = draft.variable(self.right[plus(at, j)], "b")
                for number, (line, a) in enumerate(zip(self.lines, taken, strict=True)):
                    added = step_of(self.node, a, b, line[j])
                    value = Select(asked[number], added, line[j]) if asked else added
                    draft.emit(Store(line.name, j, value))
        with draft.loop("j", LitU32(panel.wide)) as j:
            for line, at in zip(self.lines, sums, strict=True):
                draft.emit(Store(self.sums.name, plus(at, j), line[j]))

    def _leave(self) -> None:
        draft, panel = self.draft, self.panel
        with draft.loop("i", self.high) as i, draft.loop("j", self.wide) as j:
            total = draft.variable(self.sums[plus(times(i, LitU32(panel.columns)), j)], "total")
            row, column = draft.let(plus(self.first_row, i), "r"), draft.let(plus(self.first_column, j), "c")
            place = Place(self.site.type.shape, (*self.batch, row, column))
            self.site.close(self.pull, place, *result(self.site, self.pull, place, total))
