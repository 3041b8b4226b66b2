"""One wrong backend of every kind is caught as promised; a right one passes every witness."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest

pytest.importorskip("llvmlite")

from lab.mutants import Mutant, Mutated, hunt, mutants, one_of_each_kind
from lab.mutants.conditions import hashed, preimage, unmix
from lab.mutants.hunt import fails, plan_for
from lab.mutants.mutant import DENSE_CASES, Fate
from lab.mutants.page import survivors
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.generate.counter import mix
from vyre.conform.records.evidence import density_found
from vyre.semantics.domain import CONCRETE


@cache
def right() -> CpuBackend:
    return CpuBackend(threads=1, keep=4096)


@cache
def everything() -> tuple[Mutant, ...]:
    return tuple(mutants(with_emitted=False))


KINDS = one_of_each_kind()


@pytest.mark.parametrize("mutant", KINDS, ids=lambda m: m.kind)
def test_each_kind_is_caught_as_promised(mutant: Mutant) -> None:
    verdict = hunt(mutant, right())
    assert verdict.witnessed, f"{mutant.witness} does not fail on it"
    assert verdict.caught or not mutant.promised


def test_a_right_backend_passes_every_witness() -> None:
    witnesses = {m.witness: m.op for m in KINDS}
    for witness, op in witnesses.items():
        plan = plan_for(op or "primitive.math.add", 1 << 12, exhaustive=False, largest=1 << 16)
        assert not fails(right(), witness, plan), witness


def test_a_fault_at_one_input_in_2_64_survives_with_its_density() -> None:
    lost = next(m for m in everything() if m.kind == "one input in 2^64")
    verdict = hunt(lost, right())
    assert (verdict.witnessed, verdict.caught, lost.density) == (True, False, 2.0**-64)
    assert survivors([verdict])[0][1] == "5.4e-20"


def test_a_backend_without_a_fault_survives() -> None:
    fine = Mutant("no fault", "anywhere", "program", Mutated, "primitive.math.add/inputs/0x1,0x2")
    verdict = hunt(fine, right())
    assert (verdict.witnessed, verdict.caught, verdict.as_promised) == (False, False, False)
    assert verdict.cases > 1 << 17


def test_there_are_enough_of_them() -> None:
    found = everything()
    names = Counter(m.name for m in found)
    assert [name for name, count in names.items() if count > 1] == []
    assert len(found) >= 300
    assert len({m.kind for m in found}) >= 25
    assert {m.layer for m in found} == {"program", "lowering", "runtime"}
    assert all(m.density is not None for m in found if not m.promised)


def test_what_is_promised_is_what_cases_can_find() -> None:
    hopeless = {m.kind for m in everything() if not m.promised}
    assert hopeless == {"one input in 2^64", "one input in a billion", "one input in 2^32"}
    assert density_found(DENSE_CASES) < 1e-6


def test_a_broken_promise_is_seen() -> None:
    mutant = KINDS[0]
    assert not Fate(mutant, witnessed=True, found="", cases=1, seconds=0.0).as_promised
    assert not Fate(mutant, witnessed=False, found="x/u8/1", cases=1, seconds=0.0).as_promised


@pytest.mark.parametrize("words", [1, 2, 3])
def test_a_hash_has_the_input_it_is_asked_for(words: int) -> None:
    assert all(unmix(mix(CONCRETE, x)) == x for x in (0, 1, 0x1234_5678, 0xFFFF_FFFF))
    assert hashed(CONCRETE, *preimage(77, 5, words), salt=5) == 77


def test_only_the_named_op_is_wrong() -> None:
    mutant = next(m for m in everything() if m.name == "signed compare: primitive.compare.lt")
    wrong: Any = mutant.make(right())
    plan = plan_for("primitive.compare.gt", 1 << 12, exhaustive=False, largest=1 << 16)
    assert fails(wrong, "primitive.compare.lt/inputs/0x0,0x80000000", plan)
    assert not fails(wrong, "primitive.compare.gt/inputs/0x0,0x80000000", plan)
