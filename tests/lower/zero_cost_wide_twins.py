"""More integer ops written out by hand: saturation, fields, and the bits and signs of wide integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, Expr, Lane, LitU32, MakeVec, Select, UnOp
from vyre.ir.operators import UnaryOp as U
from vyre.ir.types import DataType as T

if TYPE_CHECKING:
    from tests.lower.zero_cost_twins import Hand, Twin

ONES = LitU32(0xFFFFFFFF)


def _add_sat(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = h.once("a", a), h.once("b", b)
    return Select(a + b < a, ONES, a + b)


def _sub_sat(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = h.once("a", a), h.once("b", b)
    return Select(a < b, LitU32(0), a - b)


def _field(h: Hand, offset: Expr, count: Expr) -> tuple[Expr, Expr]:
    start = h.let("start", Select(offset > 32, LitU32(32), offset))
    size = h.let("size", Select(LitU32(32) - start < count, LitU32(32) - start, count))
    return start, h.let("mask", Select(size, ONES >> (LitU32(32) - size), LitU32(0)))


def _extract(h: Hand, a: Expr, offset: Expr, count: Expr) -> Expr:
    offset, count = h.once("offset", offset), h.once("count", count)
    start, mask = _field(h, offset, count)
    return a >> start & mask


def _insert(h: Hand, a: Expr, bits: Expr, offset: Expr, count: Expr) -> Expr:
    offset, count = h.once("offset", offset), h.once("count", count)
    start, mask = _field(h, offset, count)
    return (a & ~(mask << start)) | (bits << start & mask << start)


def _sign(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    return Cast(T.I32, -(Cast(T.U32, a) >> 31) | (Cast(T.U32, a).eq(0) ^ 1))


def _ordered(value: Expr) -> Expr:
    return Cast(T.U32, value) ^ 0x80000000


def _clamp(h: Hand, x: Expr, low: Expr, high: Expr) -> Expr:
    x, low, high = h.once("x", x), h.once("low", low), h.once("high", high)
    raised = h.let("raised", Select(_ordered(x) < _ordered(low), low, x))
    return Select(_ordered(raised) > _ordered(high), high, raised)


def _saturating(*, adds: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = h.once("a", a), h.once("b", b)
        x, y = Cast(T.U32, a), Cast(T.U32, b)
        plain = h.let("plain", x + y if adds else x - y)
        past = (x ^ plain) & (y ^ plain) if adds else (x ^ y) & (x ^ plain)
        return Cast(T.I32, Select(past >> 31, (x >> 31) + 0x7FFFFFFF, plain))

    return twin


def _popcount(t: T) -> Twin:
    def twin(h: Hand, a: Expr) -> Expr:
        a = h.once("a", a)
        total: Expr = UnOp(U.Popcount, Lane(a, 0))
        for i in range(1, t.lanes):
            total = total + UnOp(U.Popcount, Lane(a, i))
        return total

    return twin


def _zeros(t: T, op: U) -> Twin:
    def twin(h: Hand, a: Expr) -> Expr:
        a = h.once("a", a)
        order = range(t.lanes) if op is U.Ctz else range(t.lanes - 1, -1, -1)
        rest = [Lane(a, i) for i in order]
        found: Expr = UnOp(op, rest[-1]) + 32 * (t.lanes - 1)
        for k in range(t.lanes - 2, 0, -1):
            found = Select(rest[k], UnOp(op, rest[k]) + 32 * k, found)
        return Select(rest[0], UnOp(op, rest[0]), found)

    return twin


def _u64_rotate(*, left: bool) -> Twin:
    def twin(h: Hand, a: Expr, amount: Expr) -> Expr:
        a, amount = h.once("a", a), h.once("amount", amount)
        by = amount if left else -amount
        small = h.let("small", by & 31)
        first = h.let("first", Select(by & 32, Lane(a, 1), Lane(a, 0)))
        second = h.let("second", Select(by & 32, Lane(a, 0), Lane(a, 1)))
        low = first << small | (second >> 1) >> (LitU32(31) - small)
        high = second << small | (first >> 1) >> (LitU32(31) - small)
        return MakeVec(T.U64, (low, high))

    return twin


def _u128_shl(h: Hand, a: Expr, amount: Expr) -> Expr:
    a, amount = h.once("a", a), h.once("amount", amount)
    small = h.let("small", amount & 31)
    x = [h.let("part0", Lane(a, 0) << small)]
    x += [
        h.let(f"part{k}", Lane(a, k) << small | (Lane(a, k - 1) >> 1) >> (LitU32(31) - small))
        for k in (1, 2, 3)
    ]
    y = [h.let(f"moved{k}", Select(amount & 32, low, x[k])) for k, low in enumerate([LitU32(0), *x[:3]])]
    low = [LitU32(0), LitU32(0), y[0], y[1]]
    return MakeVec(T.U128, tuple(Select(amount & 64, low[k], y[k]) for k in range(4)))


def _u128_shr(h: Hand, a: Expr, amount: Expr) -> Expr:
    """Counted from the highest lane down."""
    a, amount = h.once("a", a), h.once("amount", amount)
    small = h.let("small", amount & 31)
    x = [h.let("part0", Lane(a, 3) >> small)]
    x += [
        h.let(f"part{k}", Lane(a, 3 - k) >> small | (Lane(a, 4 - k) << 1) << (LitU32(31) - small))
        for k in (1, 2, 3)
    ]
    y = [h.let(f"moved{k}", Select(amount & 32, high, x[k])) for k, high in enumerate([LitU32(0), *x[:3]])]
    high = [LitU32(0), LitU32(0), y[0], y[1]]
    return MakeVec(T.U128, tuple(Select(amount & 64, high[k], y[k]) for k in (3, 2, 1, 0)))


def _u64_swap(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)

    def swapped(x: Expr) -> Expr:
        return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24

    return MakeVec(T.U64, (swapped(Lane(a, 1)), swapped(Lane(a, 0))))


def _i64_shr(h: Hand, a: Expr, amount: Expr) -> Expr:
    a, amount = h.once("a", a), h.once("amount", amount)
    small, whole = h.let("small", amount & 31), h.let("whole", amount & 32)
    mask = h.let("mask", -(Lane(a, 1) >> 31))
    first, second = h.let("first", Lane(a, 0) ^ mask), h.let("second", Lane(a, 1) ^ mask)
    kept = h.let("kept", second >> small)
    mixed = h.let("mixed", first >> small | (second << 1) << (LitU32(31) - small))
    return MakeVec(T.U64, (Select(whole, kept, mixed) ^ mask, Select(whole, LitU32(0), kept) ^ mask))


def _below(a: Expr, b: Expr) -> Expr:
    high = (Lane(a, 1) ^ 0x80000000) < (Lane(b, 1) ^ 0x80000000)
    return high | (Lane(a, 1).eq(Lane(b, 1)) & (Lane(a, 0) < Lane(b, 0)))


def _i64_order(*, swapped: bool, flipped: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = h.once("a", a), h.once("b", b)
        found = _below(b, a) if swapped else _below(a, b)
        return found ^ 1 if flipped else found

    return twin


def _i64_choice(*, swapped: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = h.once("a", a), h.once("b", b)
        return Select(_below(b, a) if swapped else _below(a, b), a, b)

    return twin


def _i64_neg(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    return MakeVec(T.U64, (-Lane(a, 0), ~Lane(a, 1) + Lane(a, 0).eq(0)))


def _i64_abs(h: Hand, a: Expr) -> Expr:
    a = h.once("a", a)
    mask = h.let("mask", -(Lane(a, 1) >> 31))
    first = h.let("first", (Lane(a, 0) ^ mask) - mask)
    return MakeVec(T.U64, (first, (Lane(a, 1) ^ mask) + (first.eq(0) & mask)))


def _counts(prefix: str, t: T) -> dict[str, Twin]:
    return {
        f"{prefix}.popcount": _popcount(t),
        f"{prefix}.clz": _zeros(t, U.Clz),
        f"{prefix}.ctz": _zeros(t, U.Ctz),
    }


WIDE_TWINS: dict[str, Twin] = {
    "integer.add_sat": _add_sat,
    "integer.sub_sat": _sub_sat,
    "integer.extract_bits": _extract,
    "integer.insert_bits": _insert,
    "signed.sign": _sign,
    "signed.clamp": _clamp,
    "signed.add_sat": _saturating(adds=True),
    "signed.sub_sat": _saturating(adds=False),
    **_counts("wide.u64", T.U64),
    "wide.u64.rotl": _u64_rotate(left=True),
    "wide.u64.rotr": _u64_rotate(left=False),
    "wide.u64.swap": _u64_swap,
    **_counts("wide.u128", T.U128),
    "wide.u128.shl": _u128_shl,
    "wide.u128.shr": _u128_shr,
    "wide.i64.shr": _i64_shr,
    "wide.i64.lt": _i64_order(swapped=False, flipped=False),
    "wide.i64.gt": _i64_order(swapped=True, flipped=False),
    "wide.i64.le": _i64_order(swapped=True, flipped=True),
    "wide.i64.ge": _i64_order(swapped=False, flipped=True),
    "wide.i64.min": _i64_choice(swapped=False),
    "wide.i64.max": _i64_choice(swapped=True),
    "wide.i64.neg": _i64_neg,
    "wide.i64.abs": _i64_abs,
}
