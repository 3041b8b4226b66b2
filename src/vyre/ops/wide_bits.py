"""`wide.u64.*`, `wide.u128.*`: counting, rotating and shifting the bits of wide integers, lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Lane, LitU32, MakeVec, Select, UnOp, Var
from vyre.ir.node import Let
from vyre.ir.operators import UnaryOp
from vyre.ops.build import U32, U64, U128, A, fold, lanes, shift, unary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op
    from vyre.ir.types import DataType

_SMALL = Var("small")


def joined(low: Expr, high: Expr) -> Expr:
    """The high lane of two, shifted left by `small`; in two steps, as a shift by 32 would be one by 0."""
    return high << _SMALL | (low >> 1) >> (31 - _SMALL)


def _count(parts: Sequence[Lane], op: UnaryOp) -> Expr:
    """Zeros up to the first lane that has a bit set; the last lane counts 32 where it has none."""
    last = len(parts) - 1
    found: Expr = UnOp(op, parts[last]) + 32 * last
    for i in range(last - 1, -1, -1):
        counted: Expr = UnOp(op, parts[i]) + 32 * i if i else UnOp(op, parts[i])
        found = Select(parts[i], counted, found)
    return found


def _counts(prefix: str, t: DataType) -> list[Op]:
    parts = lanes(A, t.lanes)
    ones = fold([UnOp(UnaryOp.Popcount, part) for part in parts], lambda x, y: x + y)
    above, below = _count(parts[::-1], UnaryOp.Clz), _count(parts, UnaryOp.Ctz)
    high, low = f"above the highest set bit; {t.bits} for 0.", f"below the lowest set bit; {t.bits} for 0."
    return [
        unary(f"{prefix}.popcount", ones, "How many bits are set.", of=t, gives=U32),
        unary(f"{prefix}.clz", above, f"Zero bits {high}", of=t, gives=U32),
        unary(f"{prefix}.ctz", below, f"Zero bits {low}", of=t, gives=U32),
    ]


def _swapped(a: Expr) -> Expr:
    return a << 24 | (a & 0xFF00) << 8 | (a >> 8 & 0xFF00) | a >> 24


def _rotation(name: str, amount: Expr, side: str) -> Op:
    """Two lanes that change places where bit 5 of the amount is set, then a shift within each."""
    low, high = lanes(A, 2)
    first, second = Var("first"), Var("second")
    body = (
        Let("small", amount & 31),
        Let("first", Select(amount & 32, high, low)),
        Let("second", Select(amount & 32, low, high)),
    )
    result = MakeVec(U64, (joined(second, first), joined(first, second)))
    doc = f"`a` rotated {side} by the low 6 bits of `amount`."
    return shift(f"wide.u64.{name}", result, doc, of=U64, body=body)


def _u128_shift(name: str, *, left: bool) -> Op:
    """Shifts by `small` within 32 bits, then moves lanes, by one where bit 5 of the amount is set and by two
    where bit 6 is."""
    amount, zero = Var("amount"), LitU32(0)
    parts = list(lanes(A, 4)) if left else list(lanes(A, 4))[::-1]
    body = [Let("small", amount & 31)]
    for i, part in enumerate(parts):
        near = part << _SMALL if left else part >> _SMALL
        if i:
            before = parts[i - 1]
            near |= (before >> 1) >> (31 - _SMALL) if left else (before << 1) << (31 - _SMALL)
        body.append(Let(f"part{i}", near))
    body += [
        Let(f"moved{i}", Select(amount & 32, Var(f"part{i - 1}") if i else zero, Var(f"part{i}")))
        for i in range(4)
    ]
    made = [Select(amount & 64, Var(f"moved{i - 2}") if i > 1 else zero, Var(f"moved{i}")) for i in range(4)]
    side = "left" if left else "right"
    doc = f"`a` shifted {side} by the low 7 bits of `amount`, zeros moving in."
    result = MakeVec(U128, tuple(made if left else made[::-1]))
    return shift(f"wide.u128.{name}", result, doc, of=U128, body=body)


def ops() -> list[Op]:
    amount = Var("amount")
    swapped = MakeVec(U64, tuple(_swapped(Lane(A, i)) for i in (1, 0)))
    return [
        *_counts("wide.u64", U64),
        _rotation("rotl", amount, "left"),
        _rotation("rotr", -amount, "right"),
        unary("wide.u64.swap", swapped, "The eight bytes in reverse order.", of=U64),
        *_counts("wide.u128", U128),
        _u128_shift("shl", left=True),
        _u128_shift("shr", left=False),
    ]
