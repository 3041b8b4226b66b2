"""The programs of one pass of a radix sort: digits counted tile by tile, then every key put in its place.

`counts[digit * tiles + tile]` are scanned between the two, so that a key's place is the start of its digit in
its tile and the number of keys with that digit before it in the tile. Nothing depends on the order in which
workgroups run. A tile of one invocation walks through its keys; a wider one sorts them by the digit in its
own memory first (`ranks.py`), and then writes neighbours to neighbouring places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, padded_row, param, stretch
from vyre.engines.ranks import DIGIT_BITS, Ranks
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import Atomic, Expr, LitU32, Select, Var
from vyre.ir.node import Barrier, If, Let, Loop, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from vyre.engines.order import Order
    from vyre.engines.plan import Shape
    from vyre.ir.types import DataType

RANKED_BITS, WALKED_BITS = 8, 11
"""Of a digit: a workgroup ranks half of eight at a time; one invocation saves a pass by eleven."""
_TOGETHER = 8
"""Keys that an invocation reads before it counts their digits."""
_HIGHEST = (1 << DIGIT_BITS) - 1


@dataclass(frozen=True, slots=True)
class Sorting:
    """What is sorted, and how it is cut: the programs of a pass follow from it.

    `payload` is the type of what goes with a key. `numbered` makes it the number of the key, which is not
    read but written by the first pass.
    """

    order: Order
    shape: Shape
    payload: DataType | None = None
    numbered: bool = False

    @property
    def tile(self) -> int:
        """Keys of a workgroup in one turn."""
        return self.shape.lanes * self.shape.items

    @property
    def bits(self) -> int:
        """Of a digit."""
        return WALKED_BITS if self.shape.lanes == 1 else RANKED_BITS

    @property
    def bins(self) -> int:
        return 1 << self.bits

    def digit(self, key: Expr) -> Expr:
        """The digit that `param(0)` (shift) and `param(1)` (word) choose."""
        return self.bits_of(key, param(0), self.bits)

    def bits_of(self, key: Expr, shift: Expr, count: int) -> Expr:
        """As many bits of the word that `param(1)` chooses."""
        words = self.order.words(key)
        word = words[0] if len(words) == 1 else Select(param(1), words[1], words[0])
        return (word >> shift) & LitU32((1 << count) - 1)


def _tile_start(sorting: Sorting) -> Expr:
    """The first key of a tile of `param(2)` turns."""
    return GROUP * (param(2) * LitU32(sorting.tile))


@cache
def count_program(sorting: Sorting) -> Program:
    """Leaves `counts[digit * groups + group]` for tiles of `param(2)` turns."""
    shape = sorting.shape
    keys = BufferDecl.read("input", 0, sorting.order.carrier)
    counts = BufferDecl.read_write("output", 1, U32)
    alone = shape.lanes == 1
    bins = BufferDecl.workgroup("bins", U32, sorting.bins, atomic=not alone)
    bin_ = Var("bin")
    counted = _counted_alone(sorting, keys, bins) if alone else _counted_together(sorting, keys)
    rows = -(-sorting.bins // shape.lanes)
    put: list[Node] = [
        Let("bin", Var("j") * LitU32(shape.lanes) + LOCAL),
        If(bin_ < LitU32(sorting.bins), [Store("output", bin_ * PARAMS[LitU32(0)] + GROUP, bins[bin_])]),
    ]
    entry: list[Node] = [
        *opening(shape),
        *counted,
        Barrier(),
        Loop("j", LitU32(0), LitU32(rows), put),
    ]
    return Program((keys, counts, PARAMS, bins), (shape.lanes, 1, 1), entry)


def _counted_alone(sorting: Sorting, keys: BufferDecl, bins: BufferDecl) -> list[Node]:
    digit = Var("digit")
    each: list[Node] = [
        Let("digit", sorting.digit(keys[Var("i")])),
        Store("bins", digit, bins[digit] + LitU32(1)),
    ]
    return [
        *stretch(_tile_start(sorting), param(2) * LitU32(sorting.tile), keys),
        Loop("i", Var("first"), Var("stop"), each),
    ]


def _counted_together(sorting: Sorting, keys: BufferDecl) -> list[Node]:
    """All keys are read before the first is counted, wherever none stands past the end."""
    lanes, digit, i = sorting.shape.lanes, Var("digit"), Var("i")
    together = min(sorting.shape.items, _TOGETHER)
    read = [Var(f"key{n}") for n in range(together)]
    at = Var("first") + Var("k") * LitU32(together * lanes)
    places = [Var("at") + LitU32(n * lanes) for n in range(together)]
    ones = [Atomic(AtomicOp.Add, "bins", sorting.digit(key), LitU32(1)) for key in read]
    one = Let("old", Atomic(AtomicOp.Add, "bins", digit, LitU32(1)))
    rest: list[Node] = [
        Let("i", Var("at") + Var("n") * LitU32(lanes)),
        If(i < keys.length, [Let("key", keys[i]), Let("digit", sorting.digit(Var("key"))), one]),
    ]
    body: list[Node] = [
        Let("at", at),
        If(
            places[-1] < keys.length,
            [
                *(Let(key.name, keys[place]) for key, place in zip(read, places, strict=True)),
                *(Let(f"old{n}", one) for n, one in enumerate(ones)),
            ],
            [Loop("n", LitU32(0), LitU32(together), rest)],
        ),
    ]
    turns = param(2) * LitU32(sorting.shape.items // together)
    return [Let("first", _tile_start(sorting) + LOCAL), Loop("k", LitU32(0), turns, body)]


@cache
def place_program(sorting: Sorting, *, first: bool = False) -> Program:
    """Puts every key, and what goes with it, in the place that the scanned `starts` give it."""
    carrier, payload = sorting.order.carrier, sorting.payload
    keys = BufferDecl.read("input", 0, carrier)
    output = BufferDecl.read_write("output", 1, carrier)
    starts = BufferDecl.read("starts", 3, U32)
    buffers = [keys, output, PARAMS, starts]
    if payload is not None:
        if not (first and sorting.numbered):
            buffers.append(BufferDecl.read("given", 4, payload))
        buffers.append(BufferDecl.read_write("taken", 5, payload))
    walks = sorting.shape.lanes == 1
    own, body = _walked(sorting, buffers) if walks else _exchanged(sorting, buffers)
    entry = [*opening(sorting.shape), *body]
    return Program(arranged((*buffers, *own)), (sorting.shape.lanes, 1, 1), entry)


def _payload(buffers: list[BufferDecl], index: Expr) -> Expr:
    """What goes with key `index` of the input."""
    given = next((b for b in buffers if b.name == "given"), None)
    return index if given is None else given[index]


def _walked(sorting: Sorting, buffers: list[BufferDecl]) -> tuple[list[BufferDecl], list[Node]]:
    """One invocation walks through its tile."""
    keys, starts = buffers[0], buffers[3]
    next_ = BufferDecl.workgroup("next", U32, sorting.bins)
    i, place, digit = Var("i"), Var("place"), Var("digit")
    moved: list[Node] = [
        Let("key", keys[i]),
        Let("digit", sorting.digit(Var("key"))),
        Let("place", next_[digit]),
        Store("next", digit, place + LitU32(1)),
        Store("output", place, Var("key")),
    ]
    if sorting.payload is not None:
        moved.append(Store("taken", place, _payload(buffers, i)))
    begun = Store("next", Var("j"), starts[Var("j") * PARAMS[LitU32(0)] + GROUP])
    return [next_], [
        *stretch(_tile_start(sorting), param(2) * LitU32(sorting.tile), keys),
        Loop("j", LitU32(0), LitU32(sorting.bins), [begun]),
        Loop("i", Var("first"), Var("stop"), moved),
    ]


def _exchanged(sorting: Sorting, buffers: list[BufferDecl]) -> tuple[list[BufferDecl], list[Node]]:
    """A workgroup sorts its tile turn by turn: by the digit, four bits at a time, and writes it in order.

    What stands past the end counts as the highest digit, so it stays behind all keys, and is not written.
    """
    shape, payload = sorting.shape, sorting.payload
    keys, starts = buffers[0], buffers[3]
    ranks = Ranks(shape, sorting.order.carrier, payload)
    next_ = BufferDecl.workgroup("next", U32, sorting.bins)
    begins = BufferDecl.workgroup("begins", U32, sorting.bins)
    tile = LitU32(sorting.tile)
    first, left, at, digit, place = Var("first"), Var("left"), Var("at"), Var("digit"), Var("place")
    here = Var("here")
    # A neighbour is one place away, or two where a gap lies between.
    column = (at if shape.lanes % 32 else LOCAL) & LitU32(31)
    back, on = Select(column, LitU32(1), LitU32(2)), Select(column.eq(31), LitU32(2), LitU32(1))
    loaded = ranks.put(here, keys[first + at], None if payload is None else _payload(buffers, first + at))
    begun: list[Node] = [
        Let("digit", sorting.digit(ranks.key_at(here))),
        Let("before", sorting.digit(ranks.key_at(here - back))),
        If(at.eq(0) | digit.ne(Var("before")), [Store("begins", digit, next_[digit] - at)]),
    ]
    stores: list[Node] = [
        Let("key", ranks.key_at(here)),
        Let("digit", sorting.digit(Var("key"))),
        Let("after", sorting.digit(ranks.key_at(here + on))),
        Let("place", begins[digit] + at),
        Store("output", place, Var("key")),
        # The next turn goes on behind the last key of each digit.
        If(
            (at + LitU32(1)).eq(tile) | digit.ne(Var("after")),
            [Store("next", digit, place + LitU32(1))],
        ),
    ]
    if payload is not None:
        stores.append(Store("taken", place, ranks.payload_at(here)))

    def each(body: list[Node]) -> Node:
        """For all places of this invocation, which are a workgroup's width apart."""
        index = Let("at", Var("k") * LitU32(shape.lanes) + LOCAL)
        row = Let("here", padded_row(Var("k"), shape.lanes))
        return Loop("k", LitU32(0), LitU32(shape.items), [index, row, *body])

    def half(key: Expr, place: Expr) -> Expr:
        bits = sorting.bits_of(key, param(0) + Var("half") * LitU32(DIGIT_BITS), DIGIT_BITS)
        return Select(place < left, bits, LitU32(_HIGHEST))

    bin_ = Var("bin")
    begin: list[Node] = [
        Let("bin", Var("j") * LitU32(shape.lanes) + LOCAL),
        Store("next", bin_, starts[bin_ * PARAMS[LitU32(0)] + GROUP]),
    ]
    body: list[Node] = [
        Let("first", _tile_start(sorting) + Var("turn") * tile),
        Let("left", keys.length - first),
        each(loaded),
        Barrier(),
        Loop("half", LitU32(0), LitU32(RANKED_BITS // DIGIT_BITS), ranks.round(half)),
        each([If(at < left, begun)]),
        Barrier(),
        each([If(at < left, stores)]),
        Barrier(),
    ]
    whole = (keys.length - _tile_start(sorting) + LitU32(sorting.tile - 1)) // tile
    return [*ranks.buffers, next_, begins], [
        Let("turns", Select(whole < param(2), whole, param(2))),
        Loop("j", LitU32(0), LitU32(-(-sorting.bins // shape.lanes)), begin),
        Loop("turn", LitU32(0), Var("turns"), body),
    ]
