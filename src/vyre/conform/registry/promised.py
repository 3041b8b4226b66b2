"""What a package's spec is made of must be what vyre can follow: a definition of words, laws of ops.

    unsound(spec, known)    why it cannot be used, and a fix, or None; it may apply the specs in `known`

A definition may be right for integers and no formula: one that gives 5 where `d.const(5)` is due, or asks
whether `a < b`. It would be found out by a solver, with an error about the solver's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.spec.law import AlgebraicLaw, label
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, subterms
from vyre.errors import VyreError, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.spec.op import OpSpec

    Reason = tuple[str, str]

_STEPS = "compute the definition with the steps of its domain, and write a constant as d.const(5)"
_KIND = "declare laws of vyre.conform.spec.law, such as Commutative() or Identity(0)"
_LAW = "let the law give equations between ops that have specs, each applied to as many operands as it takes"


def unsound(spec: OpSpec, known: Mapping[str, OpSpec]) -> Reason | None:
    """The first fault of the definition and of the laws, with its fix."""
    found = _definition(spec)
    if found:
        return found, _STEPS
    laws = (*spec.laws, *spec.properties, *(non_law.law for non_law in spec.non_laws))
    for law in laws:
        if not isinstance(law, AlgebraicLaw):  # pyright: ignore[reportUnnecessaryIsInstance]
            return f"it declares {law!r}, which is not a law", _KIND
    found = next(filter(None, (_law(law, spec, known) for law in laws)), "")
    return (found, _LAW) if found else None


def _definition(spec: OpSpec) -> str:
    """Tried with words of which nothing is known, as a solver has them."""
    from vyre.semantics.terms import SmtDomain, Word

    d = SmtDomain()
    try:
        results: Any = spec.apply(d, *(d.variable(f"x{k}") for k in range(spec.words)))
    except VyreError:
        return ""  # no solver knows a function that it applies
    except Exception as error:  # a definition may fail in any way
        return f"of unknown operands its definition raises {type(error).__name__}: {error}"
    for word in (word for result in results for word in result):
        if not isinstance(word, Word):
            return f"its definition gives {word!r}, which is outside its domain"
    return ""


def _law(law: AlgebraicLaw, spec: OpSpec, known: Mapping[str, OpSpec]) -> str:
    name = f"its law {label(law)!r}"
    try:
        terms = [t for equation in sides(law, spec) for side in equation.terms for t in subterms(side)]
    except Exception as error:  # a law may fail in any way
        return f"{name} raises {type(error).__name__}: {error}"
    for term in terms:
        if not isinstance(term, Apply):
            continue
        applied = spec if term.op == spec.id else known.get(term.op)
        if applied is None:
            return f"{name} applies {term.op}, which has no spec"
        if len(term.args) != applied.arity:
            given = counted(len(term.args), "operand")
            return f"{name} applies {term.op} to {given}, and it takes {applied.arity}"
    return ""
