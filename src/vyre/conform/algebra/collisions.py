"""Ops whose declared laws do not tell them apart, and what does.

Among ops on the same operands, of whatever family, equal law sets and law sets contained in another are
collisions. Each is settled by a rule: a golden row, a boundary or a member of a declared class on which the
two differ, the types of their results, or that they are two names of one function.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.generate.cases import cases
from vyre.conform.oracle.golden.rows import bits_of, load_rows, variables
from vyre.conform.spec.law import label
from vyre.ir.types import DataType
from vyre.semantics.arrays import NUMPY
from vyre.semantics.words import to_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.conform.spec.op import OpSpec

    Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Collision:
    """`relation` is `equal` or `contained` (the first in the second); `rule` separates the two."""

    first: str
    second: str
    relation: str
    rule: str
    detail: str


def collisions(specs: Sequence[OpSpec]) -> list[Collision]:
    """Every collision among ops whose operands are of the same types."""
    found: list[Collision] = []
    for a, b in combinations(specs, 2):
        if a.signature.inputs != b.signature.inputs:
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
        _one_function(a, b)
        or _golden(a, b)
        or _golden(b, a)
        or _cases(a, b, "boundary")
        or _cases(a, b, "equivalence")
        or _types(a, b)
        or ("none", "nothing declared separates them")
    )


def _one_function(a: OpSpec, b: OpSpec) -> tuple[str, str] | None:
    """Two names of one function, known by their ids; a test holds each pair against its definitions.

    Rounding to U32 down and toward zero differ only where both give 0. A cast of several words to U32 keeps
    the first, which is lane 0. An instruction may have a composition that gives the same.
    """
    down, cut = ".u32.floor", ".u32.truncate"
    pair = {a.id.removesuffix(down).removesuffix(cut), b.id.removesuffix(down).removesuffix(cut)}
    if len(pair) == 1 and {a.id.endswith(down), b.id.endswith(down)} == {True, False}:
        return "one function", "they agree on every input: below zero both saturate to 0"
    of = a.signature.inputs[0].value.lower()
    if {a.id, b.id} == {f"value.lane.{of}.0", f"cast.{of}.u32"}:
        return "one function", "the cast keeps the low word, which is lane 0"
    first, second = sorted((a.id, b.id))
    if first.startswith("bytes.") and second == f"intrinsic.packed.{first.removeprefix('bytes.')}":
        return "one function", "the instruction gives what the composition gives"
    return None


def _types(a: OpSpec, b: OpSpec) -> tuple[str, str] | None:
    """The same bits as results of other types."""
    mine, others = (", ".join(t.value for t in s.outputs) for s in (a, b))
    return ("result type", f"{mine}, the other {others}") if mine != others else None


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
    left, right = (_results(s, columns) for s in (a, b))
    if len(left) != len(right):
        return _types(a, b)
    differs = np.flatnonzero(np.logical_or.reduce([x != y for x, y in zip(left, right, strict=True)]))
    if not differs.size:
        return None
    k = int(differs[0])
    inputs, (one, other) = stream.case(k), (to_bits([int(w[k]) for w in x]) for x in (left, right))
    rule = "boundary" if kind == "boundary" else "equivalence class"
    return rule, f"{a.id}/{kind}/{k}: {_shown(inputs)} gives {one:#x}, the other {other:#x}"


def _results(spec: OpSpec, columns: Sequence[Words]) -> list[Words]:
    """The words of all results, a constant one as often as there are cases."""
    found = [w for result in spec.apply(NUMPY, *columns) for w in result]
    return [np.broadcast_to(w, columns[0].shape) for w in found]


def _shown(inputs: Sequence[int]) -> str:
    return "(" + ", ".join(f"{value:#x}" if value > 9 else str(value) for value in inputs) + ")"
