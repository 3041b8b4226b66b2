"""The value generators under one name.

    cases("random", spec, seed)          the operands of an op
    law_cases("random", law, spec, seed) the variables of a law
    KINDS                                exhaustive, equivalence, boundary, random, adversarial, correlated

Every stream is deterministic by (seed, index), and case k needs none of the earlier ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.generate import adversarial, boundary, correlated, equivalence, exhaustive, random
from vyre.conform.generate import float_streams as floats
from vyre.conform.oracle.floats.layout import HEAD, LAYOUTS
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.sides import sides
from vyre.conform.spec.term import variables
from vyre.conform.spec.words import masks
from vyre.errors import VyreError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.oracle.floats.layout import Layout
    from vyre.conform.spec.law import AlgebraicLaw
    from vyre.conform.spec.op import OpSpec

KINDS = ("exhaustive", "equivalence", "boundary", "random", "adversarial", "correlated")


def cases(kind: str, spec: OpSpec, seed: int = 0, *, bits: int = 8) -> CaseStream:
    """The operand words of an op; `bits` is the width of the exhaustive domain."""
    return of_words(kind, spec, spec.masks, seed, bits=bits)


def law_cases(kind: str, law: AlgebraicLaw, spec: OpSpec, seed: int = 0, *, bits: int = 8) -> CaseStream:
    """The words of a law's variables, in order."""
    return of_words(kind, spec, masks(v.type for v in variables(sides(law, spec))), seed, bits=bits)


def of_words(kind: str, spec: OpSpec, wanted: tuple[int, ...], seed: int, *, bits: int = 8) -> CaseStream:
    """Cases of as many words as there are masks, driven by what the spec declares."""
    of = layout_of(spec)
    match kind:
        case "exhaustive":
            return exhaustive.stream(wanted, bits=bits)
        case "equivalence":
            return equivalence.stream(spec, wanted, seed=seed)
        case "boundary":
            return boundary.stream(spec, wanted)
        case "random":
            return random.stream(wanted, seed=seed)
        case "adversarial" if of is not None:
            return floats.shaped(of, wanted, seed=seed)
        case "correlated" if of is not None:
            return floats.related(of, wanted, seed=seed)
        case "adversarial":
            return adversarial.stream(wanted, seed=seed)
        case "correlated":
            return correlated.stream(wanted, seed=seed)
        case _:
            raise VyreError(f"there is no generator {kind!r}.", fix=f"use one of {', '.join(KINDS)}.")


def layout_of(spec: OpSpec) -> Layout | None:
    """The format whose bits the operands of a float operation are; None for any other op."""
    source = spec.signature.inputs[0]
    if not is_float(spec.id):
        return None
    return HEAD if source is DataType.F64 else LAYOUTS.get(source.value)
