"""Scans by teams: a workgroup for every block of a row, and no element waits for another.

Element i of a scan is the tree over elements 0 to i. Counted by the digits of i that is element i itself,
joined from the lowest digit on with the subtree that each digit 1 stands for: the one that ends where the
digits above leave off. A workgroup makes the subtrees of its block in its memory, level by level, and each
element takes those of its digits. The digits above are the number of the block, the same for all of it: their
subtrees are made of the totals of the blocks before, and of the totals of so many blocks as a block has
elements, and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.graph.sizes import Size
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, LitU32, LocalId, Select, Var
from vyre.ir.node import Assign, Barrier, Store
from vyre.planning.joins import MOVES, Join
from vyre.planning.kernels.scanned import along, at_place, rows_of
from vyre.planning.kernels.site import Variant
from vyre.planning.numbers import plus, rounded, times, widened
from vyre.planning.prefixes import TeamScan, totals_before

if TYPE_CHECKING:
    from vyre.planning.draft import Draft
    from vyre.planning.kernels.site import Site

EACH = 8
"""Elements of an invocation, each a whole workgroup further on."""


@dataclass(frozen=True, slots=True)
class _Pyramid:
    """Subtrees in the memory of a workgroup: `count` values, then the joins of two, of four, and so on."""

    memory: BufferDecl
    count: int

    def first(self, level: int) -> int:
        """Where a level begins."""
        return sum(self.count >> below for below in range(level))

    def at(self, level: int, index: Expr) -> Expr:
        return self.memory[plus(index, LitU32(self.first(level)))]

    def build(self, draft: Draft, join: Join, lane: Expr, lanes: int, levels: int) -> None:
        """Makes the levels above the first one, which the workgroup has written."""
        draft.emit(Barrier())
        for level in range(1, levels):
            count = self.count >> level
            for start in range(0, count, lanes):
                k = draft.let(plus(lane, LitU32(start)), "k")
                with draft.where(k < LitU32(count)):
                    pair = draft.let(times(k, LitU32(2)), "pair")
                    a = draft.variable(self.at(level - 1, pair), "a")
                    b = draft.variable(self.at(level - 1, plus(pair, LitU32(1))), "b")
                    draft.emit(Store(self.memory.name, plus(k, LitU32(self.first(level))), join.of(a, b)))
            draft.emit(Barrier())


def team_scan_variants(site: Site) -> tuple[Variant, ...]:
    return (_TeamScan(site).variant(),)


class _TeamScan:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site) -> None:
        node = site.node
        assert isinstance(node, TeamScan)
        self.site, self.node, self.pull = site, node, site.pull()
        self.draft: Draft = self.pull.draft
        self.of = site.of(node.source)
        self.kind = self.of.element.loaded if node.joining in MOVES else node.accumulator
        self.join = Join(node.joining, self.kind, self.of.element)
        length = self.of.shape[node.axis].static
        assert length is not None
        self.length, self.radix = length, node.block
        self.lanes = max(1, node.block // EACH)
        self.bits = node.block.bit_length() - 1
        self.values: list[Var] = []

    def variant(self) -> Variant:
        draft, site = self.draft, self.site
        rows, row = rows_of(site, self.node.axis)
        number = -(-self.length // self.radix)
        group = draft.group()
        self.lane = draft.let(LocalId(0), "lane")
        with draft.where(group < draft.size(rows * number)):
            self.block = LitU32(0) if number == 1 else draft.let(group % LitU32(number), "block")
            self.others = draft.parted(draft.let(group // LitU32(number), "q"), row)
            first = draft.let(times(self.block, LitU32(self.radix)), "first")
            self.places = [
                draft.let(plus(first, plus(self.lane, LitU32(start))), "i")
                for start in range(0, self.radix, self.lanes)
            ]
            self._inside()
            for level, totals in enumerate(self.node.totals):
                self._before(level, totals)
            self._leave()
        return Variant(
            site.finished(self.pull, self.lanes),
            ((rows * number, 1),),
            (),
            f"a workgroup for {self.radix} elements",
        )

    def _inside(self) -> None:
        """The digits below the number of the block."""
        draft, join, lane = self.draft, self.join, self.lane
        memory = draft.own(BufferDecl.workgroup("inside", self.kind, 2 * self.radix))
        tree = _Pyramid(memory, self.radix)
        for number, at in enumerate(self.places):
            place = at_place(self.of.shape, self.node.axis, self.others, at)
            value = widened(self.pull.value(self.node.source, place), self.of.element.loaded, self.kind)
            value = draft.let(Select(at < LitU32(self.length), value, join.filling()))
            draft.emit(Store(memory.name, plus(lane, LitU32(number * self.lanes)), value))
            self.values.append(draft.variable(join.empty() if self.node.exclusive else value, "x"))
        tree.build(draft, join, lane, self.lanes, self.bits)
        own = self.lanes.bit_length() - 1
        for number in range(len(self.values)):
            for level in range(self.bits):
                if level < own:
                    digits = draft.let(lane >> LitU32(level), "digits")
                    index = plus(digits & LitU32(0xFFFF_FFFE), LitU32(number * (self.lanes >> level)))
                    value = draft.variable(tree.at(level, draft.let(index, "k")), "y")
                    with draft.where((digits & LitU32(1)).ne(0)):
                        self._take(number, level, value)
                elif (number >> (level - own)) & 1:
                    value = draft.variable(tree.at(level, LitU32((number >> (level - own)) - 1)), "y")
                    self._take(number, level, value)

    def _before(self, level: int, totals: str) -> None:
        """Some digits of the number of the block."""
        draft, lane, axis = self.draft, self.lane, self.node.axis
        most = min(self.radix - 1, totals_before(self.length, self.radix, level))
        count = 1 << most.bit_length()
        number = draft.let(self.block >> LitU32(self.bits * level), "number")
        mine = draft.let(number & LitU32(self.radix - 1), "mine")
        if level == 0:
            self.memory = draft.own(BufferDecl.workgroup("before", self.kind, 2 * count))
        else:
            draft.emit(Barrier())  # who is behind still reads the totals of the level below
        memory, tree = self.memory, _Pyramid(self.memory, count)
        shape = along(self.of.shape, axis, Size(totals_before(self.length, self.radix, level)))
        with draft.where(mine.ne(0)):
            for start in range(0, count, self.lanes):
                k = draft.let(plus(lane, LitU32(start)), "k")
                with draft.where(k < mine):
                    at = draft.let(plus(draft.let(number - mine, "from"), k), "at")
                    value = self.pull.value(totals, at_place(shape, axis, self.others, at))
                    draft.emit(Store(memory.name, k, draft.let(value)))
            tree.build(draft, self.join, lane, self.lanes, most.bit_length())
            for digit in range(most.bit_length()):
                digits = draft.let(mine >> LitU32(digit), "digits")
                with draft.where((digits & LitU32(1)).ne(0)):
                    value = draft.variable(tree.at(digit, draft.let(digits - LitU32(1), "k")), "y")
                    for which in range(len(self.values)):
                        self._take(which, self.bits * (level + 1) + digit, value)

    def _take(self, which: int, digit: int, value: Expr) -> None:
        """Joins the subtree of a digit with what the digits below it gave."""
        total = self.values[which]
        joined = self.join.of(value, total)
        if self.node.exclusive:
            # Element i itself is left out: the lowest digit 1 has nothing to be joined with.
            below = self.places[which] & LitU32((1 << digit) - 1)
            joined = Select(below.ne(0), joined, value) if digit else value
        self.draft.emit(Assign(total.name, joined))

    def _leave(self) -> None:
        draft, node = self.draft, self.node
        for at, total in zip(self.places, self.values, strict=True):
            with draft.where(at < LitU32(self.length)):
                place = at_place(self.of.shape, node.axis, self.others, at)
                value, _ = rounded(total, self.kind, node.element, lambda e: draft.variable(e, "v"))
                draft.store(draft.flat(place), value)
