"""Checkers that accept everything, each with the control that must notice.

A control is something known to be wrong: a mutant, a false law, a spec no gate should admit. While a checker
is broken its control passes, and that is how the break is seen; with the checker whole the control is caught.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lab.mutants import catalogue
from lab.mutants.conditions import point
from lab.mutants.hunt import hunt, plan_for
from lab.mutants.mutant import USUAL_CASES
from lab.mutants.values import wrong_at
from vyre.conform.algebra.checker import exhaustive, witnessed
from vyre.conform.algebra.evidence import EvidenceKind
from vyre.conform.algebra.proof import prove
from vyre.conform.registry import lookup, spec
from vyre.conform.spec import gates, independence
from vyre.conform.spec.law import Commutative, ZeroProduct
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.stage import PASSED
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache

if TYPE_CHECKING:
    from lab.mutants.mutant import Mutant
    from vyre.backends.protocol import Backend

Control = Callable[[Any], bool]
"""Takes a right backend; True where the known wrong thing is caught."""


@dataclass(frozen=True, slots=True)
class BrokenChecker:
    """`places` (`module:attribute`) are replaced by what `broken` makes of them."""

    name: str
    places: tuple[str, ...]
    broken: Callable[[Any], Any]
    control: Control

    @contextmanager
    def applied(self) -> Generator[None]:
        with ExitStack() as stack:
            for place in self.places:
                stack.enter_context(_patched(place, self.broken))
            yield

    def noticed(self, backend: Backend) -> bool:
        """The control is caught by the whole checker and not by the broken one."""
        with self.applied():
            passes = not self.control(backend)
        return passes and self.control(backend)


@contextmanager
def _patched(place: str, broken: Callable[[Any], Any]) -> Generator[None]:
    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(module)
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    whole = getattr(owner, name)
    setattr(owner, name, broken(whole))
    try:
        yield
    finally:
        setattr(owner, name, whole)


@cache
def _named() -> dict[str, Mutant]:
    return {m.name: m for m in catalogue.mutants(with_emitted=False)}


def _mutant(name: str) -> Control:
    return lambda backend: hunt(_named()[name], backend).caught


def _wrong_at(op: str, kind: str, number: int) -> Control:
    """An op that is wrong for the operands of one case of a kind, and for no others."""

    def control(backend: Backend) -> bool:
        plan = plan_for(op, USUAL_CASES, exhaustive=False, largest=1 << 16)
        words = kind_of(graph_of(op), kind, plan).case(number)[: spec(op).words]
        return hunt(wrong_at(spec(op), point("these operands", words)), backend).caught

    return control


def _gives(value: Any) -> Callable[[Any], Any]:
    def always(*args: Any, **more: Any) -> Any:
        return value

    return lambda whole: always


def _without(kind: str) -> Callable[[Any], Any]:
    def broken(whole: Any) -> Any:
        def fewer(graph: Any, plan: Any) -> list[Any]:
            return [k for k in whole(graph, plan) if k.name != kind]

        return fewer

    return broken


def _accepting(whole: Any) -> Any:
    """A maker of judges, all of which are content."""

    def content(found: Any) -> None:
        return None

    def make(*args: Any, **more: Any) -> Any:
        return content

    return make


def _passing(whole: Any) -> Any:
    def passing(*args: Any, **more: Any) -> Any:
        return replace(whole(*args, **more), status=PASSED)

    return passing


def _rows_pass(whole: Any) -> Any:
    def passing(*args: Any, **more: Any) -> Any:
        return [replace(outcome, status=PASSED) for outcome in whole(*args, **more)]

    return passing


def _false_law(backend: Backend) -> bool:
    proof = prove(ZeroProduct(holds=True), spec("primitive.math.mul"), lookup, ProofCache(None))
    return proof.evidence.kind is EvidenceKind.Refuted


def _false_law_by_cases(backend: Backend) -> bool:
    found = exhaustive(Commutative(), spec("primitive.math.sub"), lookup)
    return found is not None and found[0].kind is EvidenceKind.Refuted


def _false_law_by_witness(backend: Backend) -> bool:
    found = witnessed(Commutative(), spec("primitive.math.sub"), lookup, cases=1 << 12)
    return found[0].kind is EvidenceKind.Refuted


def _bad_spec(backend: Backend) -> bool:
    return bool(gates.check(replace(spec("primitive.math.add"), category="B")))


def _tautology(backend: Backend) -> bool:
    target = spec("primitive.math.add")

    def oracle(a: int, b: int) -> int:
        return target.cpu_fn(CONCRETE, a, b)

    return bool(independence.by_calls(oracle, target, [(1, 2)]))


_JUDGES = tuple(
    f"vyre.conform.verify.stages.{m}:exactly"
    for m in ("barrier", "bounds", "races", "dispatches", "programs")
)
_ADD = "primitive.math.add"
_CASES = (
    ("u8", "primitive.math.sub", 0x39C8),
    ("u16", "primitive.bitwise.popcount", 0x9C41),
    ("equivalence", "primitive.math.div", 303),
    ("boundary", "primitive.math.sub", 951),
    ("adversarial", "primitive.math.sub", 1001),
    ("correlated", "primitive.math.sub", 1005),
    ("random", "primitive.math.sub", 17),
)
"""A case of each kind that no other kind has."""

BROKEN: tuple[BrokenChecker, ...] = (
    BrokenChecker(
        "words are always equal",
        ("vyre.conform.verify.bench:_equal",),
        _gives(True),
        _mutant(f"one pair of bytes: {_ADD}"),
    ),
    BrokenChecker(
        "a check never fails",
        ("vyre.conform.verify.bench:_Run.fails",),
        _gives(None),
        _mutant("signed compare: primitive.compare.lt"),
    ),
    BrokenChecker(
        "failures are not noted",
        ("vyre.conform.verify.operations:_note",),
        _gives(None),
        _mutant(f"equal operands: {_ADD}"),
    ),
    *(
        BrokenChecker(
            f"no {kind} cases",
            ("vyre.conform.suite.units:kinds",),
            _without(kind),
            _wrong_at(op, kind, number),
        )
        for kind, op, number in _CASES
    ),
    BrokenChecker(
        "no operand is exhausted",
        ("vyre.conform.suite.units:kinds",),
        _without("all"),
        _mutant("one input in 2^32, all of them run: primitive.bitwise.reverse_bits"),
    ),
    BrokenChecker(
        "barriers: any bytes will do",
        _JUDGES[:1],
        _accepting,
        _mutant("barrier that leaks: none at all, by visibility"),
    ),
    BrokenChecker(
        "bounds: any bytes will do",
        _JUDGES[1:2],
        _accepting,
        _mutant("load out of bounds: the last element, by the bounds stage"),
    ),
    BrokenChecker(
        "races: any bytes will do", _JUDGES[2:3], _accepting, _mutant("torn 16-bit store: every 64th half")
    ),
    BrokenChecker(
        "dispatches: any bytes will do", _JUDGES[3:4], _accepting, _mutant("stale results: of the first run")
    ),
    BrokenChecker(
        "folding: every trial passes",
        ("vyre.conform.verify.stage:run_trial",),
        _passing,
        _mutant("folded wrongly: x Div x"),
    ),
    BrokenChecker(
        "float folding: every trial passes",
        ("vyre.conform.verify.stage:run_trial",),
        _passing,
        _mutant("rewritten as over the reals: x + 0 is x, F32"),
    ),
    BrokenChecker(
        "golden: every row passes",
        ("vyre.conform.verify.golden.stage:run_rows",),
        _rows_pass,
        _mutant("reduction in another order: strict as a tree"),
    ),
    BrokenChecker(
        "engines: every answer is right",
        ("vyre.conform.verify.stages.engines:attempt",),
        _passing,
        _mutant("reduction in another order: the first element last, reduce_strict"),
    ),
    BrokenChecker(
        "truth: every chunk agrees",
        ("vyre.conform.oracle.truth.check:_sweep",),
        _gives([]),
        _mutant("one input in 2^32 of a function: FExp at 0x3F3504F3"),
    ),
    BrokenChecker(
        "determinism: every trial passes",
        ("vyre.conform.verify.stages.determinism:run_trial",),
        _passing,
        lambda backend: (
            hunt(_named()["nondeterministic: atomic.add, once in 10000 results"], backend).witnessed
        ),
    ),
    BrokenChecker(
        "atomics: any history will do",
        ("vyre.conform.verify.stages.atomics:check",),
        _gives(None),
        _mutant("lost atomic: Add in storage"),
    ),
    BrokenChecker(
        "memory may be touched anywhere",
        ("vyre.backends.execute:_require_untouched",),
        _gives(None),
        _mutant("input buffer overwritten: with zeros"),
    ),
    BrokenChecker(
        "memory past the end may be touched",
        ("vyre.backends.execute:_require_untouched",),
        _gives(None),
        _mutant("written past the end: one byte"),
    ),
    BrokenChecker(
        "every law is proved",
        ("vyre.conform.algebra.proof:obligation",),
        _gives("(set-logic QF_BV)(assert false)"),
        _false_law,
    ),
    BrokenChecker(
        "cases refute no law",
        ("vyre.conform.algebra.checker:first_failure",),
        _gives(None),
        _false_law_by_cases,
    ),
    BrokenChecker(
        "witnesses refute no law",
        ("vyre.conform.algebra.checker:first_failure",),
        _gives(None),
        _false_law_by_witness,
    ),
    BrokenChecker("every spec is admitted", ("vyre.conform.spec.gates:check",), _gives([]), _bad_spec),
    BrokenChecker(
        "every oracle is independent", ("vyre.conform.spec.independence:by_calls",), _gives([]), _tautology
    ),
)
