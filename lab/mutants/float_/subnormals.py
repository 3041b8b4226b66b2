"""Subnormals that are lost: operands flushed before an operation, results after it.

Every operation whose result depends on them, in every format: one that flushes everywhere is one of these
at least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.float_.fault import Fault, planted, right
from lab.mutants.float_.format import FORMATS, mutable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.float_.fault import Build
    from lab.mutants.float_.format import Format, Word
    from lab.mutants.mutant import Mutant
    from vyre.ir.expr import Expr

IN, OUT = "subnormal operands flushed", "subnormal results flushed"

_OPERANDS: dict[str, tuple[Word, ...]] = {
    "FAdd": ("tiny", "zero"),
    "FSub": ("tiny", "zero"),
    "FMul": ("tiny", "one"),
    "FDiv": ("tiny", "one"),
    "FMulAdd": ("tiny", "one", "zero"),
    "FSqrt": ("tiny",),
    "FMin": ("tiny", "one"),
    "FMax": ("tiny", "zero"),
    "FEq": ("tiny", "zero"),
    "FNe": ("tiny", "zero"),
    "FLt": ("zero", "tiny"),
    "FGt": ("tiny", "zero"),
    "FLe": ("tiny", "zero"),
    "FGe": ("zero", "tiny"),
    "FFloor": ("-tiny",),
    "FCeil": ("tiny",),
    "FSin": ("tiny",),
    "FTan": ("tiny",),
    "FASin": ("tiny",),
    "FATan": ("tiny",),
    "FLog": ("tiny",),
    "FLog2": ("tiny",),
    "FLog10": ("tiny",),
    "FATan2": ("tiny", "one"),
    "FPow": ("tiny", "one"),
}
_RESULTS: dict[str, tuple[Word, ...]] = {
    "FAdd": ("least", "-tiny"),
    "FSub": ("least", "tiny"),
    "FMul": ("least", 0.5),
    "FDiv": ("least", 2.0),
    "FMulAdd": ("least", 0.5, "zero"),
    "FMin": ("tiny", "one"),
    "FMax": ("tiny", "zero"),
    "FNeg": ("tiny",),
    "FAbs": ("-tiny",),
    "FSin": ("tiny",),
    "FTan": ("tiny",),
    "FASin": ("tiny",),
    "FATan": ("tiny",),
    "FATan2": ("tiny", "one"),
    "FPow": ("tiny", "one"),
}
_POWERS = {"F32": (-100.0, -140.0, -40.0), "F16": (-12.0, -18.0, -5.5), "BF16": (-90.0, -130.0, -39.0)}
"""Where exp, exp2 and exp10 have subnormal results."""


def mutants() -> Iterator[Mutant]:
    return planted(_faults())


def _faults() -> Iterator[Fault]:
    for f in FORMATS:
        kind = f.type.value
        for op, words in ((o, w) for o, w in _OPERANDS.items() if mutable(o, f)):
            name = f"{op} {kind}"
            yield Fault(IN, name, _before(f, right(name)), f.words(*words))
        exponents = zip(("FExp", "FExp2", "FExp10"), _POWERS[kind], strict=True)
        for op, words in (*_RESULTS.items(), *((op, (x,)) for op, x in exponents)):
            name = f"{op} {kind}"
            if mutable(op, f):
                yield Fault(OUT, name, _after(f, right(name)), f.words(*words))
    yield from _casts()


def _before(f: Format, build: Build) -> Build:
    return lambda *x: build(*(f.flushed(v) for v in x))


def _after(f: Format, build: Build) -> Build:
    return lambda *x: f.flushed(build(*x))


def _casts() -> Iterator[Fault]:
    f32, f16, bf16 = FORMATS

    def cast(kind: str, source: Format, target: Format, flush: Build, word: Word) -> Fault:
        name = f"Cast {source.type.value} {target.type.value}"
        return Fault(kind, name, flush, source.words(word))

    def out(target: Format) -> Build:
        def build(x: Expr) -> Expr:
            return target.flushed(target.narrowed(x))

        return build

    def taken(source: Format, target: Format) -> Build:
        def build(x: Expr) -> Expr:
            return target.narrowed(source.flushed(x))

        return build

    yield cast(OUT, f32, f16, out(f16), 2.0**-24)
    yield cast(OUT, f32, bf16, out(bf16), 2.0**-133)
    yield cast(IN, f16, f32, taken(f16, f32), "tiny")
    yield cast(IN, bf16, f32, taken(bf16, f32), "tiny")
    yield cast(IN, f32, bf16, taken(f32, bf16), 2.0**-130)
