"""A step of a proof, and how its question is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.types import DataType
from vyre.semantics.solvers import Attempt
from vyre.semantics.translate import sort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.expr import Expr
    from vyre.semantics.translate import Translation

WORD = sort(DataType.U32)
NUMBERS = (Attempt("cvc5", work=200_000), Attempt("z3"))
"""Who is asked about integers."""
_DIVISION = {"bvudiv": "quotient_of", "bvurem": "remainder_of"}


@dataclass(frozen=True, slots=True)
class Link:
    """A step of a proof: a name, and the question whose answer must be no."""

    name: str
    text: str
    attempts: tuple[Attempt, ...] | None = None


def query(lines: list[str]) -> str:
    return "\n".join(["(set-logic QF_BV)", *lines]) + "\n"


def not_(formula: str) -> str:
    return f"(assert (not {formula}))"


def integers(names: str, given: list[str], claim: str) -> str:
    """The question whether a claim follows, for integers of these names."""
    declared = [f"(declare-const {name} Int)" for name in names.split()]
    return "\n".join(["(set-logic QF_NIA)", *declared, *(f"(assert {g})" for g in given), not_(claim)]) + "\n"


def moved(translation: Translation, updates: Mapping[str, Expr], formula: str) -> str:
    """The formula after the variables have taken new values."""
    bound = " ".join(f"({name} {translation.term(value)})" for name, value in updates.items())
    return f"(let ({bound}) {formula})"


def abstract(text: str, names: Mapping[str, str] = _DIVISION) -> str:
    """The same question about any functions in the place of these, which are division unless named."""
    used = {old: new for old, new in names.items() if old in text}
    for old, new in used.items():
        text = text.replace(old, new)
    declared = "".join(f"(declare-fun {new} ({WORD} {WORD}) {WORD})\n" for new in used.values())
    return text.replace("(set-logic QF_BV)\n", f"(set-logic QF_UFBV)\n{declared}") if used else text
