"""Values that find faults: boundaries, bit patterns and float specials, mixed with uniform bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.types import NARROW_TYPES, DataType

if TYPE_CHECKING:
    from random import Random

_U32 = (
    0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000,
    0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0x55555555, 0xFFFFFFFE, 0xFFFFFFFF,
)  # fmt: skip
_F32 = (
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
    0x3F7FFFFF, 0x3F800001, 0x40490FDB, 0x4B000000, 0x4B7FFFFF, 0x4F000000, 0x5F000000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 0xFFC12345,
)  # fmt: skip
_F16 = (
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x3BFF, 0x3C01, 0x4248, 0x6400,
    0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7C01, 0xFE12,
)  # fmt: skip
_BF16 = tuple(sorted({v >> 16 for v in _F32}))
_F64 = (
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x000FFFFFFFFFFFFF, 0x0010000000000000,
    0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
    0xFFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000001, 0x36A0000000000000, 0x47EFFFFFF0000000,
)  # fmt: skip
_I64 = tuple(v << 32 | w for v in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF) for w in (0, 1, 0xFFFFFFFF))

SPECIALS: dict[DataType, tuple[int, ...]] = {
    DataType.U32: _U32,
    DataType.I32: _U32,
    DataType.Bool: (0, 1),
    DataType.F32: _F32,
    DataType.F16: _F16,
    DataType.BF16: _BF16,
    DataType.F64: _F64,
    DataType.I64: _I64,
    **{t: tuple(sorted({v & ((1 << t.bits) - 1) for v in _U32})) for t in NARROW_TYPES},
}
"""Bit patterns per type; lane types draw each lane from U32."""


def random_bits(rng: Random, t: DataType) -> int:
    """The bits of one value: half the time a special, otherwise uniform, small or near a power of two."""
    if t.lanes > 1:
        return sum(random_bits(rng, DataType.U32) << (32 * i) for i in range(t.lanes))
    width = 1 if t is DataType.Bool else t.bits
    kind = rng.randrange(8)
    if kind < 4:
        return rng.choice(SPECIALS[t])
    if kind == 4:
        return rng.randrange(min(1 << width, 64))
    if kind == 5:
        return ((1 << rng.randrange(width)) + rng.randrange(-1, 2)) % (1 << width)
    return rng.getrandbits(width)


_LAYOUTS = {
    DataType.F32: (23, 127),
    DataType.F16: (10, 15),
    DataType.BF16: (7, 127),
    DataType.F64: (52, 1023),
}
"""Bits of the significand, and the exponent of 1."""


def ordinary_bits(rng: Random, t: DataType, *, scale: int = 0) -> int:
    """The bits of a value that operations seldom swallow: a float close to 2^scale, or a uniform word."""
    if t not in _LAYOUTS:
        return rng.getrandbits(1 if t is DataType.Bool else t.bits)
    fraction, one = _LAYOUTS[t]
    exponent = one + scale + rng.randrange(-2, 3)
    return (rng.getrandbits(1) << (t.bits - 1)) | (exponent << fraction) | rng.getrandbits(fraction)


def varied_buffer(rng: Random, element: DataType, count: int) -> bytes:
    """`count` elements, most or all of them ordinary; half of all Bools are false."""
    specials = rng.choice((0, 1)) if element.is_float else 2
    out: list[bytes] = []
    for _ in range(count):
        if element is DataType.Bool and rng.randrange(2):
            bits = 0
        elif rng.randrange(8) < specials:
            bits = random_bits(rng, element.loaded)
        else:
            drawn = DataType.U32 if element is DataType.Bool else element.loaded
            bits = ordinary_bits(rng, drawn)
        out.append(bits.to_bytes(element.stride, "little"))
    return b"".join(out)


def random_buffer(rng: Random, element: DataType, count: int) -> bytes:
    """`count` elements as little-endian bytes; Bool elements are any u32, since loads normalise them."""
    drawn = DataType.U32 if element in (DataType.Bool, DataType.Bytes) else element
    return b"".join(random_bits(rng, drawn).to_bytes(element.stride, "little") for _ in range(count))
