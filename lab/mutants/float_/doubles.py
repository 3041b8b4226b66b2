"""F64 done wrongly, where it is native: in single precision, by another order, with unordered comparisons.

The bits of an F64 are not at hand in a program, so these are operations and comparisons in place of others.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, one, planted, two
from lab.mutants.float_.format import binary, negated, unary
from vyre.ir.expr import Cast, Convert, Expr, FMulAdd, Select, f64
from vyre.ir.operators import RoundMode
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.mutant import Mutant

_F32, _F64, _I32 = DataType.F32, DataType.F64, DataType.I32
SINGLE = "double computed in single precision"
UNORDERED = {"FLt": "FGe", "FGt": "FLe", "FLe": "FGt", "FGe": "FLt"}


def words(*numbers: float) -> tuple[int, ...]:
    """The operand words of doubles, low word first."""
    return struct.unpack(f"<{2 * len(numbers)}I", struct.pack(f"<{len(numbers)}d", *numbers))


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _single(x: Expr) -> Expr:
    return Cast(_F32, x)


def _faults() -> Iterator[Fault]:
    for op in ("FAdd", "FSub", "FMul", "FDiv", "FMin", "FMax"):
        operands = words(0.1, 0.1 if op == "FMin" else -0.3)
        yield two(
            SINGLE, f"{op} F64", lambda a, b, o=op: Cast(_F64, binary(o, _single(a), _single(b))), operands
        )
    for op in ("FSqrt", "FFloor", "FRound"):
        operand = words(0.1 if op == "FSqrt" else 2.0**30 + 1.0)
        yield one(SINGLE, f"{op} F64", lambda x, o=op: Cast(_F64, unary(o, _single(x))), operand)
    yield from _compared()
    yield from _fused()
    yield from _integrals()
    nan, inf = math.nan, math.inf
    yield two("NaN handling of minimum and maximum", "FMin F64", _lesser, words(1.0, nan))
    yield two("zeros taken as equal", "FMax F64", _greater, words(0.0, -0.0))
    yield one("negation subtracts from 0", "FNeg F64", lambda x: binary("FSub", f64(0.0), x), words(0.0))
    yield two("quotient by the reciprocal", "FDiv F64", _by_reciprocal, words(3.0, 41.0))
    yield one("infinity not recognised", "FIsInf F64", lambda x: binary("FEq", x, f64(inf)), words(-inf))


def _compared() -> Iterator[Fault]:
    for op, opposite in UNORDERED.items():
        yield two(
            "comparison with NaN true",
            f"{op} F64",
            lambda a, b, o=opposite: negated(binary(o, a, b)),
            words(math.nan, 1.0),
        )
    yield two(
        SINGLE, "FEq F64", lambda a, b: binary("FEq", _single(a), _single(b)), words(1.0, 1.0 + 2.0**-40)
    )
    yield two(
        SINGLE, "FLt F64", lambda a, b: binary("FLt", _single(a), _single(b)), words(1.0, 1.0 + 2.0**-40)
    )


def _lesser(a: Expr, b: Expr) -> Expr:
    return Select(binary("FLt", a, b), a, b)


def _greater(a: Expr, b: Expr) -> Expr:
    return Select(binary("FEq", a, b), b, binary("FMax", a, b))


def _by_reciprocal(a: Expr, b: Expr) -> Expr:
    return binary("FMul", a, binary("FDiv", f64(1.0), b))


def _fused() -> Iterator[Fault]:
    def unfused(a: Expr, b: Expr, c: Expr) -> Expr:
        return binary("FAdd", binary("FMul", a, b), c)

    def single(a: Expr, b: Expr, c: Expr) -> Expr:
        return Cast(_F64, FMulAdd(_single(a), _single(b), _single(c)))

    above = 1.0 + 2.0**-52
    yield Fault("fused operation made of two", "FMulAdd F64", unfused, words(above, above, -1.0 - 2.0**-51))
    yield Fault(SINGLE, "FMulAdd F64", single, words(0.1, 0.1, 0.1))


def _integrals() -> Iterator[Fault]:
    def half_up(x: Expr) -> Expr:
        return unary("FFloor", binary("FAdd", x, f64(0.5)))

    yield one("floor of one half more", "FRound F64", half_up, words(2.5))
    for op, other, x in (("FFloor", "FTrunc", -1.5), ("FTrunc", "FFloor", -1.5), ("FCeil", "FRound", 1.25)):
        yield one("rounded in another mode", f"{op} F64", lambda x, o=other: unary(o, x), words(x))
    for mode, other, x in (
        (RoundMode.Nearest, RoundMode.Truncate, 1.75),
        (RoundMode.Floor, RoundMode.Truncate, -1.5),
        (RoundMode.Ceil, RoundMode.Nearest, 1.25),
    ):
        name = f"Convert F64 I32 {mode.value}"
        yield one("rounded in another mode", name, lambda v, o=other: Convert(_I32, o, v), words(x))
    name = "Convert F64 I32 Truncate"
    yield one(SINGLE, name, lambda x: Convert(_I32, RoundMode.Truncate, _single(x)), words(2.0**30 + 1.0))
    yield one(
        SINGLE, "Convert U32 F64", lambda x: Cast(_F64, Convert(_F32, RoundMode.Nearest, x)), (2**24 + 1,)
    )
    yield one(
        "unsigned taken for signed",
        "Convert U32 F64",
        lambda x: Convert(_F64, RoundMode.Nearest, Cast(_I32, x)),
        (0x8000_0000,),
    )
