"""How a random graph grows by one node: each of these adds a value, or gives None where nothing fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.generate.buffers import ordinary_bits, random_bits
from vyre.graph import (
    Accumulator,
    Broadcast,
    Concat,
    Copy,
    Duplicates,
    ElementWise,
    Gather,
    Joining,
    MatMul,
    MulStep,
    Pad,
    Pick,
    Recurrence,
    Reduce,
    Reshape,
    Scan,
    Scatter,
    Size,
    Slice,
    Transpose,
    Windows,
)
from vyre.graph.join_rules import ARGUMENTS, BITWISE, NUMBER_WINS, ORDERED, accumulators, outputs
from vyre.graph.memory_rules import INDICES
from vyre.ir import BinaryOp, BinOp, LitU32
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.generate.graph_values import Growth, Shape
    from vyre.graph import ValueType

_T = DataType
_HALVES = (_T.F32, _T.F16, _T.BF16)
_FLOATS = (*_HALVES, _T.F64)
_WORDS = (_T.U32, _T.I32, _T.I8, _T.U8, _T.I16, _T.U16)
_INDICES = tuple(t for t in DataType if t in INDICES)
_JOINED = 8
"""Steps of one scan or product, for each element that a value may have."""
_ORDERED = 4
"""Elements from which on the two orders of a reduction differ."""
_TILES = (8, 15, 16, 17, 24, 31, 33)
"""Sizes about those of the tiles of products."""
_FEW = 60
"""Elements of which transcendental functions are computed: exact ones take their time."""


def _any(kind: ValueType) -> bool:
    del kind
    return True


def _ranked(kind: ValueType) -> bool:
    return kind.rank > 0


def _replaced(shape: Shape, axis: int, *sizes: Size) -> Shape:
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def element_wise(g: Growth) -> str | None:
    first = g.pick(_any)
    if first is None:
        return None
    shape = g.types[first].shape
    sources = [first]
    for _ in range(g.rng.choice((0, 0, 1, 1, 2))):
        other = g.like(shape, g.elements)
        if other is not None:
            sources.append(other)
    g.rng.shuffle(sources)
    element = g.types[g.rng.choice(sources)].element if g.rng.randrange(3) else g.element()
    operands = [g.types[source].element.loaded for source in sources]
    functions = g.largest(shape) <= _FEW
    expr = g.expressions.drawn(operands, element.loaded, functions=functions)
    return g.add(ElementWise(expr, tuple(sources), element))


def transpose(g: Growth) -> str | None:
    source = g.pick(lambda kind: kind.rank > 1) if g.rng.randrange(8) else g.pick(_any)
    if source is None:
        return None
    axes = list(range(g.types[source].rank))
    while axes == sorted(axes) and len(axes) > 1:
        g.rng.shuffle(axes)
    return g.add(Transpose(source, tuple(axes)))


def sliced(g: Growth) -> str | None:
    source = g.pick(_ranked)
    if source is None:
        return None
    ranges = [_range(g, size) for size in g.types[source].shape]
    starts, stops, steps = (tuple(r[i] for r in ranges) for i in range(3))
    return g.add(Slice(source, starts, stops, steps))  # pyright: ignore[reportArgumentType]


def _range(g: Growth, size: Size) -> tuple[Size, Size, int]:
    rng, least = g.rng, g.least(size)
    if rng.randrange(3) == 0 or least == 0:
        return Size(0), size, 1
    if size.static is None and rng.randrange(2):
        back = rng.randrange(1, least + 1)
        return rng.choice(((Size(back), size, 1), (Size(0), size - back, 1), (size - back, size, 1)))
    start = rng.randrange(least)
    stop = start if rng.randrange(16) == 0 else rng.randrange(start + 1, least + 1)
    return Size(start), Size(stop), rng.choice((1, 1, 2, 3))


def broadcast(g: Growth) -> str | None:
    source = g.pick(lambda kind: kind.rank < 4 or any(size.static == 1 for size in kind.shape))
    if source is None:
        return None
    shape = g.types[source].shape
    front = g.shape(0, max(0, min(2, 4 - len(shape))))
    grown = tuple(g.size() if size.static == 1 and g.rng.randrange(2) else size for size in shape)
    return g.add(Broadcast(source, (*front, *grown)))


def reshape(g: Growth) -> str | None:
    source = g.pick(_any)
    if source is None:
        return None
    shape = list(g.types[source].shape)
    for _ in range(g.rng.randrange(1, 4)):
        shape = _reshaped(g, shape)
    return g.add(Reshape(source, tuple(shape)))


def _reshaped(g: Growth, shape: list[Size]) -> list[Size]:
    """Two axes merged, one split, an axis of 1 put in or taken out, or all of them flattened."""
    rng, way = g.rng, g.rng.randrange(5)
    at = rng.randrange(len(shape)) if shape else 0
    if way == 0 and len(shape) > 1:
        at = min(at, len(shape) - 2)
        return [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]]
    if way == 1 and shape and len(shape) < 4:
        factors = [k for k in range(2, 9) if (q := shape[at].divided(k)) is not None and q.terms]
        if factors:
            factor = rng.choice(factors)
            quotient = shape[at].divided(factor)
            if quotient is not None:
                pair = [Size(factor), quotient]
                return [*shape[:at], *(pair if rng.randrange(2) else pair[::-1]), *shape[at + 1 :]]
    if way == 2 and Size(1) in shape:
        shape = shape.copy()
        shape.remove(Size(1))
        return shape
    if way == 3 and len(shape) > 2:
        total = Size(1)
        for size in shape:
            total = total * size
        return [total]
    return [*shape[:at], Size(1), *shape[at:]] if len(shape) < 4 else shape


def windows(g: Growth) -> str | None:
    source = g.pick(lambda kind: 0 < kind.rank < 4)
    if source is None:
        return None
    axis = g.rng.randrange(g.types[source].rank)
    length = g.types[source].shape[axis]
    size, dilation = g.rng.randrange(1, 4), g.rng.randrange(1, 3)
    if g.least(length) < (size - 1) * dilation + 1:
        return None
    stride = g.rng.randrange(1, 4) if length.static is not None else 1
    return g.add(Windows(source, axis, size, stride, dilation))


def copy(g: Growth) -> str | None:
    source = g.pick(_any)
    return None if source is None else g.add(Copy(source))


def pad(g: Growth) -> str | None:
    source = g.pick(_ranked)
    if source is None:
        return None
    kind = g.types[source]
    widths = [g.size() if g.rng.randrange(8) == 0 else Size(g.rng.randrange(3)) for _ in range(2 * kind.rank)]
    draw = g.rng.choice((random_bits, ordinary_bits))
    value = draw(g.rng, kind.element.loaded) & ((1 << kind.element.bits) - 1) if g.rng.randrange(2) else 0
    return g.add(Pad(source, tuple(widths[: kind.rank]), tuple(widths[kind.rank :]), value))


def concat(g: Growth) -> str | None:
    first = g.pick(_ranked)
    if first is None:
        return None
    kind = g.types[first]
    axis = g.rng.randrange(kind.rank)
    sources = [first]
    for _ in range(g.rng.choice((0, 1, 1, 2))):
        length = g.size() if g.rng.randrange(2) else kind.shape[axis]
        other = g.like(_replaced(kind.shape, axis, length), (kind.element,))
        if other is not None:
            sources.append(other)
    g.rng.shuffle(sources)
    return g.add(Concat(tuple(sources), axis))


def _join(g: Growth, of: DataType, *, scan: bool) -> tuple[Joining, DataType, DataType] | None:
    """A joining of this element, an accumulator, and the element of the result."""
    lawful = [t for t in accumulators(of) if t in g.elements or not t.is_float]
    if not lawful:
        return None
    kept = g.rng.choice(lawful)
    refused = BITWISE if kept.is_float else NUMBER_WINS
    joinings = [j for j in Joining if j not in refused and not (scan and j in ARGUMENTS)]
    joining = Joining.Add if g.rng.randrange(3) == 0 else g.rng.choice(joinings)
    if joining in ARGUMENTS:
        results: tuple[DataType, ...] = (_T.U32,)
    else:
        results = (of,) if joining in (Joining.Min, Joining.Max) else outputs(kept)
    allowed = [t for t in results if t in g.elements]
    if not allowed:
        return None
    return joining, kept, of if of in allowed and g.rng.randrange(4) == 0 else _rounded(g, kept, allowed)


def _rounded(g: Growth, kept: DataType, allowed: list[DataType]) -> DataType:
    """The element of a sum: mostly that of the accumulator, since a shorter one hides the last bits."""
    return kept if kept in allowed and g.rng.randrange(3) else g.rng.choice(allowed)


def reduced(g: Growth) -> str | None:
    often = (_T.F32,) if g.rng.randrange(3) == 0 else ()
    source = g.pick(lambda kind: kind.rank > 0 and kind.element in often)
    source = source or g.pick(lambda kind: kind.rank > 0 and kind.element is not _T.I64)
    if source is None:
        return None
    kind = g.types[source]
    axes = sorted(g.rng.sample(range(kind.rank), g.rng.randrange(1, kind.rank + 1)))
    if g.largest(kind.shape[axis] for axis in axes) < _ORDERED:
        axes = list(range(kind.rank))
    join = _join(g, kind.element, scan=False)
    if join is None:
        return None
    joining, kept, element = join
    ordered = joining in ORDERED and kept.is_float
    order = g.rng.choice(tuple(ReduceOrder)) if ordered else ReduceOrder.TreeBinary
    return g.add(Reduce(source, tuple(axes), joining, order, kept, element))


def scan(g: Growth) -> str | None:
    source = g.pick(lambda kind: kind.rank > 0 and kind.element is not _T.I64)
    if source is None:
        return None
    kind = g.types[source]
    axis = g.rng.randrange(kind.rank)
    join = _join(g, kind.element, scan=True)
    if join is None or g.largest((*kind.shape, kind.shape[axis])) > _JOINED * g.most:
        return None
    joining, kept, element = join
    return g.add(Scan(source, axis, joining, kept, element, exclusive=g.rng.randrange(3) == 0))


def recurrence(g: Growth) -> str | None:
    factor = g.pick(lambda kind: kind.rank > 0 and kind.element in _HALVES)
    halves = [t for t in _HALVES if t in g.elements]
    if factor is None:
        return None
    shape = g.types[factor].shape
    axis = g.rng.randrange(len(shape))
    term = g.like(shape, halves)
    if term is None:
        return None
    if g.rng.randrange(2):
        factor, term = term, factor
    initial = g.like(_replaced(shape, axis), halves) if g.rng.randrange(2) else None
    return g.add(Recurrence(factor, term, axis, g.rng.choice(halves), initial))


def _tile(g: Growth) -> Size:
    return Size(g.rng.choice(_TILES))


def matmul(g: Growth) -> str | None:
    rng = g.rng
    accumulator = rng.choice((*Accumulator, Accumulator.F32))
    if accumulator in (Accumulator.I32, Accumulator.U32):
        taken: tuple[DataType, ...] = _WORDS
    else:
        taken = _HALVES if accumulator is Accumulator.F32 else _FLOATS
    if accumulator is Accumulator.F64 and _T.F64 not in g.elements:
        return None
    left = g.pick(lambda kind: kind.rank >= 2 and kind.element in taken)
    if g.wide:
        left = g.like((_tile(g), _tile(g)), taken)
    elif left is None or rng.randrange(6) == 0:
        left = g.like(g.shape(2, 3), taken)
    if left is None:
        return None
    *batch, m, k = g.types[left].shape
    n = _tile(g) if g.wide else g.size()
    if g.largest((*batch, m, k, n)) > _JOINED * g.most:
        return None
    kept = _T.F64 if accumulator is Accumulator.Exact else _T[accumulator.value]
    # Products of shorter elements are exact in the accumulator, so that no step of theirs shows.
    right = g.like((*batch, k, n), (kept,) if kept in g.elements and rng.randrange(3) else taken)
    mask = g.like((*batch, m, k), (_T.Bool,)) if rng.randrange(3) == 0 else None
    if right is None:
        return None
    stepped = accumulator in (Accumulator.F32, Accumulator.F64)
    step = rng.choice(tuple(MulStep)) if stepped else MulStep.FMulAdd
    element = _rounded(g, kept, [t for t in outputs(kept) if t in g.elements])
    return g.add(MatMul(left, right, accumulator, step, element, mask))


def _indices(g: Growth, shape: Shape, length: Size) -> str | None:
    """Integers of this shape, most of them below the length."""
    drawn = g.like(shape, _INDICES)
    if drawn is None or g.rng.randrange(3) == 0:
        return drawn
    word = g.expressions.converted(g.types[drawn].element.loaded, _T.U32)
    below = max(1, g.least(length) + (g.rng.randrange(3) == 0))
    element = g.rng.choice([t for t in _INDICES if t in g.elements])
    expr = g.expressions.toward(BinOp(BinaryOp.Mod, word, LitU32(below)), _T.U32, element.loaded)
    return g.add(ElementWise(expr, (drawn,), element))


def gather(g: Growth) -> str | None:
    source = g.pick(_ranked)
    if source is None:
        return None
    shape = g.types[source].shape
    axis = g.rng.randrange(len(shape))
    indices = _indices(g, g.shape(0, max(0, min(2, 5 - len(shape)))), shape[axis])
    return None if indices is None else g.add(Gather(source, indices, axis))


def picked(g: Growth) -> str | None:
    source = g.pick(_ranked)
    if source is None:
        return None
    shape = g.types[source].shape
    axis = g.rng.randrange(len(shape))
    indices = _indices(g, _replaced(shape, axis, g.size()), shape[axis])
    return None if indices is None else g.add(Pick(source, indices, axis))


def scatter(g: Growth) -> str | None:
    source = g.pick(_ranked)
    if source is None:
        return None
    kind = g.types[source]
    axis, length = g.rng.randrange(kind.rank), g.size()
    indices = _indices(g, (length,), kind.shape[axis])
    updates = g.like(_replaced(kind.shape, axis, length), (kind.element,))
    if indices is None or updates is None:
        return None
    last = kind.element in (_T.I64, _T.Bool)
    duplicates = Duplicates.Last if last else g.rng.choice(tuple(Duplicates))
    return g.add(Scatter(source, indices, updates, axis, duplicates))


GROW: tuple[tuple[int, Callable[[Growth], str | None]], ...] = (
    (8, element_wise),
    (3, transpose),
    (3, sliced),
    (3, broadcast),
    (4, reshape),
    (2, windows),
    (1, copy),
    (2, pad),
    (3, concat),
    (7, reduced),
    (4, scan),
    (5, recurrence),
    (7, matmul),
    (2, gather),
    (2, picked),
    (2, scatter),
)
"""Every way to grow, and how often it is taken; inputs, constants and coordinates come as operands."""
