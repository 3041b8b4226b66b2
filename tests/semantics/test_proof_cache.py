"""Kept proofs: used where they apply, made again where they do not."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from vyre.errors import VyreError
from vyre.semantics import proof_cache as module
from vyre.semantics import solvers
from vyre.semantics.proof_cache import ProofCache, default_folder, digest
from vyre.semantics.solvers import BITS, DIVISION, HOUR, THEORY, Answer, Attempt, plan, solve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HEAD = "(set-logic QF_BV)\n(declare-const x0_0 (_ BitVec 32))\n"
TRUE = HEAD + "(assert (= x0_0 #x00000007))\n"
FALSE = HEAD + "(assert (distinct x0_0 x0_0))\n"


def solved_again(text: str, *, attempts: object) -> solvers.Solved:
    pytest.fail(f"solved again: {text}")


def undecided(text: str, *, attempts: object) -> solvers.Solved:
    return solvers.Solved(Answer.Unknown, {}, BITS[0], "1", 0.0)


def version_99(name: str) -> str:
    return "99"


def no_version(name: str) -> str:
    return ""


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5", "z3"])
def test_every_solver_answers_alike(solver: str) -> None:
    attempt = (Attempt(solver),)
    yes, no = solve(TRUE, attempts=attempt), solve(FALSE, attempts=attempt)
    assert (yes.answer, yes.model) == (Answer.Sat, {"x0_0": 7})
    assert (no.answer, no.model) == (Answer.Unsat, {})
    assert yes.version


DISTRIBUTES = HEAD + (
    "(declare-const x1_0 (_ BitVec 32))\n(declare-const x2_0 (_ BitVec 32))\n"
    "(assert (distinct (bvmul x0_0 (bvsub x1_0 x2_0)) (bvsub (bvmul x0_0 x1_0) (bvmul x0_0 x2_0))))\n"
)
PRIME = (
    "(set-logic QF_BV)\n(declare-const a (_ BitVec 16))\n(declare-const b (_ BitVec 16))\n"
    "(assert (= (bvmul ((_ zero_extend 16) a) ((_ zero_extend 16) b)) (_ bv65521 32)))\n"
    "(assert (and (bvugt a (_ bv1 16)) (bvugt b (_ bv1 16))))\n"
)
TAKES = {"bitwuzla": (40, 400), "cvc5": (4_000, 60_000), "z3": (50_000, 1_000_000)}
"""Too little work for the prime, and enough."""


def test_a_solver_that_gives_up_is_followed_by_the_next() -> None:
    first, second = Attempt("bitwuzla", work=500, seconds=60), Attempt("cvc5", (("solve-bv-as-int", "sum"),))
    assert solve(DISTRIBUTES, attempts=(first,)).answer is Answer.Unknown
    verdict = solve(DISTRIBUTES, attempts=(first, second))
    assert (verdict.answer, verdict.attempt) == (Answer.Unsat, second)


@pytest.mark.parametrize("solver", TAKES)
def test_a_solver_gives_up_by_its_work(solver: str) -> None:
    little, enough = TAKES[solver]
    assert solve(PRIME, attempts=(Attempt(solver, work=little),)).answer is Answer.Unknown
    assert solve(PRIME, attempts=(Attempt(solver, work=enough),)).answer is Answer.Unsat


class Counted:
    """How often a terminator was asked, on a machine that stands still for an hour at every question."""

    def __init__(self, bitwuzla: Any) -> None:
        self.asked = 0
        self.hours = 0.0
        self._real = bitwuzla

    def clock(self) -> float:
        self.hours += 1.0
        return 3600.0 * self.hours

    def configure_terminator(self, ask: Callable[[], bool]) -> None:
        def counted() -> bool:
            self.asked += 1
            self.clock()
            return ask()

        self._real.configure_terminator(counted)

    def check_sat(self) -> object:
        return self._real.check_sat()


def test_time_that_passes_is_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    bitwuzla = pytest.importorskip("bitwuzla")
    seen: list[Counted] = []

    class Parser:
        def __init__(self, *given: object) -> None:
            self._real = bitwuzla.Parser(*given)

        def parse(self, *given: object) -> None:
            self._real.parse(*given)

        def bitwuzla(self) -> Counted:
            seen.append(Counted(self._real.bitwuzla()))
            for name in ("perf_counter", "monotonic", "time", "thread_time", "process_time"):
                monkeypatch.setattr(solvers.time, name, seen[-1].clock)
            return seen[-1]

    def module_with_slow_clock(name: str) -> object:
        return SimpleNamespace(
            Options=bitwuzla.Options, Option=bitwuzla.Option, TermManager=bitwuzla.TermManager, Parser=Parser
        )

    monkeypatch.setattr(solvers, "_module", module_with_slow_clock)
    enough = Attempt("bitwuzla", work=TAKES["bitwuzla"][1])
    assert solve(PRIME, attempts=(enough,)).answer is Answer.Unsat
    takes = seen[-1].asked
    assert seen[-1].hours > takes > 0
    for work, answer in ((takes, Answer.Unsat), (takes - 1, Answer.Unknown)):
        for _ in range(2):
            assert solve(PRIME, attempts=(Attempt("bitwuzla", work=work),)).answer is answer
            assert seen[-1].asked == takes


@pytest.mark.parametrize("attempts", [BITS, DIVISION, THEORY])
def test_the_clock_decides_nothing(attempts: tuple[Attempt, ...]) -> None:
    assert all(a.limit > 0 and a.seconds == HOUR for a in attempts)


def test_later_attempts_of_a_solver_may_do_more() -> None:
    for attempts in (BITS, DIVISION):
        for solver in ("bitwuzla", "cvc5", "z3"):
            limits = [a.limit for a in attempts if a.solver == solver]
            assert limits == sorted(set(limits))


def test_the_limit_does_not_show(tmp_path: Path) -> None:
    verdict = ProofCache(tmp_path).solve(TRUE, attempts=(Attempt("bitwuzla", work=9_999),))
    again = ProofCache(tmp_path).solve(TRUE, attempts=(Attempt("bitwuzla", work=9_999),))
    assert (verdict.attempt.options_text, again.attempt.options_text) == ("", "")
    assert (again.cached, again.attempt) == (True, verdict.attempt)


def test_division_is_asked_as_integers_first() -> None:
    assert plan("(bvudiv a b)") is DIVISION
    assert plan("(bvadd a b)") is BITS


def test_no_solver_is_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "solver_version", no_version)
    with pytest.raises(VyreError, match=r"vyre\[conform\]"):
        solve(TRUE)


def kept(folder: Path) -> Path:
    (path,) = folder.rglob("*.json")
    return path


def test_an_answer_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ProofCache(tmp_path).solve(TRUE)
    monkeypatch.setattr(module, "solve", solved_again)
    second = ProofCache(tmp_path).solve(TRUE)
    assert not first.cached
    assert second.cached
    assert (second.answer, second.model, second.attempt) == (first.answer, first.model, first.attempt)
    assert second.version == first.version
    assert [p.suffix for p in tmp_path.rglob("*.*")] == [".json"]


@pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"check": 1}', "flip", "forge", "swap"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, damage: str) -> None:
    cache = ProofCache(tmp_path)
    cache.solve(TRUE)
    path = kept(tmp_path)
    record = json.loads(path.read_text())
    match damage:
        case "flip":
            record["answer"] = "unsat"
        case "forge":
            record["model"] = {"x0_0": 8}
        case "swap":
            record["key"] = digest(FALSE, BITS)
        case _:
            record = None
    path.write_text(damage if record is None else json.dumps(record))
    again = cache.solve(TRUE)
    assert not again.cached
    assert again.model == {"x0_0": 7}
    assert cache.solve(TRUE).cached


def test_the_key_holds_everything_an_answer_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    key = digest(TRUE, BITS)
    assert digest(FALSE, BITS) != key
    assert digest(TRUE, DIVISION) != key
    assert digest(TRUE, (Attempt("bitwuzla", (("REWRITE_LEVEL", "0"),)),)) != digest(
        TRUE, (Attempt("bitwuzla"),)
    )
    assert digest(TRUE, (Attempt("z3", work=1),)) != digest(TRUE, (Attempt("z3", work=2),))
    monkeypatch.setattr(module, "solver_version", version_99)
    assert digest(TRUE, BITS) != key


def test_an_unknown_answer_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "solve", undecided)
    ProofCache(tmp_path).solve(TRUE)
    assert list(tmp_path.rglob("*.json")) == []


def test_a_cache_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert ProofCache(blocked).solve(TRUE).answer is Answer.Sat


def test_the_folder_follows_xdg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "vyre" / "proofs"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    usual = default_folder()
    assert usual is not None
    assert usual.parts[-3:] == (".cache", "vyre", "proofs")
