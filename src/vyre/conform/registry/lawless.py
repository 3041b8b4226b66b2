"""Which specs declare neither a law nor a property, and why: a closed list of reasons.

    reason(spec)      the reason; None for a spec that declares something, or that nothing excuses
    covered(specs)    how many declare something and how many do not, as a sentence

What is declared is proved for all inputs, so an op is without laws where no solver can be asked about it.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from vyre.conform.oracle.floats.functions import FUNCTIONS
from vyre.conform.spec.float_names import is_float, short
from vyre.errors import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec


class Lawless(Enum):
    """Each with the words that are shown."""

    Function = "functions that no solver knows, checked against MPFR and Arb"
    FusedBrain = "fused operation that the solvers' theory cannot round only once, checked against MPFR"


_FUNCTIONS = frozenset(map(short, FUNCTIONS))


def declares(spec: OpSpec) -> bool:
    return bool(spec.laws or spec.properties)


def reason(spec: OpSpec) -> Lawless | None:
    """Why a spec declares nothing."""
    if declares(spec) or not is_float(spec.id):
        return None
    name = spec.id.rpartition(".")[2]
    if name in _FUNCTIONS:
        return Lawless.Function
    return Lawless.FusedBrain if spec.id == "float.bf16.fma" else None


def covered(specs: Sequence[OpSpec]) -> str:
    """`13 specs, all with laws.`, or how many have none and for which reasons."""
    bare = [s for s in specs if not declares(s)]
    if not bare:
        return f"{counted(len(specs), 'spec')}, all with laws or properties."
    why = {r: sum(reason(s) is r for s in bare) for r in Lawless}
    told = [f"{count} {r.value}" for r, count in why.items() if count]
    other = len(bare) - sum(why.values())
    told += [f"{other} for no stated reason"] if other else []
    some = f"{len(specs) - len(bare)} with laws or properties"
    return f"{counted(len(specs), 'spec')}, {some}; without: {'; '.join(told)}."
