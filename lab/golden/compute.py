"""Expected bits from MPFR, which shares nothing with the reference interpreter.

Arithmetic is computed a second time with exact fractions and the functions a second time with Arb balls
(python-flint); a disagreement stops the run.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any

from lab.golden.formats import exact, finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.golden.formats import Format

    Of1 = Callable[[Any], Any]
    Of2 = Callable[[Any, Any], Any]

flint: Any = import_module("flint")
gmpy2: Any = import_module("gmpy2")

COMPARE: dict[str, Of2] = {
    "FEq": lambda a, b: a == b,
    "FNe": lambda a, b: a != b,
    "FLt": lambda a, b: a < b,
    "FGt": lambda a, b: a > b,
    "FLe": lambda a, b: a <= b,
    "FGe": lambda a, b: a >= b,
}
ARITHMETIC: dict[str, tuple[Of2, Of2]] = {
    "FAdd": (gmpy2.add, lambda a, b: a + b),
    "FSub": (gmpy2.sub, lambda a, b: a - b),
    "FMul": (gmpy2.mul, lambda a, b: a * b),
    "FDiv": (gmpy2.div, lambda a, b: a / b),
}
OTHER_BINARY: dict[str, Of2] = {
    "FMin": gmpy2.minnum,
    "FMax": gmpy2.maxnum,
    "FATan2": gmpy2.atan2,
    "FPow": lambda a, b: a**b,
}
ROUNDINGS: dict[str, Of1] = {
    "FFloor": gmpy2.rint_floor,
    "FCeil": gmpy2.rint_ceil,
    "FRound": gmpy2.rint,
    "FTrunc": gmpy2.rint_trunc,
}
FUNCTIONS: dict[str, tuple[Of1, Of1]] = {
    "FSin": (gmpy2.sin, lambda x: x.sin()),
    "FCos": (gmpy2.cos, lambda x: x.cos()),
    "FTan": (gmpy2.tan, lambda x: x.tan()),
    "FASin": (gmpy2.asin, lambda x: x.asin()),
    "FACos": (gmpy2.acos, lambda x: x.acos()),
    "FATan": (gmpy2.atan, lambda x: x.atan()),
    "FExp": (gmpy2.exp, lambda x: x.exp()),
    "FLog": (gmpy2.log, lambda x: x.log()),
    "FExp2": (gmpy2.exp2, lambda x: flint.arb(2) ** x),
    "FLog2": (gmpy2.log2, lambda x: x.log() / flint.arb(2).log()),
    "FExp10": (gmpy2.exp10, lambda x: flint.arb(10) ** x),
    "FLog10": (gmpy2.log10, lambda x: x.log() / flint.arb(10).log()),
    "FErf": (gmpy2.erf, lambda x: x.erf()),
    "FTanh": (gmpy2.tanh, lambda x: x.tanh()),
    "FSinh": (gmpy2.sinh, lambda x: x.sinh()),
    "FCosh": (gmpy2.cosh, lambda x: x.cosh()),
    "FExpm1": (gmpy2.expm1, lambda x: x.expm1()),
    "FLog1p": (gmpy2.log1p, lambda x: x.log1p()),
    "FCbrt": (gmpy2.cbrt, lambda x: x.root(3) if x > 0 else -(-x).root(3)),
}


def ball(value: Any) -> Any:
    q = exact(value)
    return flint.arb(flint.fmpq(q.numerator, q.denominator))


def confirm(fmt: Format, bits: int, result: Any, name: str) -> None:
    """Both ends of an Arb ball must round to these bits; a range error has no second opinion here."""
    if not result.is_finite():
        return
    ends: list[int] = []
    for end in (result.lower(), result.upper()):
        man, exp = end.man_exp()
        if abs(int(exp)) > 5000:
            return
        ends.append(fmt.round(Fraction(int(man)) * Fraction(2) ** int(exp), bool(bits & fmt.sign)))
    if ends[0] == ends[1] and ends[0] != bits:
        sys.exit(f"MPFR and Arb disagree on {name}: {bits:#x} and {ends[0]:#x}")


def binary(op: str, fmt: Format, a: int, b: int) -> int:
    x, y = fmt.value(a), fmt.value(b)
    if op in COMPARE:
        return int(COMPARE[op](x, y))
    with fmt.context:
        compute = OTHER_BINARY[op] if op in OTHER_BINARY else ARITHMETIC[op][0]
        bits = fmt.bits(compute(x, y))
    if op in ARITHMETIC and finite(x, y) and not (op == "FDiv" and y == 0):
        second = fmt.round(ARITHMETIC[op][1](exact(x), exact(y)), bool(bits & fmt.sign))
        if second != bits:
            sys.exit(f"MPFR and fractions disagree on {op} {fmt.hex(a)} {fmt.hex(b)}")
    if op == "FATan2" and finite(x, y) and x != 0 and y != 0:
        confirm(fmt, bits, flint.arb.atan2(ball(x), ball(y)), op)
    if op == "FPow" and finite(x, y) and x > 0:
        confirm(fmt, bits, ball(x) ** ball(y), op)
    return bits


def unary(op: str, fmt: Format, a: int) -> int:
    x = fmt.value(a)
    if op == "FNeg":
        return a ^ fmt.sign
    if op == "FAbs":
        return a & ~fmt.sign
    if op == "FIsNaN":
        return int(gmpy2.is_nan(x))
    if op == "FIsInf":
        return int(gmpy2.is_infinite(x))
    with fmt.context:
        if op == "FSqrt":
            bits = fmt.bits(gmpy2.sqrt(x))
        elif op in ROUNDINGS:
            bits = fmt.bits(ROUNDINGS[op](x))
        else:
            bits = fmt.bits(FUNCTIONS[op][0](x))
    if op in FUNCTIONS and finite(x):
        confirm(fmt, bits, FUNCTIONS[op][1](ball(x)), f"{op} {fmt.hex(a)}")
    if op == "FSqrt" and finite(x) and x > 0:
        confirm(fmt, bits, ball(x).sqrt(), f"{op} {fmt.hex(a)}")
    return bits


def fma(fmt: Format, a: int, b: int, c: int) -> int:
    x, y, z = fmt.value(a), fmt.value(b), fmt.value(c)
    with fmt.context:
        bits = fmt.bits(gmpy2.fma(x, y, z))
    if finite(x, y, z):
        second = fmt.round(exact(x) * exact(y) + exact(z), bool(bits & fmt.sign))
        if second != bits:
            sys.exit(f"MPFR and fractions disagree on FMulAdd {fmt.hex(a)} {fmt.hex(b)} {fmt.hex(c)}")
    return bits


def to_integer(fmt: Format, mode: str, target: str, a: int) -> int:
    x = fmt.value(a)
    low, high = (0, 2**32 - 1) if target == "U32" else (-(2**31), 2**31 - 1)
    if gmpy2.is_nan(x):
        return 0
    if gmpy2.is_infinite(x):
        return high if x > 0 else low
    rounding: Any = {"Nearest": round, "Truncate": math.trunc, "Floor": math.floor, "Ceil": math.ceil}[mode]
    return min(max(rounding(exact(x)), low), high)


def fold(order: str, op: str, fmt: Format, values: list[int]) -> int:
    empty = {"Add": 0, "Mul": fmt.bias << fmt.fraction, "Min": fmt.infinity, "Max": fmt.infinity | fmt.sign}
    if not values:
        return empty[op]
    if len(values) == 1:
        return values[0]
    if order == "Strict":
        head, last = values[:-1], values[-1:]
    else:
        middle = 1 << ((len(values) - 1).bit_length() - 1)
        head, last = values[:middle], values[middle:]
    return binary("F" + op, fmt, fold(order, op, fmt, head), fold(order, op, fmt, last))
