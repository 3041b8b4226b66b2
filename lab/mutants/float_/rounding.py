"""Results rounded wrongly: cut off, upwards, ties away from zero, or twice by way of another format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, one, planted
from lab.mutants.float_.format import F32, FORMATS, binary, unary
from vyre.ir.expr import Cast, Convert, Expr, FMulAdd, Select
from vyre.ir.operators import RoundMode
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.float_.fault import Build
    from lab.mutants.float_.format import Format
    from lab.mutants.mutant import Mutant

CUT, UP, AWAY, TWICE = "rounded toward zero", "rounded upwards", "ties away from zero", "rounded twice"
_ARITHMETIC = ("FAdd", "FSub", "FMul", "FDiv", "FSqrt")


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _faults() -> Iterator[Fault]:
    for f in FORMATS:
        for op in _ARITHMETIC:
            name, words = f"{op} {f.type.value}", _inexact(f, op)
            yield Fault(CUT, name, _rounded(f, op, _cut), words)
            yield Fault(UP, name, _rounded(f, op, _up), _below(f, op))
        for op in ("FAdd", "FSub", "FMul"):
            yield Fault(AWAY, f"{op} {f.type.value}", _rounded(f, op, _away), _tie(f, op))
        yield from _fused_twice(f)
    yield from _narrowing()
    yield from _integers()


def _inexact(f: Format, op: str) -> tuple[int, ...]:
    """Operands whose result is rounded up."""
    ulp = 2.0**-f.layout.fraction_bits
    match op:
        case "FAdd":
            return f.words("one", ulp * 0.75)
        case "FSub":
            return f.words("one", -ulp * 0.75)
        case "FMul":
            return f.words("above one", 1.5)
        case "FDiv":
            return f.words(5.0 if f.type is DataType.F16 else 1.0, 3.0)
        case _:
            return f.words(5.0 if f.type is DataType.F32 else 3.0)


def _below(f: Format, op: str) -> tuple[int, ...]:
    """Operands whose result is rounded down."""
    ulp = 2.0**-f.layout.fraction_bits
    match op:
        case "FAdd":
            return f.words("one", ulp / 4)
        case "FSub":
            return f.words("one", -ulp / 4)
        case "FMul":
            return f.words("above one", "above one")
        case "FDiv":
            return f.words(1.0 if f.type is DataType.F16 else 5.0, 3.0)
        case _:
            return f.words(2.0)


def _tie(f: Format, op: str) -> tuple[int, ...]:
    """Operands whose result is halfway between two, of which the smaller is even."""
    half = 2.0 ** -(f.layout.fraction_bits + 1)
    match op:
        case "FAdd":
            return f.words("one", half)
        case "FSub":
            return f.words("one", -half)
        case _:
            odd = f.word("one") + 3
            return odd, f.word(1.5)


def _rounded(f: Format, op: str, by: Callable[[Format, Expr], Expr]) -> Build:
    """The operation in the wider type, then narrowed in another way."""

    def wrong(*x: Expr) -> Expr:
        wide = [f.widened(v) for v in x]
        return by(f, unary(op, wide[0]) if len(x) == 1 else binary(op, *wide))

    return wrong


def _cut(f: Format, exact: Expr) -> Expr:
    near = f.narrowed(exact)
    over = binary("FGt", unary("FAbs", f.widened(near)), unary("FAbs", exact))
    return f.chosen(over, f.bits(near) - 1, near)


def _up(f: Format, exact: Expr) -> Expr:
    near = f.narrowed(exact)
    low = binary("FLt", f.widened(near), exact)
    further = Select((f.bits(near) & f.layout.sign).ne(0), f.bits(near) - 1, f.bits(near) + 1)
    return f.chosen(low, further, near)


def _away(f: Format, exact: Expr) -> Expr:
    near = f.narrowed(exact)
    size = unary("FAbs", exact)
    below = unary("FAbs", f.widened(near))
    above = unary("FAbs", f.widened(f.moved(near, 1)))
    tie = binary("FEq", binary("FSub", above, size), binary("FSub", size, below))
    return f.chosen(tie & binary("FGt", size, below), f.bits(near) + 1, near)


_HALFWAY = {"F32": (4097.0, 4099.0), "F16": (45.0, 91.0), "BF16": (7.0, 37.0)}
"""Factors whose product is halfway between two values, so that the smallest summand decides."""


def _fused_twice(f: Format) -> Iterator[Fault]:
    name, words = f"FMulAdd {f.type.value}", _HALFWAY[f.type.value]

    def wide(a: Expr, b: Expr, c: Expr) -> Expr:
        product = binary("FMul", f.widened(a), f.widened(b))
        return f.narrowed(binary("FAdd", product, f.widened(c)))

    def wide_fused(a: Expr, b: Expr, c: Expr) -> Expr:
        return f.narrowed(FMulAdd(f.widened(a), f.widened(b), f.widened(c)))

    def unfused(a: Expr, b: Expr, c: Expr) -> Expr:
        return binary("FAdd", binary("FMul", a, b), c)

    by = f"by way of {f.wide.value}"
    small = -(2.0**-20) if f.type is DataType.F16 else -(2.0**-60)
    yield Fault(TWICE, name, wide, f.words(*words, small), note=by)
    yield Fault(TWICE, name, wide_fused, f.words(*words, small), note=f"fused {by}")
    yield Fault("fused operation made of two", name, unfused, f.words(*words, small))
    if f.type is not DataType.F32:

        def doubles(a: Expr, b: Expr, c: Expr) -> Expr:
            product = binary("FMul", f.doubled(a), f.doubled(b))
            return f.narrowed(Cast(DataType.F32, binary("FAdd", product, f.doubled(c))))

        yield Fault(TWICE, name, doubles, f.words(*words, small), note="by way of F64 and F32")


def _narrowing() -> Iterator[Fault]:
    _, f16, bf16 = FORMATS
    for f in (f16, bf16):
        name = f"Cast F32 {f.type.value}"
        half = 2.0 ** -(f.layout.fraction_bits + 1)
        yield one(CUT, name, lambda x, f=f: _cut(f, x), F32.words(1 + half * 1.5))
        yield one(UP, name, lambda x, f=f: _up(f, x), F32.words(1 + half / 2))
        yield one(AWAY, name, lambda x, f=f: _away(f, x), F32.words(1 + half))

        def largest(x: Expr, f: Format = f) -> Expr:
            near = f.narrowed(x)
            full = (f.bits(near) & f.layout.magnitude).eq(f.layout.infinity) & (
                F32.bits(x) & F32.layout.magnitude
            ).ne(F32.layout.infinity)
            return f.chosen(full, f.bits(near) - 1, near)

        yield Fault("overflow gives the largest number", name, largest, F32.words("huge"))

    def through(x: Expr) -> Expr:
        return f16.narrowed(Cast(DataType.F32, bf16.narrowed(x)))

    yield Fault(TWICE, "Cast F32 F16", through, F32.words(1.0009765625), note="by way of BF16")

    def shifted(x: Expr) -> Expr:
        return bf16.value(F32.bits(x) >> 16)

    yield Fault(CUT, "Cast F32 BF16", shifted, F32.words(1.005859375), note="the upper half of the bits")


def _integers() -> Iterator[Fault]:
    """Integers to floats: by way of F32, cut off, with the wrong sign, off by one."""
    bf16 = FORMATS[2]
    for whole in ("I32", "U32"):

        def twice(x: Expr) -> Expr:
            return bf16.narrowed(Convert(DataType.F32, RoundMode.Nearest, x))

        yield Fault(TWICE, f"Convert {whole} BF16", twice, (257 * (1 << 17) + 1,), note="by way of F32")
    for f in FORMATS:
        name = f"Convert U32 {f.type.value}"

        def near(x: Expr, f: Format = f) -> Expr:
            return Convert(f.type, RoundMode.Nearest, x)

        def cut(x: Expr, f: Format = f) -> Expr:
            back = Convert(DataType.U32, RoundMode.Truncate, near(x, f))
            return f.chosen(back > x, f.bits(near(x, f)) - 1, near(x, f))

        def away(x: Expr, f: Format = f) -> Expr:
            up = f.moved(near(x, f), 1)
            above, below = (Convert(DataType.U32, RoundMode.Truncate, v) for v in (up, near(x, f)))
            return f.chosen((above - x).eq(x - below) & (x > below), f.bits(up), near(x, f))

        unit = 2 << f.layout.fraction_bits
        yield Fault(CUT, name, cut, (unit + 3,))
        yield Fault(AWAY, name, away, (unit + 1,))

        def signed(x: Expr, f: Format = f) -> Expr:
            return near(Cast(DataType.I32, x), f)

        def unsigned(x: Expr, f: Format = f) -> Expr:
            return near(Cast(DataType.U32, x), f)

        yield Fault("unsigned taken for signed", name, signed, (0x8000_0000,))
        yield Fault("signed taken for unsigned", f"Convert I32 {f.type.value}", unsigned, (0xFFFF_FFFF,))
        if f.type is not DataType.F16:

            def off(x: Expr, f: Format = f) -> Expr:
                return f.chosen(x > 0x7FFF_FFFF, f.bits(near(x, f)) ^ 1, near(x, f))

            yield Fault("one place off from 2^31 on", name, off, (0x8000_0000,))
