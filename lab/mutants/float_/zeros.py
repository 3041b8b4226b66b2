"""Zeros that lose their sign, and negation that is a subtraction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, planted, right
from lab.mutants.float_.format import FORMATS, binary, mutable, unary
from vyre.ir.expr import Cast, Expr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.fault import Build, One
    from lab.mutants.float_.format import Format, Word
    from lab.mutants.mutant import Mutant

LOST = "-0 lost"

_NEGATIVE_ZERO: dict[str, tuple[Word, ...]] = {
    "FAdd": ("-zero", "-zero"),
    "FSub": ("-zero", "zero"),
    "FMul": ("-zero", "one"),
    "FDiv": ("zero", "-one"),
    "FMulAdd": ("-zero", "one", "-zero"),
    "FSqrt": ("-zero",),
    "FMin": ("zero", "-zero"),
    "FMax": ("-zero", "-zero"),
    "FNeg": ("zero",),
    "FFloor": ("-zero",),
    "FCeil": (-0.5,),
    "FRound": (-0.25,),
    "FTrunc": (-0.5,),
    "FSin": ("-zero",),
    "FTan": ("-zero",),
    "FASin": ("-zero",),
    "FATan": ("-zero",),
    "FATan2": ("-zero", "one"),
    "FPow": ("-zero", 3.0),
}
"""Operands whose result is -0."""


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _faults() -> Iterator[Fault]:
    for f in FORMATS:
        of = f.type.value
        for op, words in ((o, w) for o, w in _NEGATIVE_ZERO.items() if mutable(o, f)):
            name = f"{op} {of}"
            yield Fault(LOST, name, _without(f, right(name)), f.words(*words))
        yield Fault("sum of opposites is -0", f"FAdd {of}", _opposites(f), f.words("one", "-one"))
        for op, words in (("FMin", ("-zero", "zero")), ("FMax", ("zero", "-zero"))):
            yield Fault("zeros taken as equal", f"{op} {of}", _second_zero(f, op), f.words(*words))
        neg, sub = f"FNeg {of}", f"FSub {of}"
        yield Fault("negation subtracts from 0", neg, _from_zero(f), f.words("zero"))
        yield Fault("difference is the opposite of another", sub, _turned, f.words("one", "one"))
    yield from _casts()


def _without(f: Format, build: Build) -> Build:
    def wrong(*x: Expr) -> Expr:
        result = build(*x)
        return f.chosen(f.bits(result).eq(f.layout.sign), 0, result)

    return wrong


def _opposites(f: Format) -> Build:
    def wrong(a: Expr, b: Expr) -> Expr:
        total = binary("FAdd", a, b)
        return f.chosen(f.bits(total).eq(0) & f.bits(a).ne(0) & f.bits(b).ne(0), f.layout.sign, total)

    return wrong


def _second_zero(f: Format, op: str) -> Build:
    def wrong(a: Expr, b: Expr) -> Expr:
        return f.chosen(f.is_zero(a) & f.is_zero(b), f.bits(b), binary(op, a, b))

    return wrong


def _from_zero(f: Format) -> One:
    return lambda x: binary("FSub", f.literal("zero"), x)


def _turned(a: Expr, b: Expr) -> Expr:
    return unary("FNeg", binary("FSub", b, a))


def _casts() -> Iterator[Fault]:
    f32, f16, bf16 = FORMATS
    for source, target in ((f32, f16), (f32, bf16), (f16, f32), (bf16, f32)):
        name = f"Cast {source.type.value} {target.type.value}"

        def wrong(x: Expr, target: Format = target) -> Expr:
            result = Cast(target.type, x)
            return target.chosen(target.bits(result).eq(target.layout.sign), 0, result)

        yield Fault(LOST, name, wrong, source.words("-zero"))
