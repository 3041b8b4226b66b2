"""Inputs on which float code goes wrong: special values, and hard cases by number.

Hard case `k` of a seed is a pure function of both, so a failing case can be made again alone. The
generators are ops themselves, so whatever runs ops can make its own inputs. The kinds: random bits;
equal or neighbouring exponents; values that cancel but for a few bits; operands whose sum, product or
quotient lies next to a midpoint, at the border of the subnormals, or at overflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, Operand, Var, lift, mul_hi, select
from vyre.numeric.formula import Formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op
    from vyre.numeric.soft.layout import Layout


def specials(fmt: Layout) -> list[int]:
    """About 60 values: both zeros and infinities, NaNs, the ends of each range, ties, small integers."""
    top = fmt.infinity - 1
    unit = fmt.bias + fmt.fraction_bits
    positive = {
        0, 1, 2, 3, fmt.hidden - 1, fmt.hidden, fmt.hidden + 1, fmt.hidden * 2 - 1, fmt.hidden * 2,
        fmt.hidden >> 1, fmt.one, fmt.one + 1, fmt.one - 1, fmt.one - fmt.hidden, fmt.one - fmt.hidden + 1,
        fmt.one - fmt.hidden - 1, fmt.one + (fmt.hidden >> 1), fmt.one + fmt.hidden, top, top - 1,
        top - fmt.hidden, fmt.infinity, fmt.infinity + 1, fmt.nan, fmt.nan + 1, fmt.magnitude,
        (unit << fmt.fraction_bits), (unit << fmt.fraction_bits) + 1, ((unit - 1) << fmt.fraction_bits) + 1,
        (fmt.bias - fmt.fraction_bits << fmt.fraction_bits) + 1,
        min(fmt.bias + 31, fmt.exponent - 1) << fmt.fraction_bits,
    }  # fmt: skip
    return sorted(positive | {value | fmt.sign for value in positive})


def mixed(f: Formula, number: Expr, seed: Expr, stream: int, name: str) -> Var:
    """32 bits that depend on all bits of `number` and `seed`: two rounds of multiply and xor-shift."""
    x = f(f"{name}_0", (number ^ stream * 0x9E3779B1 & 0xFFFFFFFF) * 0x85EBCA77 + seed)
    x = f(f"{name}_1", (x ^ x >> 16) * 0x7FEB352D)
    x = f(f"{name}_2", (x ^ x >> 15) * 0x846CA68B)
    return f(name, x ^ x >> 16)


def pick(f: Formula, name: str, index: Expr, choices: Sequence[Operand]) -> Var:
    """One of the choices; the last for every index beyond."""
    value = lift(choices[-1])
    for position, choice in reversed(list(enumerate(choices[:-1]))):
        value = select(index.eq(position), choice, value)
    return f(name, value)


def _start(fmt: Layout, name: str, *more: str) -> tuple[Formula, Var, Var, Var]:
    f = Formula(f"cases.{fmt.type.value.lower()}.{name}", "number", "seed", *more, doc="One hard case.")
    number, seed = f.params[:2]
    bits = mixed(f, number, seed, 0, "bits")
    how = mixed(f, number, seed, 1, "how")
    return f, f("first", bits & (fmt.sign | fmt.magnitude)), mixed(f, number, seed, 2, "more"), how


def first_operand(fmt: Layout) -> Op:
    """`a` of a pair; every eighth has a fraction of few bits."""
    f, first, _, how = _start(fmt, "first")
    sparse = (fmt.sign | fmt.magnitude) & ~(fmt.fraction >> 4 & ~1)
    return f.gives(select((how & 7).eq(7), first & sparse, first))


def second_operand(fmt: Layout) -> Op:
    """`b` of a pair, chosen for what it does together with `a`."""
    f, a, more, how = _start(fmt, "second")
    exponents, loose = fmt.infinity, fmt.sign | fmt.fraction
    few = f("few", how >> 8 & 15)
    field = f("field", a & exponents)
    near = field + (few - 8) * fmt.hidden
    far = field - (few + (fmt.fraction_bits - 6)) * fmt.hidden
    tiny = ((fmt.bias + 2) << fmt.fraction_bits) - field + (few << fmt.fraction_bits)
    huge = ((2 * fmt.exponent - fmt.bias - 1) << fmt.fraction_bits) - field
    choices: list[Operand] = [
        more,
        more & loose | near & exponents,
        a ^ fmt.sign ^ few,
        (more & (fmt.sign | 7)) + (far & exponents),
        more & loose | tiny & exponents,
        more & loose | huge & exponents,
        more & (fmt.sign | fmt.hidden * 2 - 1),
        more & fmt.sign | field | few << (fmt.fraction_bits - 4) | few & 1,
    ]
    second = pick(f, "second", how & 7, choices)
    return f.gives(second & (fmt.sign | fmt.magnitude))


def dividend(fmt: Layout) -> Op:
    """For a divisor `b`, an `a` whose quotient is as close to a midpoint as the last bit of `a` allows."""
    f, a, more, how = _start(fmt, "dividend", "b")
    b = f.params[2]
    significand = f("significand", b & fmt.fraction | fmt.hidden)
    middle = f("middle", (more & fmt.fraction | fmt.hidden) << 1 | 1)
    spare = 31 - fmt.fraction_bits
    # The product moved down by fraction_bits + 1, so that it is a significand again or twice one.
    product = f("product", mul_hi(significand << spare, middle))
    close = f("close", product + (how >> 20 & 3) - 1)
    return f.gives(a & (fmt.sign | fmt.infinity) | close & fmt.fraction)


def addend(fmt: Layout) -> Op:
    """`c` of an fma for the rounded `product` of the pair: cancelling it, or close to half its last place."""
    f, _, more, how = _start(fmt, "addend", "product")
    product = f.params[2]
    few, far = f("few", how >> 8 & 7), f("far", how >> 16 & 63)
    place = f("place", (product & fmt.infinity) + (far - (fmt.fraction_bits + 8)) * fmt.hidden & fmt.infinity)
    choices: list[Operand] = [
        more,
        product ^ fmt.sign ^ few,
        place | more & (fmt.sign | 3),
        place | more & (fmt.sign | fmt.fraction),
    ]
    return f.gives(pick(f, "chosen", how >> 4 & 3, choices) & (fmt.sign | fmt.magnitude))
