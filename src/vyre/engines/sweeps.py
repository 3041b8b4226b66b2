"""The programs of a scan: the joins of tiles, and tiles that are swept from where they start.

A segmented scan starts anew wherever `heads` is not zero: a state is then a value and whether a head was
seen, and what lies before a head is dropped. A tile of one invocation is walked through; a wider one is cut
into neighbouring elements for each invocation, whose joins are scanned in the memory of the workgroup; one
without segments lies there as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import (
    GROUP,
    LOCAL,
    PARAMS,
    U32,
    ahead,
    opening,
    padded_own,
    padded_room,
    padded_row,
    param,
    row_sums,
    stretch,
    taken,
)
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Select, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from vyre.engines.monoids import Monoid
    from vyre.engines.plan import Shape
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node


@dataclass(frozen=True, slots=True)
class Scanning:
    """What is scanned, and how it is cut. `truth` takes an element for 0 or 1."""

    op: Monoid
    shape: Shape
    segmented: bool = False
    truth: bool = False

    @property
    def tile(self) -> int:
        return self.shape.lanes * self.shape.items * (self.shape.turns or 1 if self.walks else 1)

    @property
    def walks(self) -> bool:
        return self.shape.lanes == 1

    @property
    def sources(self) -> list[BufferDecl]:
        source = [BufferDecl.read("input", 0, self.op.element)]
        return [*source, BufferDecl.read("heads", 3, U32)] if self.segmented else source

    def element(self, index: Expr) -> list[Node]:
        """Names element `index` `x`, and its head `h`."""
        source = self.sources[0]
        named: list[Node] = [Let("x", source[index].ne(0) if self.truth else source[index])]
        return [*named, Let("h", self.sources[1][index].ne(0))] if self.segmented else named

    def joined(self) -> list[Node]:
        """`running`, and `seen`, become their joins with the element."""
        join = self.op.join(Var("running"), Var("x"))
        if not self.segmented:
            return [Assign("running", join)]
        return [
            Assign("running", Select(Var("h"), Var("x"), join)),
            Assign("seen", Var("seen") | Var("h")),
        ]

    def put(self, index: Expr, *, inclusive: bool, carried: bool) -> list[Node]:
        """Writes the result of an element, and takes the element in.

        Where `carried` is set a head does not hide what comes before it: it stands within its tile.
        """
        hides = self.segmented and not carried
        before = Select(Var("h"), self.op.start, Var("running")) if hides else Var("running")
        if inclusive:
            return [*self.joined(), Store("output", index, Var("running"))]
        return [Store("output", index, before), *self.joined()]


_I = Var("i")


@cache
def totals_program(scanning: Scanning) -> Program:
    """The join of each tile of `param(1)` elements, and into `heads_out` whether it has a head."""
    output = BufferDecl.read_write("output", 1, scanning.op.element)
    buffers = [*scanning.sources, output, PARAMS]
    put: list[Node] = [Store("output", GROUP, Var("running"))]
    if scanning.segmented:
        buffers.append(BufferDecl.read_write("heads_out", 4, U32))
        put.append(Store("heads_out", GROUP, Var("seen")))
    own, gone_through = _tile(scanning, [*scanning.joined()])
    if not scanning.walks:
        put = [If(LOCAL.eq(scanning.shape.lanes - 1), [*_scanned_total(scanning), *put])]
    return _program(scanning, buffers, own, [*_fresh(scanning, scanning.op.start), *gone_through, *put])


@cache
def sweep_program(scanning: Scanning, *, inclusive: bool, carried: bool = False) -> Program:
    """Scans tiles of `param(1)` elements; `starts` say where they start from if `param(0)` is set."""
    op = scanning.op
    output = BufferDecl.read_write("output", 1, op.element)
    starts = BufferDecl.read("starts", 5, op.element)
    start = Select(param(0), starts[GROUP], op.start)
    swept = scanning.put(_I, inclusive=inclusive, carried=carried)
    if scanning.walks:
        own, body = _tile(scanning, swept, output)
        entry = [*_fresh(scanning, start), *body]
    elif not scanning.segmented:
        own, entry = _staged(scanning, output, start, inclusive=inclusive)
    else:
        own, totals = _tile(scanning, [*scanning.joined()])
        entry = [
            *_fresh(scanning, op.start),
            *totals,
            Let("start", start),
            *_from_the_left(scanning),
            *_each(scanning, swept),
        ]
    return _program(scanning, [*scanning.sources, output, PARAMS, starts], own, entry)


def _staged(
    scanning: Scanning, output: BufferDecl, start: Expr, *, inclusive: bool
) -> tuple[list[BufferDecl], list[Node]]:
    """A tile that goes through the memory of the workgroup, so that neighbours read and write neighbours."""
    op, lanes, items = scanning.op, scanning.shape.lanes, scanning.shape.items
    source, running, x, at = scanning.sources[0], Var("running"), Var("x"), Var("at")
    held = BufferDecl.workgroup("held", op.value, padded_room(lanes * items))
    tile = BufferDecl.workgroup("tile", op.value, lanes)
    mine, here = padded_own(items, Var("k")), Var("here")
    join = Assign("running", op.join(running, x))
    put = Store("held", mine, running)

    def rows(*body: Node) -> Node:
        """For all elements of a tile `i`, at `at`; those of an invocation are a workgroup's width apart."""
        found = [
            Let("at", Var("k") * LitU32(lanes) + LOCAL),
            Let("here", padded_row(Var("k"), lanes)),
            Let("i", GROUP * LitU32(lanes * items) + at),
        ]
        return Loop("k", LitU32(0), LitU32(items), [*found, *body])

    def own(*body: Node) -> Node:
        """For the neighbours that an invocation joins."""
        return Loop("k", LitU32(0), LitU32(items), [Let("x", held[mine]), *body])

    return [held, tile, row_sums(op, lanes)], [
        rows(Store("held", here, taken(source, _I, op, truth=scanning.truth))),
        Barrier(),
        Let("total", op.start),
        own(Assign("total", op.join(Var("total"), x))),
        Store("tile", LOCAL, Var("total")),
        *ahead(op, tile, lanes),
        Let("start", start),
        Assign("running", op.join(Var("start"), running)),
        own(join, put) if inclusive else own(put, join),
        Barrier(),
        rows(If(source.length > _I, [Store(output.name, _I, held[here])])),
    ]


