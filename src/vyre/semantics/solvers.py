"""Three solvers behind one question: is this SMT-LIB text satisfiable, and by which values?

Each is tried for a while, in an order that the text suggests: bitwuzla is fastest on bits, cvc5 with
bit-vectors as integers and z3 where there is division. Texts in the theory of floats go to bitwuzla, which
is given longer. A while is an amount of work that the solver itself counts, so the same solver answers on
every machine, whatever else that does. None is needed to import this module.
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.semantics.terms import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Answer(Enum):
    Unsat = "unsat"
    Sat = "sat"
    Unknown = "unknown"


_USUAL = {"bitwuzla": 70_000, "cvc5": 1_000_000, "z3": 40_000_000}
"""Ten seconds or so on a machine of today, twenty for z3."""

HOUR = 3600.0
UNCOUNTED = 1 << 60
"""The work of an attempt that its seconds alone end, for proofs that are made once and kept."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One solver with its options and the work it may do, 0 for the usual amount.

    The units are the solver's own: looks at its terminator for bitwuzla, resource units for cvc5 and z3.
    `seconds` are for a solver that hangs without counting, and long enough never to decide otherwise;
    only with `UNCOUNTED` work do they decide.
    """

    solver: str
    options: tuple[tuple[str, str], ...] = ()
    work: int = 0
    seconds: float = HOUR

    @property
    def limit(self) -> int:
        return self.work or _USUAL[self.solver]

    @property
    def options_text(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.options)


@dataclass(frozen=True, slots=True)
class Solved:
    """The answer of the attempt that gave it, and for `Sat` a value per variable."""

    answer: Answer
    model: dict[str, int]
    attempt: Attempt
    version: str
    seconds: float
    cached: bool = False


# What these questions take, so that a limit is far from both sides: the hardest law that bitwuzla proves at
# first takes 9,328 looks and the easiest that is left to cvc5 17,610 (12,092 and 16,554 in compositions);
# cvc5 takes 12,502 units or gets nowhere in 300,000; bitwuzla takes 34,021 the second time, or more than
# 72,000, and 120,070 for the hardest law of floats.
_AS_INTEGERS = (("solve-bv-as-int", "sum"),)
_QUICK = (Attempt("bitwuzla", work=14_000), Attempt("cvc5", _AS_INTEGERS, work=100_000))
_LATER = (
    Attempt("bitwuzla"),
    Attempt("cvc5", _AS_INTEGERS),
    Attempt("z3"),
    Attempt("bitwuzla", work=600_000),
)
BITS = (*_QUICK, *_LATER)
DIVISION = (*reversed(_QUICK), *_LATER)
THEORY = (Attempt("bitwuzla", work=1_200_000), Attempt("z3", work=240_000_000))
_PACKAGES = {"bitwuzla": "bitwuzla", "cvc5": "cvc5", "z3": "z3-solver"}


def plan(text: str) -> tuple[Attempt, ...]:
    """The attempts for a text, in order."""
    if FLOATS in text:
        return THEORY
    return DIVISION if "bvudiv" in text or "bvurem" in text else BITS


@cache
def solver_version(solver: str) -> str:
    """The installed version, or the empty text where the solver is missing."""
    try:
        return version(_PACKAGES[solver])
    except PackageNotFoundError:
        return ""


def solve(text: str, *, attempts: Sequence[Attempt] | None = None) -> Solved:
    """The first definite answer. Raises `VyreError` when no solver is installed."""
    chosen = [a for a in attempts or plan(text) if solver_version(a.solver)]
    if not chosen:
        raise VyreError("no solver is installed.", fix="install one with `pip install vyre[conform]`.")
    verdict = _ask(chosen[0], text)
    for attempt in chosen[1:]:
        if verdict.answer is not Answer.Unknown:
            break
        verdict = _ask(attempt, text)
    return verdict


def _ask(attempt: Attempt, text: str) -> Solved:
    start = time.perf_counter()
    answer, model = _BACKENDS[attempt.solver](attempt, text)
    seconds = time.perf_counter() - start
    return Solved(answer, model, attempt, solver_version(attempt.solver), seconds)


def _module(name: str) -> Any:
    """The solver's module, untyped: none of them ships complete types."""
    return importlib.import_module(name)


def _bitwuzla(attempt: Attempt, text: str) -> tuple[Answer, dict[str, int]]:
    bw = _module("bitwuzla")
    options = bw.Options()
    options.set(bw.Option.PRODUCE_MODELS, True)
    options.set(bw.Option.TIME_LIMIT_PER, int(attempt.seconds * 1000))
    for name, value in attempt.options:
        options.set(getattr(bw.Option, name), int(value) if value.isdecimal() else value)
    parser = bw.Parser(bw.TermManager(), options)
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    # No Python of ours runs inside the solver, where an interrupt would be dropped instead of raised.
    solver.configure_terminator(chain(repeat(False, attempt.limit), repeat(True)).__next__)
    answer = Answer(str(solver.check_sat()))
    if answer is not Answer.Sat:
        return answer, {}
    variables = [f for f in parser.get_declared_funs() if f.sort().is_bv()]
    return answer, {f.symbol(): int(solver.get_value(f).value(16), 16) for f in variables}


def _cvc5(attempt: Attempt, text: str) -> tuple[Answer, dict[str, int]]:
    cvc5 = _module("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("produce-models", "true")
    solver.setOption("rlimit-per", str(attempt.limit))
    solver.setOption("tlimit-per", str(int(attempt.seconds * 1000)))
    for name, value in attempt.options:
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        command.invoke(solver, symbols)
    found = solver.checkSat()
    if found.isUnsat():
        return Answer.Unsat, {}
    if not found.isSat():
        return Answer.Unknown, {}
    words = [t for t in symbols.getDeclaredTerms() if t.getSort().isBitVector()]
    return Answer.Sat, {t.getSymbol(): int(solver.getValue(t).getBitVectorValue(10)) for t in words}


def _z3(attempt: Attempt, text: str) -> tuple[Answer, dict[str, int]]:
    z3 = _module("z3")
    solver = z3.Solver(ctx=z3.Context())
    solver.set("rlimit", attempt.limit)
    solver.set("timeout", int(attempt.seconds * 1000))
    for name, value in attempt.options:
        solver.set(name, value)
    solver.from_string(text)
    found = str(solver.check())
    if found != "sat":
        return Answer.Unsat if found == "unsat" else Answer.Unknown, {}
    model = solver.model()
    return Answer.Sat, {d.name(): model[d].as_long() for d in model.decls() if d.arity() == 0}


_BACKENDS: dict[str, Callable[[Attempt, str], tuple[Answer, dict[str, int]]]] = {
    "bitwuzla": _bitwuzla,
    "cvc5": _cvc5,
    "z3": _z3,
}
