"""Ops whose declared laws do not tell them apart, and what does.

Within an arity class, equal law sets and law sets contained in another are collisions. Each is settled by
a rule: a golden row, a boundary, a member of a declared class, or a property, on which the two differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.algebra.arrays import NUMPY
from vyre.conform.generate.cases import cases
from vyre.conform.golden.rows import bits_of, load_rows, variables
from vyre.conform.spec.law import label
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec


@dataclass(frozen=True, slots=True)
class Collision:
    """`relation` is `equal` or `contained` (the first in the second); `rule` separates the two."""

    first: str
    second: str
    relation: str
    rule: str
    detail: str


def collisions(specs: Sequence[OpSpec]) -> list[Collision]:
    """Every collision within an arity class."""
    found: list[Collision] = []
    for a, b in combinations(specs, 2):
        if a.arity != b.arity:
            continue
        first, second = (frozenset(map(label, s.laws)) for s in (a, b))
        if first == second:
            found.append(_settled(a, b, "equal"))
        elif first < second:
            found.append(_settled(a, b, "contained"))
        elif second < first:
            found.append(_settled(b, a, "contained"))
    return found


def _settled(a: OpSpec, b: OpSpec, relation: str) -> Collision:
    rule, detail = separate(a, b)
    return Collision(a.id, b.id, relation, rule, detail)


def separate(a: OpSpec, b: OpSpec) -> tuple[str, str]:
    """The first rule on which two ops of one signature differ; `none` where nothing declared does."""
    return (
        _golden(a, b)
        or _golden(b, a)
        or _cases(a, b, "boundary")
        or _cases(a, b, "equivalence")
        or (
            "none",
            "nothing declared separates them",
        )
    )


def _golden(a: OpSpec, b: OpSpec) -> tuple[str, str] | None:
    """A golden row of the first op that the second would break."""
    for row in load_rows():
        if row.stem != a.id or row.kind not in ("binary", "unary") or row["type"] != "U32":
            continue
        if any(variables(value) for value in (*row["inputs"], row["expected"])):
            continue
        inputs = [bits_of(value, DataType.U32, {}) for value in row["inputs"]]
        wanted = bits_of(row["expected"], DataType.U32, {})
        given = b.evaluate(*inputs)[0]
        if given != wanted:
            return "golden row", f"{row.id}: {_shown(inputs)} gives {wanted:#x}, the other {given:#x}"
    return None


def _cases(a: OpSpec, b: OpSpec, kind: str) -> tuple[str, str] | None:
    stream = cases(kind, a)
    columns = stream.block(0, min(stream.length or 4096, 1 << 16))
    ((left,),), ((right,),) = a.apply(NUMPY, *columns), b.apply(NUMPY, *columns)
    differs = np.flatnonzero(left != right)
    if not differs.size:
        return None
    k = int(differs[0])
    inputs = stream.case(k)
    rule = "boundary" if kind == "boundary" else "equivalence class"
    return rule, f"{a.id}/{kind}/{k}: {_shown(inputs)} gives {int(left[k]):#x}, the other {int(right[k]):#x}"


def _shown(inputs: Sequence[int]) -> str:
    return "(" + ", ".join(f"{value:#x}" if value > 9 else str(value) for value in inputs) + ")"
