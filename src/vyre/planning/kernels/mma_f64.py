"""Products whose sums are F64, by the instruction that adds k ascending, one product after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Call, Expr, Var
from vyre.ir.node import Assign
from vyre.ir.types import DataType
from vyre.planning.kernels.warp_sides import ElementTiles, WordTiles
from vyre.planning.kernels.warp_tile import EACH, WarpTile
from vyre.planning.numbers import literal

if TYPE_CHECKING:
    from vyre.planning.kernels.site import Site, Variant
    from vyre.planning.kernels.warp_tile import Cut

T = DataType


def f64_variant(site: Site, cut: Cut, when: tuple[tuple[int, int], ...]) -> Variant:
    tile = _Tile(site, cut)
    return tile.variant(when, tuple(f"mma_f64.m16n8k{tile.step}_{i}" for i in range(EACH)))


class _Tile(WarpTile):
    def __init__(self, site: Site, cut: Cut) -> None:
        super().__init__(site, cut)
        self.step = 16 if cut.deep % 16 == 0 else 8
        self.steps = cut.deep // self.step
        doubles = T.F64 in (site.of(self.node.left).element, site.of(self.node.right).element)
        side = ElementTiles if doubles else WordTiles
        self.early = not doubles
        self.left, self.right = side(self, right=False), side(self, right=True)
        zero, variable = literal(T.F64, 0), self.draft.variable
        self.totals = {part: [variable(zero, "total") for _ in range(EACH)] for part in self.parts}

    def load(self, start: Expr) -> list[Expr]:
        return [*self.left.load(start), *self.right.load(start)]

    def keep(self, loaded: list[Expr], which: int) -> None:
        count = len(self.left.turns)
        self.left.keep(loaded[:count], which)
        self.right.keep(loaded[count:], which)

    def multiply(self, which: int) -> None:
        for start in range(0, self.cut.deep, self.step):
            columns = self.right.blocks(which, start, self.step)
            rows = self.left.blocks(which, start, self.step)
            for m, n in self.parts:
                above, below = rows[2 * m : 2 * m + 2]
                row = [x for pair in zip(above, below, strict=True) for x in pair]
                self._add(row, columns[n], self.totals[m, n])

    def _add(self, row: list[Var], column: list[Var], totals: list[Var]) -> None:
        operands = (*row, *column, *totals)
        made = [
            self.draft.variable(Call(f"intrinsic.mma_f64.m16n8k{self.step}_{i}", operands), "sum")
            for i in range(EACH)
        ]
        self.draft.emit(*(Assign(total.name, value) for total, value in zip(totals, made, strict=True)))

    def total(self, m: int, n: int, i: int) -> Expr:
        return self.totals[m, n][i]

    def row(self, block: Expr, within: Expr) -> Expr:
        return self.left.place(block, within)

    def column(self, block: Expr, within: Expr) -> Expr:
        return self.right.place(block, within)
