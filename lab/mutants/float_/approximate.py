"""Division, roots and functions that are close but not correctly rounded, as vendors' libraries are.

Those that differ at one input, or in a narrow interval, are found where a function is run on every input
and compared with the committed truth, which also names the input.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, lowered, planted, right
from lab.mutants.float_.format import F32, FORMATS, binary, unary
from lab.mutants.mutant import LOWERING, Mutant
from vyre.ir.expr import Cast, Expr, FMulAdd
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.fault import Build, One
    from lab.mutants.float_.format import Format

QUOTIENT, ROOT, FUNCTION = (
    "quotient by the reciprocal",
    "root by the reciprocal root",
    "function approximated",
)


def mutants() -> Iterator[Mutant]:
    yield from planted(_quotients())
    yield from planted(_functions())
    yield from planted(_halves())
    yield from _single()


def _quotients() -> Iterator[Fault]:
    for f in FORMATS:
        of = f.type.value
        one = f.literal("one")

        def reciprocal(a: Expr, b: Expr, one: Expr = one) -> Expr:
            return binary("FMul", a, binary("FDiv", one, b))

        def rsqrt(x: Expr, f: Format = f, one: Expr = one) -> Expr:
            """Zeros and infinities are right, as in every careful version of it."""
            root = binary("FMul", x, binary("FDiv", one, unary("FSqrt", x)))
            plain = f.is_zero(x) | f.bits(x).eq(f.layout.infinity)
            return f.chosen(plain, f.bits(x), root)

        def inverse(x: Expr, one: Expr = one) -> Expr:
            return binary("FDiv", one, binary("FDiv", one, unary("FSqrt", x)))

        yield Fault(QUOTIENT, f"FDiv {of}", reciprocal, f.words(*_QUOTIENT[of]))
        yield Fault(ROOT, f"FSqrt {of}", rsqrt, f.words(*_ROOT[of]))
        yield Fault(ROOT, f"FSqrt {of}", inverse, f.words(*_INVERSE[of]), note="inverted")
    yield Fault(QUOTIENT, "FDiv F32", _corrected, F32.words("one", "zero"), note="corrected once")


def _corrected(a: Expr, b: Expr) -> Expr:
    """The remainder makes the estimate right wherever nothing overflows, vanishes or is special."""
    inverse = binary("FDiv", F32.literal("one"), b)
    guess = binary("FMul", a, inverse)
    rest = FMulAdd(unary("FNeg", b), guess, a)
    return FMulAdd(rest, inverse, guess)


_QUOTIENT = {"F32": (3.0, 15.0), "F16": (3.0, 5.0), "BF16": (3.0, 15.0)}
_ROOT = {"F32": (7.0,), "F16": (7.0,), "BF16": (7.0,)}
_INVERSE = {"F32": (3.0,), "F16": (14.0,), "BF16": (3.0,)}


def _functions() -> Iterator[Fault]:
    def times(op: str, factor: float) -> One:
        return lambda x: unary(op, binary("FMul", x, F32.literal(factor)))

    def scaled(op: str, factor: float) -> One:
        return lambda x: binary("FMul", unary(op, x), F32.literal(factor))

    def power(x: Expr, y: Expr) -> Expr:
        return unary("FExp2", binary("FMul", y, unary("FLog2", x)))

    def quotient(y: Expr, x: Expr) -> Expr:
        return unary("FATan", binary("FDiv", y, x))

    def tangent(x: Expr) -> Expr:
        return binary("FDiv", unary("FSin", x), unary("FCos", x))

    def shifted(x: Expr) -> Expr:
        return unary("FSin", binary("FAdd", x, F32.literal(math.pi / 2)))

    def complement(x: Expr) -> Expr:
        return binary("FSub", F32.literal(math.pi / 2), unary("FASin", x))

    def reduced(x: Expr) -> Expr:
        """The argument brought near zero in single precision, as a hardware sine does it."""
        turns = unary("FRound", binary("FMul", x, F32.literal(1 / (2 * math.pi))))
        return unary("FSin", binary("FSub", x, binary("FMul", turns, F32.literal(2 * math.pi))))

    def half(op: str) -> One:
        return lambda x: Cast(DataType.F32, unary(op, Cast(DataType.F16, x)))

    table: tuple[tuple[str, str, Build, tuple[float, ...]], ...] = (
        ("FExp", "by exp2", times("FExp2", math.log2(math.e)), _AT["FExp"]),
        ("FExp10", "by exp2", times("FExp2", math.log2(10)), _AT["FExp10"]),
        ("FLog", "by log2", scaled("FLog2", math.log(2)), _AT["FLog"]),
        ("FLog10", "by log2", scaled("FLog2", math.log10(2)), _AT["FLog10"]),
        ("FLog2", "by log", scaled("FLog", math.log2(math.e)), _AT["FLog2"]),
        ("FPow", "by exp2 and log2", power, _AT["FPow"]),
        ("FATan2", "by atan of the quotient", quotient, (1.0, -1.0)),
        ("FTan", "by sin and cos", tangent, _AT["FTan"]),
        ("FCos", "by a shifted sin", shifted, _AT["FCos"]),
        ("FACos", "by asin", complement, _AT["FACos"]),
        ("FSin", "reduced in single precision", reduced, (100.0,)),
        *((op, "in half precision", half(op), (0.7,)) for op in ("FSin", "FCos", "FExp", "FATan")),
    )
    for op, note, build, words in table:
        yield Fault(FUNCTION, f"{op} F32", build, F32.words(*words), note=note)


_AT: dict[str, tuple[float, ...]] = {
    "FExp": (10.0,),
    "FExp10": (3.3,),
    "FLog": (5.0,),
    "FLog10": (7.0,),
    "FLog2": (13.0,),
    "FPow": (3.0, 3.0),
    "FTan": (3.0,),
    "FCos": (1.3,),
    "FACos": (0.875,),
}


def _halves() -> Iterator[Fault]:
    """16-bit formats: one wrong value of 65,536, all of which are run."""
    for f in FORMATS[1:]:
        for op, bits in (("FExp", f.word("one") + 77), ("FLog", f.word("one") + 301), ("FSin", 0x1234)):
            name = f"{op} {f.type.value}"
            yield Fault(
                "one value of 16 bits", name, _off(f, right(name), bits, bits), (bits,), density=2.0**-16
            )


def _off(f: Format, build: Build, lo: int, hi: int) -> Build:
    """One place further from zero for the operands whose bits go from `lo` to `hi`."""

    def wrong(x: Expr) -> Expr:
        inside = (f.bits(x) - lo) < (hi - lo + 1)
        return f.value(f.bits(build(x)) + inside)

    return wrong


_SINGLE = {
    "FExp": 0x3F35_04F3,
    "FLog": 0x4049_0FDB,
    "FSin": 0x42C8_0001,
    "FSqrt": 0x3FAB_CDEF,
    "FTan": 0x3FC9_0FD0,
}
_NARROW = {
    "FLog": (0x3F80_4001, 0x3F80_4010),
    "FSin": (0x4048_F5C3, 0x4048_F5D0),
    "FExp2": (0xBF00_0001, 0xBF00_0003),
}


def _single() -> Iterator[Mutant]:
    for op, bits in _SINGLE.items():
        yield _by_truth("one input in 2^32 of a function", op, bits, bits)
    for op, (lo, hi) in _NARROW.items():
        yield _by_truth("one place off in a narrow interval", op, lo, hi)


def _by_truth(kind: str, op: str, lo: int, hi: int) -> Mutant:
    name = f"{op} F32"
    make = lowered(name, _off(F32, right(name), lo, hi))
    case = f"truth/{op[1:].lower()}/0x{lo:X}"
    return Mutant(kind, f"{op} at 0x{lo:X}", LOWERING, make, case, (hi - lo + 1) / 2**32)
