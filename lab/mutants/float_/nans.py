"""NaNs that are treated wrongly: not canonical, canonical where bits move, ordered, or not recognised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, one, planted, right, two
from lab.mutants.float_.format import FORMATS, binary, mutable, negated, unary
from vyre.ir.expr import Cast, Expr, LitU32, Select

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.fault import Build
    from lab.mutants.float_.format import Format, Word
    from lab.mutants.mutant import Mutant

_INVALID: dict[str, tuple[Word, ...]] = {
    "FAdd": ("inf", "-inf"),
    "FSub": ("inf", "inf"),
    "FMul": ("inf", "zero"),
    "FDiv": ("zero", "zero"),
    "FMulAdd": ("inf", "zero", "one"),
    "FSqrt": ("-one",),
    "FMin": ("nan", "nan"),
    "FMax": ("nan", "nan"),
    "FSin": ("inf",),
    "FCos": ("inf",),
    "FTan": ("inf",),
    "FASin": (2.0,),
    "FACos": (2.0,),
    "FLog": ("-one",),
    "FPow": ("-one", 0.5),
    "FFloor": ("nan",),
    "FRound": ("nan",),
}
"""Operands that make a NaN."""

_UNORDERED = {"FLt": "FGe", "FGt": "FLe", "FLe": "FGt", "FGe": "FLt"}


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _faults() -> Iterator[Fault]:
    for f in FORMATS:
        for op, words in ((o, w) for o, w in _INVALID.items() if mutable(o, f)):
            yield from _made(f, f"{op} {f.type.value}", f.words(*words))
        yield from _moved(f)
        yield from _extremes(f)
        yield from _compared(f)
        yield from _classes(f)
    yield from _casts()


def _made(f: Format, name: str, invalid: tuple[int, ...]) -> Iterator[Fault]:
    build, of = right(name), f.layout

    def signed(*x: Expr) -> Expr:
        return f.chosen(f.is_nan(build(*x)), of.nan | of.sign, build(*x))

    def kept(*x: Expr) -> Expr:
        """The first NaN among the operands, quiet, as processors hand it on."""
        result = build(*x)
        bits = f.bits(result)
        for v in reversed(x):
            bits = Select(f.is_nan(v), f.bits(v) | (of.nan ^ of.infinity), bits)
        return f.chosen(f.is_nan(result), bits, result)

    yield Fault("NaN with a sign", name, signed, invalid)
    payload = f.words(*("payload",) * len(invalid))
    yield Fault("NaN with its payload", name, kept, payload)
    if name.partition(" ")[0] in ("FAdd", "FMul", "FDiv", "FMulAdd", "FSqrt"):

        def ones(*x: Expr) -> Expr:
            return f.chosen(f.is_nan(build(*x)), of.magnitude, build(*x))

        yield Fault("NaN of all ones", name, ones, invalid)


def _moved(f: Format) -> Iterator[Fault]:
    """Operations on the sign bit move every other bit as it is."""
    for op in ("FNeg", "FAbs"):
        name = f"{op} {f.type.value}"
        build = right(name)

        def canonical(x: Expr, build: Build = build) -> Expr:
            return f.chosen(f.is_nan(x), f.layout.nan, build(x))

        yield Fault("NaN made canonical where bits move", name, canonical, f.words("-payload"))
    neg, absolute = (f"{op} {f.type.value}" for op in ("FNeg", "FAbs"))
    yield one("negation multiplies by -1", neg, lambda x: _times_minus_one(f, x), f.words("nan"))
    yield one("absolute value is the larger of two", absolute, _larger, f.words("payload"))


def _times_minus_one(f: Format, x: Expr) -> Expr:
    return binary("FMul", x, f.literal("-one"))


def _larger(x: Expr) -> Expr:
    return binary("FMax", x, unary("FNeg", x))


def _extremes(f: Format) -> Iterator[Fault]:
    for op, order in (("FMin", "FLt"), ("FMax", "FGt")):
        name = f"{op} {f.type.value}"
        build = right(name)

        def spread(a: Expr, b: Expr, build: Build = build) -> Expr:
            either = f.is_nan(a) | f.is_nan(b)
            return f.chosen(either, f.layout.nan, build(a, b))

        def second(a: Expr, b: Expr, order: str = order) -> Expr:
            return f.chosen(binary(order, a, b), f.bits(a), b)

        def bare(a: Expr, b: Expr, build: Build = build) -> Expr:
            return f.chosen(f.is_nan(a) & f.is_nan(b), f.bits(b), build(a, b))

        kind = "NaN handling of minimum and maximum"
        yield Fault(kind, name, spread, f.words("nan", "one"), note="NaN wins")
        yield Fault(kind, name, second, f.words("one", "nan"), note="the second operand wins")
        yield Fault(kind, name, bare, f.words("nan", "payload"), note="two NaNs give the second")

        def quiet(a: Expr, b: Expr, build: Build = build) -> Expr:
            alarm = f.is_nan(a) & ((f.bits(a) & (f.layout.nan ^ f.layout.infinity)).eq(0))
            return f.chosen(alarm, f.layout.nan, build(a, b))

        yield Fault(kind, name, quiet, f.words("signalling", "one"), note="a signalling NaN wins")


def _compared(f: Format) -> Iterator[Fault]:
    kind, nans, zeros = "comparison with NaN true", f.words("nan", "one"), f.words("zero", "-zero")
    of, flip = f.type.value, f.layout.sign
    for op, opposite in _UNORDERED.items():
        yield two(kind, f"{op} {of}", lambda a, b, o=opposite: negated(binary(o, a, b)), nans)
    yield two(kind, f"FEq {of}", lambda a, b: negated(_differ(a, b)), nans)
    yield two("comparison with NaN false", f"FNe {of}", _differ, nans)
    kind = "comparison of bits"
    yield two(kind, f"FEq {of}", lambda a, b: f.bits(a).eq(f.bits(b)), zeros)
    yield two(kind, f"FNe {of}", lambda a, b: f.bits(a).ne(f.bits(b)), zeros)
    for op, order in (("FLt", "Lt"), ("FGe", "Ge")):
        yield two(
            kind,
            f"{op} {of}",
            lambda a, b, o=order: binary(o, f.bits(a) ^ flip, f.bits(b) ^ flip),
            f.words(-2.0, -1.0),
        )


def _differ(a: Expr, b: Expr) -> Expr:
    """Less or greater, which no NaN is."""
    return binary("FLt", a, b) | binary("FGt", a, b)


def _classes(f: Format) -> Iterator[Fault]:
    of = f.layout
    nan, inf = (f"{op} {f.type.value}" for op in ("FIsNaN", "FIsInf"))

    def large(x: Expr) -> Expr:
        return (f.bits(x) & of.magnitude) >= of.infinity

    def positive(x: Expr) -> Expr:
        return (f.bits(x) > of.infinity) & (f.bits(x) < of.sign)

    unseen, taken, infinite = "NaN not recognised", "NaN taken for others", "infinity not recognised"
    yield one(unseen, nan, lambda x: LitU32(0), f.words("nan"), note="folded to false")
    yield one(
        unseen, nan, lambda x: (f.bits(x) & of.nan).eq(of.nan), f.words("signalling"), note="quiet alone"
    )
    yield one(unseen, nan, positive, f.words("-nan"), note="not the negative")
    yield one(taken, nan, large, f.words("inf"), note="infinity is one")
    yield one(taken, inf, large, f.words("nan"), note="it is infinite")
    yield one(infinite, inf, lambda x: f.bits(x).eq(of.infinity), f.words("-inf"), note="the negative")
    yield one(infinite, inf, lambda x: LitU32(0), f.words("inf"), note="folded to false")


def _casts() -> Iterator[Fault]:
    f32, f16, bf16 = FORMATS
    kind = "NaN with its payload"
    for source, target in ((f32, f16), (f32, bf16), (f16, f32), (bf16, f32)):
        name = f"Cast {source.type.value} {target.type.value}"
        moved = target.layout.fraction_bits - source.layout.fraction_bits

        def kept(x: Expr, source: Format = source, target: Format = target, moved: int = moved) -> Expr:
            bits = source.bits(x) & (1 << source.layout.fraction_bits) - 1
            fraction = bits << moved if moved > 0 else bits >> -moved
            nan = fraction | target.layout.nan
            return target.chosen(source.is_nan(x), nan, Cast(target.type, x))

        low = 1 << max(0, -moved)
        yield Fault(kind, name, kept, (source.layout.nan | low,))

        def signed(x: Expr, source: Format = source, target: Format = target) -> Expr:
            sign = Select((source.bits(x) & source.layout.sign).ne(0), LitU32(target.layout.sign), LitU32(0))
            return target.chosen(source.is_nan(x), sign | target.layout.nan, Cast(target.type, x))

        yield Fault("NaN with a sign", name, signed, source.words("-nan"))
    yield one("NaN made canonical where bits move", "Cast F32 U32", _loud, f32.words("payload"))


def _loud(x: Expr) -> Expr:
    f = FORMATS[0]
    return Select(f.is_nan(x), LitU32(f.layout.nan), f.bits(x))
