"""Products with few rows or few columns: a workgroup streams the long side, few of its teams do the sums.

A product with one row reads every element of the other side once, and each sum is one chain of steps with k
ascending. What it takes is how long memory is waited for: so all invocations of a workgroup load, panels of
k ahead, four words each where they lie in fours, and the panels pass through the workgroup's memory to those
invocations that sum. An element of the result has one invocation.

Past the last k the sides are +0 and -0. Their product is -0, which changes no sum; so panels never show in
the bits. What lies past the last row and column is computed from whatever is there and not stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import lcm
from typing import TYPE_CHECKING

from vyre.graph.sizes import Size, product
from vyre.ir.expr import LitU32, LocalId, Var
from vyre.ir.node import Assign, Barrier, If, Loop
from vyre.planning.draft import Place
from vyre.planning.kernels.products import KINDS, product_node, result, step_of
from vyre.planning.kernels.sides import SideRole
from vyre.planning.kernels.site import ALWAYS, Variant, WrittenLater
from vyre.planning.kernels.streams import FOUR, STEPS, Stream, StreamExtent
from vyre.planning.layout import strides_of
from vyre.planning.numbers import literal, plus, times

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.planning.draft import Draft, Drafted
    from vyre.planning.kernels.site import Site
    from vyre.planning.pull import Pull

LINES = 32
"""Elements along the long side of a workgroup's part of the result: as many as go together."""
MOST = 16
"""Rows or columns that are few."""
LEAST = 32
"""Depth from which on a panel is worth its barriers."""
ROOM = 48 << 10
"""Bytes of memory that every workgroup may have."""


@dataclass(frozen=True, slots=True)
class Streaming:
    """How panels come: `teams` of `LINES` invocations load `deep` words of k, `ahead` panels in advance."""

    teams: int
    deep: int
    ahead: int

    @property
    def lanes(self) -> int:
        return self.teams * LINES


USUAL = Streaming(4, 128, 4)


def thin_variants(site: Site, way: Streaming = USUAL) -> tuple[Variant, ...]:
    """The kernel for few rows, and the same one for few columns."""
    node = product_node(site)
    rows, columns = site.type.shape[-2:]
    depth = site.of(node.left).shape[-1]
    found: list[Variant] = []
    if depth.static == 0:
        return ()
    for few, by_row in ((rows, True), (columns, False)):
        if (few.static is not None and few.static > MOST) or not (by_row or node.mask is None):
            continue
        cover = _Thin(site, site.pull(), way, by_row=by_row).cover
        when = ((few, 0, MOST + 1), (depth, LEAST, ALWAYS))
        label = f"{LINES} elements a workgroup, loads ahead"
        found.append(Variant(WrittenLater(partial(_written, site, way, by_row=by_row)), cover, when, label))
    return tuple(found)


def _written(site: Site, way: Streaming, *, by_row: bool) -> Drafted:
    return _Thin(site, site.pull(), way, by_row=by_row).drafted()


