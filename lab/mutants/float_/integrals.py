"""Rounding to integers, as values and as words: the wrong mode, no saturation, NaN as something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, one, planted, right
from lab.mutants.float_.format import FORMATS, binary, unary
from vyre.ir.expr import Cast, Convert, Expr, LitU32, Select
from vyre.ir.operators import RoundMode
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.fault import One
    from lab.mutants.float_.format import Format
    from lab.mutants.mutant import Mutant

_I32, _U32 = DataType.I32, DataType.U32
TIES, MODE = "ties away from zero", "rounded in another mode"
UNSATURATED, NAN = "conversion does not saturate", "NaN converts to something else"


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _faults() -> Iterator[Fault]:
    for f in FORMATS:
        yield from _values(f)
        for whole in (_I32, _U32):
            yield from _modes(f, whole)
            yield from _saturation(f, whole)


def _values(f: Format) -> Iterator[Fault]:
    of = f.type.value
    half, unit = f.literal(0.5), f.literal("one")

    def away(x: Expr) -> Expr:
        cut = unary("FTrunc", x)
        tie = binary("FEq", unary("FAbs", binary("FSub", x, cut)), half)
        sign = f.bits(x) & f.layout.sign
        further = binary("FAdd", cut, f.value(f.bits(unit) | sign))
        return f.chosen(tie, f.bits(further), unary("FRound", x))

    def half_up(x: Expr) -> Expr:
        return unary("FFloor", binary("FAdd", x, half))

    def next_one(x: Expr) -> Expr:
        return binary("FAdd", unary("FFloor", x), unit)

    def whole(x: Expr) -> Expr:
        return Convert(f.type, RoundMode.Nearest, Convert(_I32, RoundMode.Truncate, x))

    yield Fault(TIES, f"FRound {of}", away, f.words(2.5))
    yield Fault("floor of one half more", f"FRound {of}", half_up, f.words("below half"))
    yield Fault("one above the floor", f"FCeil {of}", next_one, f.words(3.0))
    yield Fault("by way of an integer", f"FTrunc {of}", whole, f.words("nan"))
    if f.type is not DataType.F16:
        yield Fault("by way of an integer", f"FTrunc {of}", whole, f.words(1e10), note="beyond 2^31")
    for op, other, x in (
        ("FFloor", "FTrunc", -1.5),
        ("FTrunc", "FFloor", -1.5),
        ("FCeil", "FRound", 1.25),
        ("FRound", "FTrunc", 1.75),
    ):
        yield one(MODE, f"{op} {of}", lambda x, o=other: unary(o, x), f.words(x))


def _modes(f: Format, whole: DataType) -> Iterator[Fault]:
    def name(mode: RoundMode) -> str:
        return f"Convert {f.type.value} {whole.value} {mode.value}"

    sign = -1.0 if whole is _I32 else 1.0
    m = RoundMode
    for mode, other, x in (
        (m.Nearest, m.Truncate, 1.75),
        (m.Truncate, m.Nearest, 1.75),
        (m.Floor, m.Truncate, -1.5) if whole is _I32 else (m.Floor, m.Nearest, 1.75),
        (m.Ceil, m.Truncate, 1.5),
    ):
        yield one(MODE, name(mode), lambda v, o=other: Convert(whole, o, v), f.words(x))

    def away(x: Expr) -> Expr:
        cut = unary("FTrunc", x)
        tie = binary("FEq", unary("FAbs", binary("FSub", x, cut)), f.literal(0.5))
        return Convert(whole, m.Nearest, f.chosen(tie, f.bits(f.moved(x, 1)), x))

    yield Fault(TIES, name(m.Nearest), away, f.words(2.5 * sign))


def _saturation(f: Format, whole: DataType) -> Iterator[Fault]:
    mode = RoundMode.Truncate
    name = f"Convert {f.type.value} {whole.value} {mode.value}"
    build = right(name)
    top = 2.0**31 if whole is _I32 else 2.0**32

    def typed(bits: Expr) -> Expr:
        return bits if whole is _U32 else Cast(_I32, bits)

    def instead(test: Expr, bits: int, x: Expr) -> Expr:
        found = build(x) if whole is _U32 else Cast(_U32, build(x))
        return typed(Select(test, LitU32(bits), found))

    def indefinite(x: Expr) -> Expr:
        return instead(binary("FGe", unary("FAbs", x), f.literal(top)), 0x8000_0000, x)

    yield Fault(UNSATURATED, name, indefinite, f.words("inf"), note="0x80000000 instead")
    if whole is _U32:

        def wraps(x: Expr) -> Expr:
            negative = (f.bits(x) & f.layout.sign).ne(0)
            return Select(negative, Cast(_U32, Convert(_I32, mode, x)), build(x))

        yield Fault(UNSATURATED, name, wraps, f.words(-1.0), note="negative ones wrap")

    def empty(x: Expr) -> Expr:
        return instead(binary("FGe", x, f.literal(top)), 0, x)

    yield Fault(UNSATURATED, name, empty, f.words("inf"), note="too large ones are 0")

    def nan_as(bits: int) -> One:
        return lambda x: instead(f.is_nan(x), bits, x)

    for bits in (0x8000_0000, 0x7FFF_FFFF if whole is _I32 else 0xFFFF_FFFF):
        yield Fault(NAN, name, nan_as(bits), f.words("nan"), note=f"0x{bits:X}")
