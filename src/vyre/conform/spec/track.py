"""Which track an op or a subject of a stage belongs to.

Integers, strict floats and approximate operations are certified apart, because they are shown in different
ways. Moving bits is integer work whatever the bits mean: a bitcast is on the integer track, a cast from one
float format to another is on the float track.

Only operations that are approximate by name are on the approximate track. They are not ops of the registry,
and no backend can move another op there: what it cannot do exactly, it refuses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.conform.spec.float_names import PREFIX as FLOAT_PREFIX
from vyre.conform.spec.float_names import name_of
from vyre.ir.operators import ApproxOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Collection

INTEGER, FLOAT, APPROXIMATE = "integer", "float", "approximate"
STRICT = "strict"
KINDS = {STRICT: (INTEGER, FLOAT), APPROXIMATE: (APPROXIMATE,)}
"""Kinds of certificates and the tracks in them: strict and approximate are never in one certificate."""

APPROXIMATE_NAMES = frozenset({*(op.value for op in ApproxOp), "FReduceApprox"})
"""Everything that may be approximate."""

_FORMATS = {"f16", "bf16", "f32", "f64"}
_FLOAT_FAMILIES = {"float", "convert"}
FLOAT_ENGINES = {"reduce_tree", "reduce_strict", "spmv"}
"""Engines over floats; their subjects are `engine/invariant`."""


def op_track(op: str, declared: Collection[str] = ()) -> str:
    """The track of an op id. What a backend declares approximate makes no difference to it.

    The rules of older certificates did look at `declared`, and both kinds of rules are asked alike.
    """
    bare = op.partition("@")[0]
    family, *types = bare.split(".")
    between_floats = family == "cast" and len(types) == 2 and set(types) <= _FORMATS
    return FLOAT if bare.startswith(FLOAT_PREFIX) or between_floats else INTEGER


def may_be_refused(op: str, category: str, refused: Collection[str]) -> bool:
    """Whether a refusal denies no level: of an instruction, or of F64 by a device that has no doubles at all.

    `refused` are all ops that the backend refuses; without doubles, the sum of two is among them.
    """
    if category == "C":
        return True
    return "f64" in op.split(".") and not has_doubles(refused)


def has_doubles(refused: Collection[str]) -> bool:
    """Whether a backend that refuses these ops has F64 at all."""
    return name_of("add", DataType.F64) not in refused


def subject_track(subject: str, declared: Collection[str] = ()) -> str:
    """The track of a subject of a stage: an op id, a family of golden rows, or words such as `load F16`."""
    words = subject.lower().split()
    if words[:1] == [APPROXIMATE]:
        return APPROXIMATE
    engine = re.split(r"[/.]", subject)[0]
    if engine in FLOAT_ENGINES or any(w in _FORMATS or w in _FLOAT_FAMILIES for w in words):
        return FLOAT
    return op_track(subject)


def not_approximate(declared: Collection[str]) -> str:
    """The first of the declared names that is not approximate by name, or nothing."""
    return next((name for name in sorted(declared) if name not in APPROXIMATE_NAMES), "")