class _Thin:
    """The statements of the kernel, in the order in which they are written."""

    def __init__(self, site: Site, pull: Pull, way: Streaming, *, by_row: bool) -> None:
        self.site, self.pull, self.by_row = site, pull, by_row
        self.draft: Draft = pull.draft
        self.node = product_node(site)
        self.kind = KINDS[self.node.accumulator]
        depth = site.of(self.node.left).shape[-1]
        shape = site.type.shape
        lines = shape[-1] if by_row else shape[-2]
        alike = by_row and self._is_alike()
        self.batch_shape = () if alike else shape[:-2]
        self.few_shape = shape[:-1] if alike else shape[-2:-1] if by_row else shape[-1:]
        """What is few: rows, of all batches where they have the right side in common, or columns."""
        few = product(self.few_shape)
        self.taken = way.teams if few.static is None else min(MOST, max(1, few.static))
        """How many of them a workgroup takes."""
        self.teams, self.lanes = way.teams, way.lanes
        lines_held = LINES + self.taken * (1 if self.node.mask is None else 2)
        self.deep = _deep(way, depth, self.kind.stride, lines_held)
        panels = ALWAYS if depth.static is None else -(-depth.static // self.deep)
        self.ahead = max(1, min(way.ahead, panels))
        self.unrolled = min(lcm(2, self.ahead), panels)
        self.whole = depth.static is not None and depth.static % self.deep == 0
        """Whether every panel has all of its k."""
        self.cover = ((product(self.batch_shape), 1), (few, self.taken), (lines, LINES))
        draft = self.draft
        self.lane = draft.let(LocalId(0), "lane")
        self.few, self.lines, self.depth = draft.size(few), draft.size(lines), draft.size(depth)

    def _is_alike(self) -> bool:
        """Whether the right side is the same for all batches."""
        strides = strides_of(self.site.graph, self.node.right, self.site.fusion.stored)
        return strides is not None and all(stride == Size(0) for stride in strides[:-2])

    def drafted(self) -> Drafted:
        draft, site = self.draft, self.site
        group = draft.group()
        high = draft.let((self.few + LitU32(self.taken - 1)) // LitU32(self.taken), "high")
        wide = draft.let((self.lines + LitU32(LINES - 1)) // LitU32(LINES), "wide")
        self.first_few = draft.let(times(group % high, LitU32(self.taken)), "few")
        rest = draft.let(group // high, "q")
        self.first_line = draft.let(times(rest % wide, LitU32(LINES)), "line")
        number = draft.let(rest // wide, "batch")
        with draft.where(number < draft.size(product(self.batch_shape))):
            self.batch = draft.parted(number, self.batch_shape)
            self._body()
        return site.finished(self.pull, self.lanes)

    def _body(self) -> None:
        draft, each = self.draft, self.unrolled * self.deep
        self.line = draft.let(self.lane % LitU32(LINES), "line")
        team = draft.let(self.lane // LitU32(LINES), "team")
        own = range(0, self.taken, self.teams)
        self.own = [draft.let(plus(team, LitU32(first)), "own") for first in own]
        self.totals = [draft.variable(literal(self.kind, 0), "total") for _ in self.own]
        self.left, self.right, *self.mask = self.streams = self._streams()
        for ahead in range(self.ahead):
            self._fetch(LitU32(ahead * self.deep), ahead)
        turn = Var(draft.fresh("t"))
        with draft.block() as body:
            for number in range(self.unrolled):
                at = plus(times(turn, LitU32(each)), LitU32(number * self.deep))
                self._panel(draft.let(at, "start"), number % self.ahead, number % 2)
        turns = draft.let((self.depth + LitU32(each - 1)) // LitU32(each), "turns")
        draft.emit(Loop(turn.name, LitU32(0), turns, body))
        for own, total in zip(self.own, self.totals, strict=True):
            self._leave(own, total)

    def _streams(self) -> list[Stream]:
        node = self.node

        def of(name: str, role: SideRole) -> Stream:
            few = self.by_row is not (role is SideRole.RIGHT)
            lines = self.taken if few else LINES
            extent = StreamExtent(lines, self.deep, self.lanes, self.ahead, min(2, self.unrolled))
            return Stream(self.site, self.pull, name, role, extent)

        found = [of(node.left, SideRole.LEFT), of(node.right, SideRole.RIGHT)]
        return found if node.mask is None else [*found, of(node.mask, SideRole.MASK)]

    def _row(self, few_or_line: Expr) -> tuple[Expr, ...]:
        """The coordinates of a row of the left side and of the result."""
        rows = self.draft.parted(few_or_line, self.few_shape) if self.by_row else (few_or_line,)
        return (*self.batch, *rows)

    def _column(self, k: Expr, column: Expr) -> tuple[Expr, ...]:
        rank = self.site.type.rank
        batch = self.batch if len(self.batch) == rank - 2 else (LitU32(0),) * (rank - 2)
        return (*batch, k, column)

    def _fetch(self, start: Expr, ahead: int) -> None:
        """Loads the invocation's part of a panel, where there is one."""
        draft, limit = self.draft, None if self.whole else self.depth
        rows, columns = (self.first_few, self.first_line)[:: 1 if self.by_row else -1]
        with draft.block() as body:
            self.right.fetch(self.lane, ahead, (columns, start), limit, lambda line, k: self._column(k, line))
            for stream in (self.left, *self.mask):
                stream.fetch(self.lane, ahead, (rows, start), limit, lambda line, k: (*self._row(line), k))
        draft.emit(If(start < self.depth, body))

    def _panel(self, start: Expr, ahead: int, half: int) -> None:
        draft = self.draft
        for stream in self.streams:
            stream.keep(self.lane, ahead, half)
        draft.emit(Barrier())
        if self.unrolled > 1:
            self._fetch(draft.let(plus(start, LitU32(self.ahead * self.deep)), "start"), ahead)
        k = Var(draft.fresh("k"))
        with draft.block() as steps:
            self._steps(draft.let(times(k, LitU32(STEPS)), "k"), half)
        loop = Loop(k.name, LitU32(0), LitU32(self.deep // STEPS), steps)
        # Teams that have no element only load.
        draft.emit(If((start < self.depth) & (self.own[0] < LitU32(self.taken)), [loop]))

    def _steps(self, k: Expr, half: int) -> None:
        """The next `STEPS` products of each sum."""
        draft, line = self.draft, [self.line]
        rows, columns = (self.own, line) if self.by_row else (line, self.own)
        lefts = [self.left.steps(half, row, k) for row in rows]
        rights = [self.right.steps(half, column, k) for column in columns]
        masks = [mask.steps(half, row, k) for mask in self.mask for row in rows]
        for number in range(STEPS):
            for i, total in enumerate(self.totals):
                a, b = lefts[i % len(lefts)][number], rights[i % len(rights)][number]
                added = Assign(total.name, step_of(self.node, a, b, total))
                draft.emit(If(masks[i][number].ne(0), [added]) if masks else added)

    def _leave(self, own: Expr, total: Expr) -> None:
        draft, site = self.draft, self.site
        few = draft.let(plus(self.first_few, own), "few")
        line = draft.let(plus(self.first_line, self.line), "line")
        with draft.where((own < LitU32(self.taken)) & (few < self.few) & (line < self.lines)):
            row, column = (few, line) if self.by_row else (line, few)
            place = Place(site.type.shape, (*self._row(row), column))
            site.close(self.pull, place, *result(site, self.pull, place, total))


def _deep(way: Streaming, depth: Size, stride: int, lines: int) -> int:
    """The k of a panel: fewer where two panels of that many lines do not fit, or where the sum is shorter."""
    deep = way.deep
    while deep > STEPS and 2 * stride * lines * (deep + FOUR) > ROOM:
        deep //= 2
    while deep > STEPS and depth.static is not None and deep >= 2 * depth.static:
        deep //= 2
    return deep