def _program(
    scanning: Scanning, buffers: list[BufferDecl], own: list[BufferDecl], entry: list[Node]
) -> Program:
    shape = scanning.shape
    made = Program(arranged((*buffers, *own)), (shape.lanes, 1, 1), [*opening(shape), *entry])
    return scanning.op.completed(made)


def _fresh(scanning: Scanning, value: Expr) -> list[Node]:
    begun: list[Node] = [Let("running", value)]
    return [*begun, Let("seen", LitU32(0))] if scanning.segmented else begun


def _each(scanning: Scanning, body: list[Node], *also: BufferDecl) -> list[Node]:
    """The body for all elements of this invocation, `i`, in order. `also` are as long as the input."""
    length = scanning.sources[0].length
    if scanning.walks:
        named = stretch(GROUP * param(1), param(1), *scanning.sources, *also)
        return [*named, Loop("i", Var("first"), Var("stop"), [*scanning.element(_I), *body])]
    first = (GROUP * LitU32(scanning.shape.lanes) + LOCAL) * LitU32(scanning.shape.items)
    inner: list[Node] = [Let("i", first + Var("k")), If(length > _I, [*scanning.element(_I), *body])]
    return [Loop("k", LitU32(0), LitU32(scanning.shape.items), inner)]


def _tile(scanning: Scanning, body: list[Node], *also: BufferDecl) -> tuple[list[BufferDecl], list[Node]]:
    """Goes through a tile; a wide one leaves the scanned joins of its invocations in the buffer `tile`."""
    each = _each(scanning, body, *also)
    if scanning.walks:
        return [], each
    lanes, op, segmented = scanning.shape.lanes, scanning.op, scanning.segmented
    tile = BufferDecl.workgroup("tile", op.value, lanes)
    flags = BufferDecl.workgroup("flags", U32, lanes)
    reach, mine, earlier = Var("reach"), Var("mine"), Var("earlier")
    inside = reach <= LOCAL
    joined: Expr = op.join(earlier, mine)
    level: list[Node] = [
        Let("reach", LitU32(1) << Var("level")),
        Let("earlier", Select(inside, tile[LOCAL - reach], op.start)),
        Let("mine", tile[LOCAL]),
    ]
    after: list[Node] = []
    if segmented:
        level.append(Let("flag", flags[LOCAL]))
        level.append(Let("before", Select(inside, flags[LOCAL - reach], LitU32(0))))
        joined = Select(Var("flag"), mine, joined)
        after = [Store("flags", LOCAL, Var("flag") | Var("before"))]
    level += [Barrier(), Store("tile", LOCAL, joined), *after, Barrier()]
    begun: list[Node] = [Store("tile", LOCAL, Var("running"))]
    if segmented:
        begun.append(Store("flags", LOCAL, Var("seen")))
    own = [tile, flags] if segmented else [tile]
    return own, [
        *each,
        *begun,
        Barrier(),
        Loop("level", LitU32(0), LitU32(lanes.bit_length() - 1), level),
    ]


def _scanned_total(scanning: Scanning) -> list[Node]:
    """The last invocation has the join of the tile."""
    tile = BufferDecl.workgroup("tile", scanning.op.value, scanning.shape.lanes)
    flags = BufferDecl.workgroup("flags", U32, scanning.shape.lanes)
    found: list[Node] = [Assign("running", tile[LOCAL])]
    return [*found, Assign("seen", flags[LOCAL])] if scanning.segmented else found


def _from_the_left(scanning: Scanning) -> list[Node]:
    """`running` becomes the join of all that lies before this invocation, from the start of the tile."""
    op, shape = scanning.op, scanning.shape
    tile = BufferDecl.workgroup("tile", op.value, shape.lanes)
    flags = BufferDecl.workgroup("flags", U32, shape.lanes)
    joined: Expr = op.join(Var("start"), Var("before"))
    if scanning.segmented:
        joined = Select(flags[LOCAL - LitU32(1)], Var("before"), joined)
    return [
        Let("before", tile[LOCAL - LitU32(1)]),
        Assign("running", Select(LitU32(0) < LOCAL, joined, Var("start"))),
    ]
