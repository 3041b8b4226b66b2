"""`wide.*.div` and `wide.*.mod`: long division of wide integers, a bit at a turn.

The highest word of `a` is divided by one instruction where `b` has one word, and is a remainder already
where `b` has more: so two words take 32 turns and four take 96, whatever the operands are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, MakeVec, Select, Var
from vyre.ir.node import Assign, Let, Loop
from vyre.ops.build import U64, U128, A, B, binary, fold, lanes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.node import Node
    from vyre.ir.op import Op
    from vyre.ir.types import DataType

_ZERO = LitU32(0)


def _either(words: Sequence[Expr]) -> Expr:
    return fold(words, lambda x, y: x | y)


def _turn(b: Sequence[Expr]) -> list[Node]:
    """The next bit of `digits` joins `rest`; `b` is taken off where it fits, which is the quotient's bit."""
    count = len(b)
    rest, digits = _words("rest", count), _words("digit", count - 1)
    moved, carry = _words("moved", count), Var("carry")
    row = [*digits, *rest]
    body: list[Node] = [Let("carry", rest[-1] >> 31)]
    body += [Let(moved[k].name, rest[k] << 1 | row[count - 2 + k] >> 31) for k in range(count)]
    less: Expr = moved[0] < b[0]
    borrows = [less]
    for x, y in zip(moved[1:], b[1:], strict=True):
        less = (x < y) | (x.eq(y) & less)
        borrows.append(less)
    body += [Let(f"borrow{k + 1}", borrow) for k, borrow in enumerate(borrows)]
    body.append(Let("fits", carry | (Var(f"borrow{count}") ^ 1)))
    for k in range(count):
        taken = b[k] if k == 0 else b[k] + Var(f"borrow{k}")
        body.append(Assign(rest[k].name, Select(Var("fits"), moved[k] - taken, moved[k])))
    body += [Assign(digits[k].name, digits[k] << 1 | digits[k - 1] >> 31) for k in range(count - 2, 0, -1)]
    return [*body, Assign(digits[0].name, digits[0] << 1 | Var("fits"))]


def _words(stem: str, count: int) -> list[Var]:
    return [Var(f"{stem}{k}") for k in range(count)]


def _divided(a: Sequence[Expr], b: Sequence[Expr]) -> list[Node]:
    """What leaves the quotient in `top` above `digit…` and the remainder in `rest…`, unless `b` is 0."""
    count, high = len(a), Var("high")
    body: list[Node] = [
        Let("high", _either(b[1:])),
        Let("top", Select(high, _ZERO, a[-1] // b[0])),
        Let("rest0", Select(high, a[-1], a[-1] % b[0])),
    ]
    body += [Let(f"rest{k}", _ZERO) for k in range(1, count)]
    body += [Let(f"digit{k}", a[k]) for k in range(count - 1)]
    return [*body, Loop("i", _ZERO, LitU32(32 * (count - 1)), tuple(_turn(b)))]


def _pair(prefix: str, t: DataType) -> list[Op]:
    count = t.lanes
    b = lanes(B, count)
    body = _divided(lanes(A, count), b)
    found = _either(b)
    quotient = [*_words("digit", count - 1), Var("top")]
    made = [
        MakeVec(t, tuple(Select(found, word, _ZERO) for word in words))
        for words in (quotient, _words("rest", count))
    ]
    return [
        binary(f"{prefix}.div", made[0], "Quotient, rounded down; 0 when `b` is 0.", of=t, body=body),
        binary(f"{prefix}.mod", made[1], "Remainder of the division; 0 when `b` is 0.", of=t, body=body),
    ]


def _magnitude(stem: str, of: Expr) -> list[Node]:
    """The words of a number without its sign; -2^63 is its own magnitude, 2^63."""
    low, high = lanes(of, 2)
    mask, first = Var(f"mask_{stem}"), Var(f"{stem}0")
    return [
        Let(mask.name, -(high >> 31)),
        Let(first.name, (low ^ mask) - mask),
        Let(f"{stem}1", (high ^ mask) + (first.eq(0) & mask)),
    ]


def _signed(name: str, first: Var, second: Var, sign: Expr, doc: str) -> Op:
    """Divides magnitudes, then gives the result its sign."""
    a, b = _words("a", 2), _words("b", 2)
    low = Var("low")
    body = [*_magnitude("a", A), *_magnitude("b", B), *_divided(a, b), Let("sign", sign)]
    body.append(Let("low", (Select(b[0] | b[1], first, _ZERO) ^ Var("sign")) - Var("sign")))
    high = Select(b[0] | b[1], second, _ZERO)
    result = MakeVec(U64, (low, (high ^ Var("sign")) + (low.eq(0) & Var("sign"))))
    return binary(f"wide.i64.{name}", result, doc, of=U64, body=body)


def ops() -> list[Op]:
    mask_a, mask_b = Var("mask_a"), Var("mask_b")
    return [
        *_pair("wide.u64", U64),
        *_pair("wide.u128", U128),
        _signed(
            "div",
            Var("digit0"),
            Var("top"),
            mask_a ^ mask_b,
            "Quotient, rounded toward zero; 0 when `b` is 0; -2^63 / -1 wraps to -2^63.",
        ),
        _signed(
            "mod",
            Var("rest0"),
            Var("rest1"),
            mask_a,
            "Remainder with the sign of `a`; 0 when `b` is 0.",
        ),
    ]
