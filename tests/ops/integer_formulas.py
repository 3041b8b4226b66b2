"""What every integer op of the standard library computes, on plain Python ints; bits in, bits out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

M32 = (1 << 32) - 1


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def quotient(a: int, b: int) -> int:
    """Toward zero; 0 for b = 0."""
    return 0 if b == 0 else (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1)


def rotate(x: int, by: int) -> int:
    by %= 32
    return (x << by | x >> (32 - by)) & M32


def next_power_of_two(x: int) -> int:
    return next((1 << k for k in range(32) if 1 << k >= x), 0)


def limited(x: int) -> int:
    return min(max(x, -(1 << 31)), (1 << 31) - 1) & M32


def field(a: int, offset: int, count: int) -> int:
    """By its digits, the lowest first."""
    return int(f"{a:032b}"[::-1][offset : offset + count][::-1] or "0", 2)


def inserted(a: int, bits: int, offset: int, count: int) -> int:
    digits = list(f"{a:032b}"[::-1])
    for k in range(min(count, 32)):
        if offset + k < 32:
            digits[offset + k] = str(bits >> k & 1)
    return int("".join(digits[::-1]), 2)


def word(data: bytes) -> int:
    return int.from_bytes(data, "little")


def octets(x: int) -> bytearray:
    return bytearray(x.to_bytes(4, "little"))


def small(x: int) -> memoryview:
    """The four bytes with their signs."""
    return memoryview(octets(x)).cast("b")


def with_lane(x: int, i: int, byte: int) -> int:
    data = octets(x)
    data[i % 4] = byte % 256
    return word(bytes(data))


_UNARY: dict[str, Callable[[int], int]] = {
    "primitive.math.negate": lambda a: -a & M32,
    "primitive.bitwise.not": lambda a: M32 - a,
    "primitive.bitwise.popcount": lambda a: bin(a).count("1"),
    "primitive.bitwise.clz": lambda a: 32 - a.bit_length(),
    "primitive.bitwise.ctz": lambda a: (f"{a:032b}"[::-1] + "1").index("1"),
    "primitive.bitwise.reverse_bits": lambda a: int(f"{a:032b}"[::-1], 2),
    "primitive.logical.not": lambda a: int(not a),
    "integer.is_power_of_two": lambda a: int(a in {1 << k for k in range(32)}),
    "integer.next_power_of_two": next_power_of_two,
    "integer.isqrt": math.isqrt,
    "signed.sign": lambda a: ((signed(a) > 0) - (signed(a) < 0)) & M32,
    "signed.abs": lambda a: abs(signed(a)) & M32,
    "bytes.word_index": lambda a: a // 4,
    "bytes.swap": lambda a: int.from_bytes(octets(a), "big"),
}

_BINARY: dict[str, Callable[[int, int], int]] = {
    "primitive.math.add": lambda a, b: (a + b) & M32,
    "primitive.math.sub": lambda a, b: (a - b) & M32,
    "primitive.math.mul": lambda a, b: (a * b) & M32,
    "primitive.math.mul_hi": lambda a, b: a * b >> 32,
    "primitive.math.div": lambda a, b: a // b if b else 0,
    "primitive.math.mod": lambda a, b: a % b if b else 0,
    "primitive.bitwise.and": lambda a, b: a & b,
    "primitive.bitwise.or": lambda a, b: a | b,
    "primitive.bitwise.xor": lambda a, b: a ^ b,
    "primitive.bitwise.shl": lambda a, b: a * 2 ** (b % 32) & M32,
    "primitive.bitwise.shr": lambda a, b: a // 2 ** (b % 32),
    "primitive.compare.eq": lambda a, b: int(a == b),
    "primitive.compare.ne": lambda a, b: int(a != b),
    "primitive.compare.lt": lambda a, b: int(a < b),
    "primitive.compare.gt": lambda a, b: int(a > b),
    "primitive.compare.le": lambda a, b: int(a <= b),
    "primitive.compare.ge": lambda a, b: int(a >= b),
    "primitive.logical.and": lambda a, b: int(bool(a) and bool(b)),
    "primitive.logical.or": lambda a, b: int(bool(a) or bool(b)),
    "integer.min": min,
    "integer.max": max,
    "integer.add_sat": lambda a, b: min(a + b, M32),
    "integer.sub_sat": lambda a, b: max(a - b, 0),
    "signed.add_sat": lambda a, b: limited(signed(a) + signed(b)),
    "signed.sub_sat": lambda a, b: limited(signed(a) - signed(b)),
    "integer.abs_diff": lambda a, b: abs(a - b),
    "integer.rotl": rotate,
    "integer.rotr": lambda a, by: rotate(a, -by),
    "signed.div": lambda a, b: quotient(signed(a), signed(b)) & M32,
    "signed.mod": lambda a, b: (signed(a) - signed(b) * quotient(signed(a), signed(b))) & M32 if b else 0,
    "signed.shl": lambda a, by: signed(a) * 2 ** (by % 32) & M32,
    "signed.shr": lambda a, by: signed(a) // 2 ** (by % 32) & M32,
    "signed.lt": lambda a, b: int(signed(a) < signed(b)),
    "signed.gt": lambda a, b: int(signed(a) > signed(b)),
    "signed.le": lambda a, b: int(signed(a) <= signed(b)),
    "signed.ge": lambda a, b: int(signed(a) >= signed(b)),
    "signed.min": lambda a, b: min(signed(a), signed(b)) & M32,
    "signed.max": lambda a, b: max(signed(a), signed(b)) & M32,
    "bytes.lane": lambda x, i: octets(x)[i % 4],
    "bytes.dot4_u8": lambda a, b: sum(x * y for x, y in zip(octets(a), octets(b), strict=True)),
    "bytes.dot4_i8": lambda a, b: sum(x * y for x, y in zip(small(a), small(b), strict=True)) & M32,
}

_TERNARY: dict[str, Callable[[int, int, int], int]] = {
    "integer.clamp": lambda x, low, high: min(max(x, low), high),
    "signed.clamp": lambda x, low, high: min(max(signed(x), signed(low)), signed(high)) & M32,
    "integer.extract_bits": lambda a, offset, count: field(a, offset, count),
    "bytes.with_lane": with_lane,
}


def pack(*parts: int) -> int:
    return word(bytes(p % 256 for p in parts))


def long(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


def turned(x: int, by: int) -> int:
    digits = f"{x:064b}"
    return int(digits[by:] + digits[:by], 2)


def _wide_unary(prefix: str, bits: int) -> dict[str, Callable[[int], int]]:
    return {
        f"{prefix}.not": lambda a: (1 << bits) - 1 - a,
        f"{prefix}.popcount": lambda a: bin(a).count("1"),
        f"{prefix}.clz": lambda a: bits - a.bit_length(),
        f"{prefix}.ctz": lambda a: (f"{a:0{bits}b}"[::-1] + "1").index("1"),
    }


def _wide_binary(prefix: str, bits: int) -> dict[str, Callable[[int, int], int]]:
    size = 1 << bits
    return {
        f"{prefix}.add": lambda a, b: (a + b) % size,
        f"{prefix}.sub": lambda a, b: (a - b) % size,
        f"{prefix}.and": lambda a, b: a & b,
        f"{prefix}.or": lambda a, b: a | b,
        f"{prefix}.xor": lambda a, b: a ^ b,
        f"{prefix}.eq": lambda a, b: int(a == b),
        f"{prefix}.ne": lambda a, b: int(a != b),
        f"{prefix}.lt": lambda a, b: int(a < b),
        f"{prefix}.gt": lambda a, b: int(a > b),
        f"{prefix}.le": lambda a, b: int(a <= b),
        f"{prefix}.ge": lambda a, b: int(a >= b),
        f"{prefix}.min": min,
        f"{prefix}.max": max,
    }


_WIDE: dict[str, Callable[[int, int], int]] = {
    "wide.u64.mul": lambda a, b: a * b % 2**64,
    "wide.u64.shl": lambda a, by: a * 2 ** (by % 64) % 2**64,
    "wide.u64.shr": lambda a, by: a // 2 ** (by % 64),
    "wide.u128.shl": lambda a, by: a * 2 ** (by % 128) % 2**128,
    "wide.u128.shr": lambda a, by: a // 2 ** (by % 128),
    "wide.u64.rotl": lambda a, by: turned(a, by % 64),
    "wide.u64.rotr": lambda a, by: turned(a, -by % 64),
    "wide.i64.shr": lambda a, by: long(a) // 2 ** (by % 64) % 2**64,
    "wide.i64.lt": lambda a, b: int(long(a) < long(b)),
    "wide.i64.gt": lambda a, b: int(long(a) > long(b)),
    "wide.i64.le": lambda a, b: int(long(a) <= long(b)),
    "wide.i64.ge": lambda a, b: int(long(a) >= long(b)),
    "wide.i64.min": lambda a, b: min(long(a), long(b)) % 2**64,
    "wide.i64.max": lambda a, b: max(long(a), long(b)) % 2**64,
}

_MODULAR: dict[str, Callable[[int, int, int], int]] = {
    "integer.mul_mod": lambda a, b, m: a * b % m if m else 0,
    "integer.pow_mod": lambda a, e, m: pow(a, e, m) if m else 0,
}

_DIVISION: dict[str, Callable[[int, int], int]] = {
    "integer.gcd": math.gcd,
    "wide.u64.div": lambda a, b: a // b if b else 0,
    "wide.u64.mod": lambda a, b: a % b if b else 0,
    "wide.u128.mul": lambda a, b: a * b % 2**128,
    "wide.u128.div": lambda a, b: a // b if b else 0,
    "wide.u128.mod": lambda a, b: a % b if b else 0,
    "wide.i64.div": lambda a, b: quotient(long(a), long(b)) % 2**64,
    "wide.i64.mod": lambda a, b: (long(a) - long(b) * quotient(long(a), long(b))) % 2**64 if b else 0,
}

_LONG: dict[str, Callable[[int], int]] = {
    "wide.u64.swap": lambda a: int.from_bytes(a.to_bytes(8, "big"), "little"),
    "wide.i64.neg": lambda a: -a % 2**64,
    "wide.i64.abs": lambda a: abs(long(a)) % 2**64,
}

FORMULAS: dict[str, Callable[..., int]] = {
    **_UNARY,
    **_BINARY,
    **_TERNARY,
    "bytes.pack": pack,
    "integer.insert_bits": inserted,
    **_WIDE,
    **_MODULAR,
    **_DIVISION,
    **_LONG,
    **_wide_unary("wide.u64", 64),
    **_wide_binary("wide.u64", 64),
    **_wide_unary("wide.u128", 128),
    **_wide_binary("wide.u128", 128),
}
