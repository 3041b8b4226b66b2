"""False laws made of true ones: every equation that is declared, changed a little.

    false_laws()            each mutated equation
    judge(mutated, cache)   `refuted`, or `true` where the change made another true law

The solver must refute each one that is not true, at a counterexample that is replayed on plain integers. What
the cases alone would have said is asked as well: a law that is false at one input in 2^60 passes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform.algebra.evidence import EvidenceKind
from vyre.conform.algebra.proof import prove_equations
from vyre.conform.generate.cases import of_words
from vyre.conform.registry import lookup, specs
from vyre.conform.spec.evaluate import type_of
from vyre.conform.spec.law import label
from vyre.conform.spec.satisfied import satisfied
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import Apply, Constant, Equation, Relation, Variable, variables
from vyre.conform.spec.words import masks, split
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Term
    from vyre.semantics.proof_cache import ProofCache

ADD = "primitive.math.add"
_CASES = 1 << 14
_KINDS = ("boundary", "correlated", "random")


@dataclass(frozen=True, slots=True)
class FalseLaw:
    """An equation of a declared law, and what was changed in it."""

    spec: OpSpec
    law: str
    change: str
    equation: Equation

    @property
    def name(self) -> str:
        return f"{self.spec.id} {self.law}: {self.change}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What the solver said (`refuted`, `proved`, `unverified`), and whether cases alone refute it too."""

    law: FalseLaw
    said: str
    by_cases: bool


def false_laws() -> Iterator[FalseLaw]:
    """Every change of every equation of every law and property over u32."""
    for spec in specs():
        for law in (*spec.laws, *spec.properties):
            for equation in sides(law, spec):
                if variables([equation]) and _is_u32(equation):
                    for change, mutated in _changes(equation):
                        yield FalseLaw(spec, label(law), change, mutated)


def _is_u32(equation: Equation) -> bool:
    words = all(v.type is DataType.U32 for v in variables([equation]))
    return words and type_of(equation.rhs, lookup) is DataType.U32


def _changes(e: Equation) -> Iterator[tuple[str, Equation]]:
    if e.relation is Relation.Eq:
        yield "right side plus 1", replace(e, rhs=Apply(ADD, (e.rhs, Constant(1))))
        yield "below, not equal", replace(e, relation=Relation.Lt)
    elif e.relation is Relation.Le:
        yield "below, not at most", replace(e, relation=Relation.Lt)
        yield "equal, not at most", replace(e, relation=Relation.Eq)
    if e.precondition is not None:
        yield "condition dropped", replace(e, precondition=None)
    swapped = _operands_swapped(e.lhs)
    if swapped is not None:
        yield "operands swapped on the left", replace(e, lhs=swapped)
    fused = _variables_fused(e.lhs)
    if fused is not None:
        yield "one variable for two on the left", replace(e, lhs=fused)


def _operands_swapped(term: Term) -> Term | None:
    if not isinstance(term, Apply) or len(term.args) != 2 or term.args[0] == term.args[1]:
        return None
    return replace(term, args=term.args[::-1])


def _variables_fused(term: Term) -> Term | None:
    """The last operand replaced by the first, where both are plain variables."""
    if not isinstance(term, Apply) or len(term.args) != 2:
        return None
    first, last = term.args
    both = isinstance(first, Variable) and isinstance(last, Variable)
    return replace(term, args=(first, first)) if both and first != last else None


def judge(law: FalseLaw, cache: ProofCache) -> Judged:
    """Asks the solver, then the cases."""
    equation = law.equation
    found = sorted(variables([equation]), key=lambda v: v.index)
    if [v.index for v in found] != list(range(len(found))):
        return Judged(law, "proved", by_cases=False)  # a variable is gone: no longer the same statement
    said = prove_equations([equation], lookup, cache).evidence.kind
    name = "refuted" if said is EvidenceKind.Refuted else said.value
    return Judged(law, name, by_cases=_by_cases(law))


def _by_cases(law: FalseLaw) -> bool:
    types = [v.type for v in variables([law.equation])]
    for kind in _KINDS:
        stream = of_words(kind, law.spec, masks(types), 0)
        count = min(_CASES, stream.length or _CASES)
        columns = stream.block(0, count)
        if not satisfied([law.equation], split(types, columns), count, lookup).all():
            return True
    return False
