"""The hardest cases: they aim at what they say, find planted faults at once, and are the same everywhere."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from lab.floats import records, witness
from lab.floats.hardest import ARITHMETIC, HardClass, classes
from lab.floats.mutants import mutants
from lab.floats.witness import BLOCK, case, generators, operation, seed_word
from tests.numeric.numeric_truth import reference
from vyre.errors import OpError
from vyre.ir.float_formats import F32
from vyre.lower.ways import SOFT
from vyre.numeric.soft import soft_ops
from vyre.semantics.vector import evaluate

if TYPE_CHECKING:
    from lab.floats.hardest.parts import Source
    from vyre.ir.expr import Expr

OPS = {op.id: op for op in soft_ops()}
RECORDS = records.load()
SAMPLE = 256
KINDS = [kind for name in ARITHMETIC for kind in classes(name)]
FAULTS = [(name, mistake) for name in ARITHMETIC for mistake, _ in mutants(OPS[f"soft.f32.{name}"])]
OVERFLOW = Fraction(2) ** 128 - Fraction(2) ** 103
SMALLEST_NORMAL = Fraction(2) ** -126


def named(kind: HardClass) -> str:
    return f"{kind.operation} {kind.name}"


def sample(kind: HardClass) -> list[tuple[int, ...]]:
    numbers = np.arange(SAMPLE, dtype=np.uint32) * np.uint32(7919)
    seeds = np.full(SAMPLE, seed_word(1, 0), dtype=np.uint32)
    columns = [evaluate(kind.operand(k), numbers, seeds).tolist() for k in range(kind.arity)]
    return list(zip(*columns, strict=True))


def number(bits: int) -> Fraction:
    field, fraction = bits >> 23 & 255, bits & F32.fraction
    size = Fraction(fraction | (F32.hidden if field else 0)) * Fraction(2) ** (max(field, 1) - 150)
    return -size if bits & F32.sign else size


def finite(bits: int) -> bool:
    return bits & F32.infinity != F32.infinity


def exact(name: str, operands: tuple[int, ...]) -> Fraction | None:
    """The result before rounding; None where it is not a number."""
    if not all(map(finite, operands)) or (name == "div" and not operands[1] & F32.magnitude):
        return None
    a, b, *more = map(number, operands)
    match name:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a / b
        case _:
            return a * b + more[0]


def off_midpoint(value: Fraction) -> Fraction:
    """The distance to the nearest midpoint of two floats, in units of the last place."""
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    places = size / Fraction(2) ** (max(exponent, -126) - 23)
    return abs(places - places.numerator // places.denominator - Fraction(1, 2))


def share(kind: HardClass, *, tie: bool | None = None) -> float:
    """How many of the exact results are next to a midpoint or on one; `tie` asks for one of the two."""
    found = [value for row in sample(kind) if (value := exact(kind.operation, row))]
    off = [off_midpoint(value) for value in found]
    hits = [x for x in off if x < Fraction(1, 1 << 16) and tie in (None, x == 0)]
    return len(hits) / SAMPLE


@pytest.mark.parametrize("kind", [k for k in KINDS if "midpoint" in k.name], ids=named)
def test_near_midpoints_are_near(kind: HardClass) -> None:
    assert share(kind) > 0.25
    assert share(kind, tie=False) > 0.1


def test_far_from_midpoints_the_measure_says_so() -> None:
    assert share(classes("mul")[-2]) < 0.02


def test_ties_are_ties_and_are_pushed_off() -> None:
    by_name = {named(kind): kind for kind in KINDS}
    assert share(by_name["mul tie"], tie=True) == 1
    assert share(by_name["fma tie pushed off"], tie=False) > 0.7


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name.startswith("subnormal")], ids=named)
def test_subnormal_classes_meet_subnormals(kind: HardClass) -> None:
    tiny = 0
    for row in sample(kind):
        value = exact(kind.operation, row)
        small = any(0 < bits & F32.magnitude < F32.hidden for bits in row)
        tiny += (
            small if kind.name == "subnormal operand" else value is not None and abs(value) < SMALLEST_NORMAL
        )
    assert tiny > SAMPLE // 2


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name == "overflow threshold"], ids=named)
def test_both_sides_of_overflow_are_met(kind: HardClass) -> None:
    values = [abs(value) for row in sample(kind) if (value := exact(kind.operation, row)) is not None]
    near = [value for value in values if OVERFLOW / 2 < value < OVERFLOW * 2]
    over = sum(value >= OVERFLOW for value in near)
    assert over > SAMPLE // 8
    assert len(near) - over > SAMPLE // 8


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name == "cancellation"], ids=named)
def test_cancelling_operands_cancel(kind: HardClass) -> None:
    cancelled = 0
    for row in sample(kind):
        value = exact(kind.operation, row)
        larger = abs(number(row[2])) if kind.operation == "fma" else max(map(abs, map(number, row)))
        cancelled += value is not None and abs(value) < larger / 1024
    assert cancelled > SAMPLE // 3


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name == "every distance"], ids=named)
def test_every_distance_occurs(kind: HardClass) -> None:
    fields = [[bits >> 23 & 255 for bits in row] for row in sample(kind)]
    if kind.operation == "fma":
        assert {c - (a + b - 127) for a, b, c in fields} == set(range(-64, 64))
    else:
        assert {abs(a - b) for a, b in fields} == set(range(64))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_no_case_differs_from_the_processor(name: str) -> None:
    pytest.importorskip("llvmlite")
    found = witness.witness(OPS[f"soft.f32.{name}"], 1 << 21)
    assert (found.cases, found.failures, found.first) == (1 << 21, 0, None)
    assert [count.name for count in found.counts] == [kind.name for kind in classes(name)]
    assert min(count.cases for count in found.counts) >= (1 << 21) // len(found.counts) - BLOCK


@pytest.mark.parametrize("cpu", ["x86-64-v2", "x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_one_side_is_the_instruction_and_the_other_is_integers(name: str, cpu: str) -> None:
    pytest.importorskip("llvmlite")
    from lab.floats.hardware import oracle
    from lab.floats.jit import compiled

    floats = re.compile(r"\bv?f?n?(?:add|sub|mul|div|madd)\d*[ps][sd]\b|\bfmaf\b")
    truth = oracle(f"soft.f32.{name}")
    assert truth is not None
    assert floats.search(truth.assembly(cpu))
    assert not floats.search(compiled(OPS[f"soft.f32.{name}"]).assembly(cpu))


@pytest.mark.parametrize(("name", "mistake"), FAULTS)
def test_a_planted_fault_is_found_within_a_million_cases(name: str, mistake: str) -> None:
    pytest.importorskip("llvmlite")
    op = OPS[f"soft.f32.{name}"]
    wrong = dict(mutants(op))[mistake]
    first = witness.witness(wrong, 1_000_000).first
    assert first is not None
    assert first < 1_000_000
    _, operands = case(name, first)
    given = [np.array([x], dtype=np.uint32) for x in operands]
    truth = reference(op.id, operands)
    assert int(evaluate(wrong, *given)[0]) != truth == int(evaluate(op, *given)[0])


def test_the_classic_faults_are_planted() -> None:
    assert {
        ("fma", "rounds the product first"),
        ("fma", "forgets the sticky bit of the smaller summand"),
    } < set(FAULTS)
    assert {name for name, mistake in FAULTS if mistake == "rounds twice"} == set(ARITHMETIC)


def test_a_range_of_blocks_is_the_same_part_of_a_longer_run() -> None:
    pytest.importorskip("llvmlite")
    wrong = dict(mutants(OPS["soft.f32.mul"]))["rounds twice"]
    whole = witness.witness(wrong, 24 * BLOCK, seed=5)
    parts = [witness.witness(wrong, 8 * BLOCK, seed=5, start=8 * k, threads=1) for k in range(3)]
    assert sum(part.failures for part in parts) == whole.failures > 0
    assert whole.first == parts[0].first
    assert witness.witness(wrong, 8 * BLOCK, seed=6).failures != parts[0].failures


def test_numbers_beyond_32_bits_are_other_cases() -> None:
    block = 9 << 16
    assert seed_word(1, block) != seed_word(1, 0)
    assert case("add", 3)[1] != case("add", 3 + (7 << 32))[1]


def test_what_has_no_classes_is_refused() -> None:
    with pytest.raises(OpError, match="no classes of hard cases"):
        operation(OPS["soft.f32.sqrt"])
    with pytest.raises(OpError, match="no classes of hard cases"):
        witness.witness(OPS["soft.f16.add"], 1)


@pytest.mark.parametrize("name", ARITHMETIC)
def test_the_record_covers_a_thousand_million_of_these_cases(name: str) -> None:
    kinds = {kind.name for kind in classes(name)}
    items = [item for item in RECORDS[f"soft.f32.{name}"]["evidence"] if "generators" in item]
    assert items, f"run python -m lab.floats.hard_cases run 4e9 --record --only {name}"
    for item in items:
        assert item.get("generators") == generators(name), "the cases have changed since they were run"
        assert item.get("cases", 0) >= 10**9
        per_class = item.get("classes", {})
        assert per_class.keys() == kinds
        assert sum(per_class.values()) == item.get("cases")


def test_other_cases_have_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = classes("mul")

    def swapped(x: Source) -> tuple[Expr, ...]:
        return first.make(x)[::-1]

    def other(_: str) -> tuple[HardClass, ...]:
        return replace(first, make=swapped), *rest

    before = generators("mul")
    monkeypatch.setattr(witness, "classes", other)
    assert generators("mul") != before


@pytest.mark.parametrize("name", ["div", "fma"])
def test_a_backend_makes_the_same_cases_and_compares_its_ways(name: str) -> None:
    pytest.importorskip("llvmlite")
    from lab.floats.witness_programs import applied, compared, made
    from vyre.backends.cpu.backend import CpuBackend

    backend = CpuBackend()
    kinds, size = classes(name), 2 * BLOCK
    turn, index = 3, len(kinds) - 1
    arity = kinds[0].arity
    start = np.array([turn, seed_word(1, 0)], dtype=np.uint32)
    operands = {x: np.zeros(size, dtype=np.uint32) for x in "abc"[:arity]}
    groups = (size // 256, 1, 1)

    def run(executable: object, **arrays: np.ndarray) -> None:
        views = {x: v.view(np.uint8).data for x, v in arrays.items()}
        executable.run(views, groups)  # type: ignore[attr-defined]

    run(backend.compile(made(name, index)), start=start, **operands)
    for at in (0, 77, BLOCK, BLOCK + 1):
        block = (turn + at // BLOCK) * len(kinds) + index
        kind, expected = case(name, block * BLOCK + at % BLOCK)
        assert kind == kinds[index]
        assert tuple(int(v[at]) for v in operands.values()) == expected

    wrong = dict(mutants(OPS[f"soft.f32.{name}"]))["rounds twice"]
    sides = {
        "soft": backend.compile(applied(name), ways=SOFT),
        "native": backend.compile(applied(name)),
        "wrong": backend.compile(applied(name, by=wrong), ways=SOFT),
    }
    assert [sides[x].lowering for x in ("soft", "native")] == ["soft", "native"]
    results = {x: np.zeros(size, dtype=np.uint32) for x in sides}
    for x, side in sides.items():
        run(side, **operands, out=results[x])
    counter = backend.compile(compared())
    for x in ("native", "wrong"):
        found = np.array([0, 0xFFFFFFFF], dtype=np.uint32)
        run(counter, x=results["soft"], y=results[x], found=found)
        differing = np.flatnonzero(results["soft"] != results[x])
        first = int(differing[0]) if differing.size else 0xFFFFFFFF
        assert found.tolist() == [differing.size, first]
        assert bool(differing.size) == (x == "wrong")
