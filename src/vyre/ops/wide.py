"""`wide.u64.*` and `wide.u128.*`: wide integers composed from u32 lanes, lane 0 lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, MakeVec, Select, Var, mul_hi
from vyre.ir.node import Let
from vyre.ops.build import U32, U64, U128, A, B, binary, fold, lanes, shift, unary

if TYPE_CHECKING:
    from vyre.ir.node import Node
    from vyre.ir.op import Op
    from vyre.ir.types import DataType


def _add(prefix: str, t: DataType) -> Op:
    """Lane by lane; of the two additions in a lane at most one wraps, so the carry is 0 or 1."""
    first, *rest = zip(lanes(A, t.lanes), lanes(B, t.lanes), strict=True)
    body: list[Node] = [Let("sum0", first[0] + first[1])]
    carry: Expr = Var("sum0") < first[0]
    for i, (a, b) in enumerate(rest, start=1):
        part = Var(f"part{i}")
        body += [Let(f"carry{i}", carry), Let(part.name, a + b), Let(f"sum{i}", part + Var(f"carry{i}"))]
        carry = (part < a) | (Var(f"sum{i}") < part)
    result = MakeVec(t, tuple(Var(f"sum{i}") for i in range(t.lanes)))
    return binary(f"{prefix}.add", result, f"Sum modulo 2^{t.bits}.", of=t, body=body)


def _sub(prefix: str, t: DataType) -> Op:
    first, *rest = zip(lanes(A, t.lanes), lanes(B, t.lanes), strict=True)
    body: list[Node] = [Let("difference0", first[0] - first[1])]
    borrow: Expr = first[0] < first[1]
    for i, (a, b) in enumerate(rest, start=1):
        taken, part = Var(f"borrow{i}"), Var(f"part{i}")
        body += [Let(taken.name, borrow), Let(part.name, a - b), Let(f"difference{i}", part - taken)]
        borrow = (a < b) | (part < taken)
    result = MakeVec(t, tuple(Var(f"difference{i}") for i in range(t.lanes)))
    return binary(f"{prefix}.sub", result, f"Difference modulo 2^{t.bits}.", of=t, body=body)


def _less(t: DataType, x: Expr, y: Expr) -> Expr:
    """1 where x < y: the highest lane that differs decides."""
    pairs = list(zip(lanes(x, t.lanes), lanes(y, t.lanes), strict=True))
    below: Expr = pairs[0][0] < pairs[0][1]
    for a, b in pairs[1:]:
        below = (a < b) | (a.eq(b) & below)
    return below


def _equal(t: DataType) -> Expr:
    differences = [a ^ b for a, b in zip(lanes(A, t.lanes), lanes(B, t.lanes), strict=True)]
    return fold(differences, lambda x, y: x | y).eq(0)


def _common(prefix: str, t: DataType) -> list[Op]:
    pairs = list(zip(lanes(A, t.lanes), lanes(B, t.lanes), strict=True))
    less, greater, equal = _less(t, A, B), _less(t, B, A), _equal(t)
    return [
        _add(prefix, t),
        _sub(prefix, t),
        binary(f"{prefix}.and", MakeVec(t, tuple(a & b for a, b in pairs)), "Bits set in both.", of=t),
        binary(f"{prefix}.or", MakeVec(t, tuple(a | b for a, b in pairs)), "Bits set in either.", of=t),
        binary(f"{prefix}.xor", MakeVec(t, tuple(a ^ b for a, b in pairs)), "Bits that differ.", of=t),
        unary(f"{prefix}.not", MakeVec(t, tuple(~a for a, _ in pairs)), "Every bit flipped.", of=t),
        binary(f"{prefix}.eq", equal, "1 when equal, else 0.", of=t, gives=U32),
        binary(f"{prefix}.ne", equal ^ 1, "1 when different, else 0.", of=t, gives=U32),
        binary(f"{prefix}.lt", less, "1 when `a` is below `b`, else 0.", of=t, gives=U32),
        binary(f"{prefix}.gt", greater, "1 when `a` is above `b`, else 0.", of=t, gives=U32),
        binary(f"{prefix}.le", greater ^ 1, "1 when `a` is at most `b`, else 0.", of=t, gives=U32),
        binary(f"{prefix}.ge", less ^ 1, "1 when `a` is at least `b`, else 0.", of=t, gives=U32),
        binary(f"{prefix}.min", Select(less, A, B), "The lesser.", of=t),
        binary(f"{prefix}.max", Select(greater, A, B), "The greater.", of=t),
    ]


def _u64_mul() -> Op:
    (a0, a1), (b0, b1) = lanes(A, 2), lanes(B, 2)
    result = MakeVec(U64, (a0 * b0, mul_hi(a0, b0) + a0 * b1 + a1 * b0))
    return binary("wide.u64.mul", result, "Product modulo 2^64.", of=U64)


def _u128_mul() -> Op:
    """Row by row: a product, the word that it is added to and a carry have room in two words."""
    a, b = lanes(A, 4), lanes(B, 4)
    body: list[Node] = []
    sums: list[Expr] = []
    for i in range(4):
        carry: Expr | None = None
        for j in range(4 - i):
            terms = [sums[i + j]] if i else []
            terms += [] if carry is None else [carry]
            total, high = Var(f"product{i}{j}"), mul_hi(a[i], b[j])
            body.append(Let(total.name, a[i] * b[j]))
            for k, term in enumerate(terms):
                before, total = total, Var(f"sum{i}{j}{k}")
                body.append(Let(total.name, before + term))
                high += total < before
            if i + j < 3:
                body.append(Let(f"carry{i}{j}", high))
                carry = Var(f"carry{i}{j}")
            sums[i + j : i + j + 1] = [total]
    return binary("wide.u128.mul", MakeVec(U128, tuple(sums)), "Product modulo 2^128.", of=U128, body=body)


def _u64_shift(name: str, *, left: bool) -> Op:
    """Shifts by `small` within 32 bits, then moves a whole lane where bit 5 of the amount is set."""
    low, high = lanes(A, 2)
    near, far = (low, high) if left else (high, low)
    small, whole = Var("small"), Var("whole")
    kept, mixed = Var("kept"), Var("mixed")
    # Two steps, because a shift by 32 - 0 would be masked to a shift by nothing.
    crossing = (near >> 1) >> (31 - small) if left else (near << 1) << (31 - small)
    body = (
        Let("small", Var("amount") & 31),
        Let("whole", Var("amount") & 32),
        Let("kept", near << small if left else near >> small),
        Let("mixed", (far << small if left else far >> small) | crossing),
    )
    emptied, filled = Select(whole, LitU32(0), kept), Select(whole, kept, mixed)
    result = MakeVec(U64, (emptied, filled) if left else (filled, emptied))
    side = "left" if left else "right"
    doc = f"`a` shifted {side} by the low 6 bits of `amount`, zeros moving in."
    return shift(f"wide.u64.{name}", result, doc, of=U64, body=body)


def ops() -> list[Op]:
    return [
        *_common("wide.u64", U64),
        _u64_mul(),
        _u64_shift("shl", left=True),
        _u64_shift("shr", left=False),
        *_common("wide.u128", U128),
        _u128_mul(),
    ]
