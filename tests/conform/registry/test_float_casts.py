"""The float casts equal the solvers' own IEEE 754, for all inputs."""

from __future__ import annotations

import pytest

from vyre.conform.registry import spec
from vyre.semantics.solvers import Answer, Attempt, solve
from vyre.semantics.terms import SmtDomain
from vyre.semantics.words import fit

F16, BF16, F32, F64 = (5, 11), (8, 8), (8, 24), (11, 53)
CASTS = [
    ("cast.f16.f32", F16, F32, 0x7FC0_0000),
    ("cast.f32.f16", F32, F16, 0x7E00),
    ("cast.bf16.f32", BF16, F32, 0x7FC0_0000),
    ("cast.f32.bf16", F32, BF16, 0x7FC0),
    ("cast.f32.f64", F32, F64, 0x7FF8_0000_0000_0000),
    ("cast.f64.f32", F64, F32, 0x7FC0_0000),
]


def bits(words: list[str], width: int) -> str:
    """The words as one bit-vector of a width, lane 0 lowest."""
    if len(words) == 2:
        return f"(concat {words[1]} {words[0]})"
    return words[0] if width == 32 else f"((_ extract {width - 1} 0) {words[0]})"


def question(op: str, source: tuple[int, int], target: tuple[int, int], nan: int, *, wrong: str = "") -> str:
    found = spec(op)
    d = SmtDomain()
    operands = [fit(d, d.variable(f"x{k}"), m) for k, m in enumerate(found.masks)]
    (result,) = found.apply(d, *operands)
    wide, narrow = sum(source), sum(target)
    given = bits([w.name for w in operands], wide)
    got = bits([w.name for w in result], narrow)
    value = (
        f"((_ to_fp {target[0]} {target[1]}) {wrong or 'RNE'} ((_ to_fp {source[0]} {source[1]}) {given}))"
    )
    number = f"(= ((_ to_fp {target[0]} {target[1]}) {got}) {value})"
    canonical = f"(= {got} (_ bv{nan} {narrow}))"
    right = f"(ite (fp.isNaN {value}) {canonical} (and {number} (not (fp.isNaN {value}))))"
    return d.query(f"(not {right})")


@pytest.mark.parametrize(("op", "source", "target", "nan"), CASTS, ids=[c[0] for c in CASTS])
def test_a_float_cast_is_ieee_for_all_inputs(
    op: str, source: tuple[int, int], target: tuple[int, int], nan: int
) -> None:
    text = question(op, source, target, nan)
    assert solve(text, attempts=(Attempt("bitwuzla"),)).answer is Answer.Unsat


@pytest.mark.parametrize("mode", ["RTZ", "RNA"])
def test_another_rounding_is_told_apart(mode: str) -> None:
    text = question("cast.f32.f16", F32, F16, 0x7E00, wrong=mode)
    assert solve(text, attempts=(Attempt("bitwuzla"),)).answer is Answer.Sat
