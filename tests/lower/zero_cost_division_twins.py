"""Division, products of four words and arithmetic with a modulus, written out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Lane, LitU32, MakeVec, Select, Var, mul_hi
from vyre.ir.node import Assign, Break, If, Let, Loop, Node
from vyre.ir.types import DataType as T

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lower.zero_cost_twins import Hand

    Twin = Callable[..., Expr]

ZERO = LitU32(0)


def _gcd(h: Hand, a: Expr, b: Expr) -> Expr:
    x, y = h.let("x", a), h.let("y", b)
    left = Var(h.name("left"))
    turn = (
        If(y.eq(0), (Break(),)),
        Let(left.name, x % y),
        Assign(x.name, y),
        Assign(y.name, left),
    )
    h.statements.append(Loop(h.name("i"), ZERO, LitU32(47), turn))
    return x


def _mul_mod(h: Hand, a: Expr, b: Expr, modulus: Expr) -> Expr:
    a, b, modulus = h.once("a", a), h.once("b", b), h.once("modulus", modulus)
    rest, digits = h.let("rest", mul_hi(a, b) % modulus), h.let("digits", a * b)
    h.statements.append(_reduction(h, rest, digits, modulus))
    return Select(modulus, rest, ZERO)


def _reduction(h: Hand, rest: Var, digits: Var, modulus: Expr) -> Loop:
    moved, fits = Var(h.name("moved")), Var(h.name("fits"))
    turn = (
        Let(moved.name, rest << 1 | digits >> 31),
        Let(fits.name, rest >> 31 | (moved >= modulus)),
        Assign(rest.name, Select(fits, moved - modulus, moved)),
        Assign(digits.name, digits << 1),
    )
    return Loop(h.name("i"), ZERO, LitU32(32), turn)


def _pow_mod(h: Hand, a: Expr, exponent: Expr, modulus: Expr) -> Expr:
    modulus = h.once("modulus", modulus)
    power, base = h.let("power", LitU32(1) % modulus), h.let("base", a % modulus)
    bits = h.let("bits", exponent)
    names = {stem: h.name(stem) for stem in ("i",)}
    multiplied, squared = ([*_product(h, x, base, modulus)] for x in (power, base))
    turn = (
        If(bits.eq(0), (Break(),)),
        If(bits & 1, (*multiplied[:-1], Assign(power.name, _value(multiplied)))),
        *squared[:-1],
        Assign(base.name, _value(squared)),
        Assign(bits.name, bits >> 1),
    )
    h.statements.append(Loop(names["i"], ZERO, LitU32(32), turn))
    return power


def _product(h: Hand, x: Expr, y: Expr, modulus: Expr) -> list[Node]:
    """The statements of a product with a modulus under names of its own; the last one holds its value."""
    h.group()
    rest, digits = Var(h.name("rest")), Var(h.name("digits"))
    begun = [Let(rest.name, mul_hi(x, y) % modulus), Let(digits.name, x * y)]
    return [*begun, _reduction(h, rest, digits, modulus), Let("value", Select(modulus, rest, ZERO))]


def _value(statements: list[Node]) -> Expr:
    last = statements[-1]
    assert isinstance(last, Let)
    return last.value


def _joined(words: list[Expr]) -> Expr:
    total = words[0]
    for word in words[1:]:
        total = total | word
    return total


def _division(h: Hand, a: list[Expr], b: list[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The words of the quotient and of the remainder, unless the divisor is 0."""
    count = len(a)
    high = h.let("high", _joined(b[1:]))
    top = h.let("top", Select(high, ZERO, a[-1] // b[0]))
    rest = [h.let("rest0", Select(high, a[-1], a[-1] % b[0]))]
    rest += [h.let(f"rest{k}", ZERO) for k in range(1, count)]
    digits = [h.let(f"digit{k}", a[k]) for k in range(count - 1)]
    moved = [Var(h.name(f"moved{k}")) for k in range(count)]
    borrows = [Var(h.name(f"borrow{k + 1}")) for k in range(count)]
    carry, fits = Var(h.name("carry")), Var(h.name("fits"))
    turn: list[Node] = [Let(carry.name, rest[-1] >> 31)]
    turn.append(Let(moved[0].name, rest[0] << 1 | digits[-1] >> 31))
    turn += [Let(moved[k].name, rest[k] << 1 | rest[k - 1] >> 31) for k in range(1, count)]
    less: Expr = moved[0] < b[0]
    turn.append(Let(borrows[0].name, less))
    for k in range(1, count):
        less = (moved[k] < b[k]) | (moved[k].eq(b[k]) & less)
        turn.append(Let(borrows[k].name, less))
    turn.append(Let(fits.name, carry | (borrows[-1] ^ 1)))
    turn.append(Assign(rest[0].name, Select(fits, moved[0] - b[0], moved[0])))
    turn += [
        Assign(rest[k].name, Select(fits, moved[k] - (b[k] + borrows[k - 1]), moved[k]))
        for k in range(1, count)
    ]
    turn += [Assign(digits[k].name, digits[k] << 1 | digits[k - 1] >> 31) for k in range(count - 2, 0, -1)]
    turn.append(Assign(digits[0].name, digits[0] << 1 | fits))
    h.statements.append(Loop(h.name("i"), ZERO, LitU32(32 * (count - 1)), tuple(turn)))
    return [*digits, top], [*rest]


def _divide(t: T, *, quotient: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = h.once("a", a), h.once("b", b)
        words = [Lane(b, k) for k in range(t.lanes)]
        found = _division(h, [Lane(a, k) for k in range(t.lanes)], [*words])[0 if quotient else 1]
        return MakeVec(t, tuple(Select(_joined([*words]), word, ZERO) for word in found))

    return twin


def _size(h: Hand, stem: str, value: Expr) -> tuple[Expr, list[Expr]]:
    mask = h.let(f"mask_{stem}", -(Lane(value, 1) >> 31))
    low = h.let(f"{stem}0", (Lane(value, 0) ^ mask) - mask)
    return mask, [low, h.let(f"{stem}1", (Lane(value, 1) ^ mask) + (low.eq(0) & mask))]


def _signed(*, quotient: bool) -> Twin:
    def twin(h: Hand, a: Expr, b: Expr) -> Expr:
        a, b = h.once("a", a), h.once("b", b)
        (mask_a, size_a), (mask_b, size_b) = _size(h, "a", a), _size(h, "b", b)
        first, second = _division(h, size_a, size_b)[0 if quotient else 1]
        sign = h.let("sign", mask_a ^ mask_b if quotient else mask_a)
        some = size_b[0] | size_b[1]
        low = h.let("low", (Select(some, first, ZERO) ^ sign) - sign)
        return MakeVec(T.U64, (low, (Select(some, second, ZERO) ^ sign) + (low.eq(0) & sign)))

    return twin


def _u128_mul(h: Hand, a: Expr, b: Expr) -> Expr:
    a, b = h.once("a", a), h.once("b", b)
    x, y = ([Lane(v, k) for k in range(4)] for v in (a, b))
    sums: list[Expr] = []
    for j in range(4):
        total = h.let(f"product0{j}", x[0] * y[j])
        high = mul_hi(x[0], y[j])
        if j:
            before, total = total, h.let(f"sum0{j}0", total + Var(h.name(f"carry0{j - 1}")))
            high = high + (total < before)
        if j < 3:
            h.let(f"carry0{j}", high)
        sums.append(total)
    for i in range(1, 4):
        for j in range(4 - i):
            product = h.let(f"product{i}{j}", x[i] * y[j])
            total = h.let(f"sum{i}{j}0", product + sums[i + j])
            high = mul_hi(x[i], y[j]) + (total < product)
            if j:
                before, total = total, h.let(f"sum{i}{j}1", total + Var(h.name(f"carry{i}{j - 1}")))
                high = high + (total < before)
            if i + j < 3:
                h.let(f"carry{i}{j}", high)
            sums[i + j] = total
    return MakeVec(T.U128, tuple(sums))


DIVISION_TWINS: dict[str, Twin] = {
    "integer.gcd": _gcd,
    "integer.mul_mod": _mul_mod,
    "integer.pow_mod": _pow_mod,
    "wide.u64.div": _divide(T.U64, quotient=True),
    "wide.u64.mod": _divide(T.U64, quotient=False),
    "wide.u128.mul": _u128_mul,
    "wide.u128.div": _divide(T.U128, quotient=True),
    "wide.u128.mod": _divide(T.U128, quotient=False),
    "wide.i64.div": _signed(quotient=True),
    "wide.i64.mod": _signed(quotient=False),
}
