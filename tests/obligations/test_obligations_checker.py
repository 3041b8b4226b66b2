"""The checker refuses what a faulty analysis claims, and nothing that a sound one does."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

import pytest

from lab.bulk.guard_programs import guard_case
from vyre.ir.limits import U32_MAX
from vyre.lower.llvm import emit, forms, interchange, strands
from vyre.lower.llvm import rolled as rolled_
from vyre.lower.llvm.affine import Ranges
from vyre.lower.llvm.forms import Affine
from vyre.lower.prepare import Prepared, prepare
from vyre.obligations.check import Checker
from vyre.obligations.linear import Lines
from vyre.obligations.order import Order
from vyre.optimize import facts, ranges
from vyre.optimize.facts import Knowledge
from vyre.optimize.ranges import ANY, Range, exactly

if TYPE_CHECKING:
    from collections.abc import Callable

    Wrong = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]

SEEDS = 150
CHECKS: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Checker, ("inside", "adds_up")),
    (Lines, ("agrees", "inside", "limited")),
    (Order, ("taken", "parts_apart", "turns_apart", "shifted")),
)


@cache
def prepared(seed: int) -> Prepared:
    return prepare(guard_case(seed).program)


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Every answer that a checker gives."""
    answers: list[tuple[str, bool]] = []

    def recorded(name: str, method: Callable[..., bool]) -> Callable[..., bool]:
        @wraps(method)
        def ask(*args: Any, **kwargs: Any) -> bool:
            answer = method(*args, **kwargs)
            answers.append((name, answer))
            return answer

        return ask

    for owner, names in CHECKS:
        for name in names:
            monkeypatch.setattr(owner, name, recorded(f"{owner.__name__}.{name}", getattr(owner, name)))
    return answers


def refused(answers: list[tuple[str, bool]]) -> set[str]:
    return {name for name, answer in answers if not answer}


def test_nothing_of_a_sound_analysis_is_refused(verdicts: list[tuple[str, bool]]) -> None:
    for seed in range(SEEDS):
        emit(prepared(seed))
    assert refused(verdicts) == set()
    asked = {name for name, _ in verdicts}
    assert {f"{owner.__name__}.{name}" for owner, names in CHECKS for name in names} <= asked
    assert len(verdicts) > 5000, "a checker that is not asked proves nothing"


def _patched(target: object, name: str, wrong: Wrong) -> Callable[[pytest.MonkeyPatch], None]:
    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        if target is ranges:
            for op, plain in list(ranges._BINARY.items()):
                if plain.__name__ == name:
                    monkeypatch.setitem(ranges._BINARY, op, wrong)
        monkeypatch.setattr(target, name, wrong)

    return plant


def _yes(*_: object, **__: object) -> bool:
    return True


def _nothing(*_: object, **__: object) -> None:
    return None


_node, _first, _last = Knowledge._node, Ranges.first, Ranges.last
_plus, _scaled, _roll = Affine.plus, Affine.scaled, rolled_._Form._index


def _kept_facts(self: Knowledge, names: Any) -> None:
    """Forgets variables and keeps what was known of expressions that use them."""
    for name in names:
        self._state.values.pop(name, None)
    self._memo.clear()


def _stale(self: Knowledge, name: str, value: Any) -> None:
    """An assignment is one more value that the variable may have had."""
    self._state.values.setdefault(name, (value,))


def _grown(self: Affine, other: Affine) -> Affine | None:
    found = _plus(self, other)
    return found and replace(found, rest=found.rest[:1])


def _larger_step(self: Affine, factor: int) -> Affine | None:
    found = _scaled(self, factor)
    return found and replace(found, local=found.local + (factor > 1))


def _unmoved(self: Any, buffer: str, index: Any) -> str:
    form = self.ranges.place(buffer, index)
    return "" if form is None else f"element {form.group} {form.local} {form.rest}"


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a sum that wraps": _patched(
        ranges, "_add", lambda a, b: Range(a.lo, min(a.hi + b.hi, U32_MAX), a.rooms)
    ),
    "a difference that wraps": _patched(ranges, "_sub", lambda a, b: Range(0, a.hi, a.rooms)),
    "a product of the low ends": _patched(
        ranges, "_mul", lambda a, b: Range(0, max(a.lo, 1) * b.hi & U32_MAX)
    ),
    "a quotient rounded up twice": _patched(ranges, "_div", lambda a, b: Range(0, a.hi // (b.hi + 1))),
    "a remainder by zero": _patched(ranges, "_mod", lambda a, b: b.below()),
    "a remainder that reaches its divisor less two": _patched(
        ranges, "_mod", lambda a, b: Range(0, max(b.hi - 2, 0), a.rooms)
    ),
    "bits of one side": _patched(ranges, "_and", lambda a, b: Range(0, b.hi >> 1, b.rooms)),
    "bits above both": _patched(ranges, "_or", lambda a, b: Range(max(a.lo, b.lo), max(a.hi, b.hi))),
    "a shift one too far": _patched(
        ranges, "_shr", lambda a, b: Range(0, a.hi >> min(b.lo + 1, 31), a.rooms)
    ),
    "at most taken for less": _patched(ranges, "_less_or_equal", lambda a, b: (a.meet(b.below()), b)),
    "less taken for two less": _patched(ranges, "_less", lambda a, b: (a.meet(b.below().below()), b)),
    "equal taken for nothing more": _patched(ranges, "_apart", lambda a, b: exactly(a.lo)),
    "room from nowhere": _patched(
        ranges, "_moved", lambda rooms, by: tuple((n, max(r + by, 1)) for n, r in rooms)
    ),
    "one of two taken for both": _patched(ranges, "_smaller", lambda a, b: ranges._larger(a, b)),
    "a length one short": _patched(
        ranges, "_from_length", lambda left, y: Range(0, U32_MAX, tuple((n, 1) for n, _ in y.rooms)) or ANY
    ),
    "sums never wrap": _patched(Knowledge, "no_wrap", _yes),
    "memory never changes": _patched(Knowledge, "_is_stable", _yes),
    "facts outlive assignments": _patched(Knowledge, "forget", _kept_facts),
    "the first value stays": _patched(Knowledge, "assign", _stale),
    "unequal means less": _patched(
        facts, "_not_length", lambda expr, value, other: value.meet(Range(0, U32_MAX, (("out", 1),)))
    ),
    "a term is lost": _patched(Affine, "plus", _grown),
    "a factor too large": _patched(Affine, "scaled", _larger_step),
    "a limit one low": _patched(Ranges, "last", lambda self, form: _last(self, form) - 1),
    "a limit from one too high": _patched(Ranges, "first", lambda self, form: _first(self, form) + 1),
    "factors without bounds": _patched(forms, "_checked", lambda form: replace(form, local=form.local & 1)),
    "strands share variables": _patched(strands, "_join_by_variables", _nothing),
    "strands share memory": _patched(strands, "_join_by_memory", _nothing),
    "copies that are not equal": _patched(rolled_._Form, "_index", _unmoved),
    "turns that meet": _patched(interchange, "_separate", _yes),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_refused(
    fault: str, verdicts: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    FAULTS[fault](monkeypatch)
    for seed in range(SEEDS):
        emit(prepared(seed))
        if refused(verdicts):
            return
    pytest.fail(f"no check refused anything in {SEEDS} programs")
