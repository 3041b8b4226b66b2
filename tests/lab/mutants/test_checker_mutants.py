"""Broken checkers are noticed by their controls; false laws are refuted; wrong definitions are caught."""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("bitwuzla")

from lab.mutants import checkers, definitions, laws
from lab.mutants.checkers import BROKEN, BrokenChecker
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.registry import spec
from vyre.conform.registry.ids import NE
from vyre.conform.spec.law import ap
from vyre.conform.spec.term import Constant, Equation, Variable
from vyre.semantics.proof_cache import ProofCache

if TYPE_CHECKING:
    from lab.mutants.definitions import WrongDefinition
    from lab.mutants.laws import FalseLaw

SLOW = {"no operand is exhausted"}


@cache
def right() -> CpuBackend:
    return CpuBackend(threads=1, keep=4096)


@pytest.mark.parametrize("broken", [b for b in BROKEN if b.name not in SLOW], ids=lambda b: b.name)
def test_a_broken_checker_is_noticed(broken: BrokenChecker) -> None:
    assert broken.noticed(right())


def test_a_control_that_sees_nothing_is_no_control() -> None:
    places = ("vyre.conform.verify.bench:_equal",)
    blind = BrokenChecker("blind", places, lambda whole: whole, lambda backend: True)
    assert not blind.noticed(right())


def test_a_checker_is_whole_again_afterwards() -> None:
    from vyre.conform.verify import bench

    before = bench._equal  # pyright: ignore[reportPrivateUsage]
    with BROKEN[0].applied():
        assert bench._equal is not before  # pyright: ignore[reportPrivateUsage]
    assert bench._equal is before  # pyright: ignore[reportPrivateUsage]


def _some_laws() -> list[FalseLaw]:
    return list(islice(laws.false_laws(), 0, None, 23))


@pytest.mark.parametrize("law", _some_laws(), ids=lambda law: law.name)
def test_a_false_law_is_refuted(law: FalseLaw) -> None:
    judged = laws.judge(law, ProofCache(None))
    assert judged.said in ("refuted", "proved")
    assert judged.by_cases == (judged.said == "refuted")


def test_many_laws_become_false() -> None:
    found = list(laws.false_laws())
    assert len(found) >= 500
    assert len({law.name for law in found}) > 400


def test_what_cases_cannot_refute_the_solver_does() -> None:
    mul, a, b = spec("primitive.math.mul"), Variable(0), Variable(1)
    rare = Constant(0x9E37_79B1 * 0x85EB_CA77 & 0xFFFF_FFFF)
    never = Equation(ap(NE, ap(mul.id, a, b), rare), Constant(1))
    judged = laws.judge(laws.FalseLaw(mul, "by hand", "false at few inputs", never), ProofCache(None))
    assert (judged.said, judged.by_cases) == ("refuted", False)


@cache
def _wrong() -> tuple[WrongDefinition, ...]:
    return tuple(definitions.wrong_definitions())


def test_wrong_definitions_are_caught_by_a_right_backend() -> None:
    found = [w for w in _wrong() if definitions.can_run(w, right())]
    assert len(_wrong()) >= 100
    chosen = found[::5]
    assert len(chosen) >= 20
    assert [w.name for w in chosen if not definitions.caught(w, right())] == []


def test_a_right_definition_is_not_caught() -> None:
    fine = definitions.WrongDefinition(spec("primitive.math.add"), "none", (1, 2))
    assert not definitions.caught(fine, right())


def test_controls_are_of_every_checking_room() -> None:
    places = [place.partition(":")[0].split(".") for b in checkers.BROKEN for place in b.places]
    rooms = {parts[2] if parts[1] == "conform" else parts[1] for parts in places}
    assert rooms == {"verify", "suite", "algebra", "spec", "oracle", "backends"}
