"""Which track an op or a subject of a stage belongs to, and the levels each track has.

Integers, strict floats and approximate operations are certified apart, because they are shown in different
ways. Moving bits is integer work whatever the bits mean: a bitcast is on the integer track, a cast from one
float format to another is on the float track.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.conform.registry.float_.names import PREFIX as FLOAT_PREFIX
from vyre.conform.registry.float_.names import name_of
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Collection

INTEGER, FLOAT, APPROXIMATE = "integer", "float", "approximate"
STRICT = "strict"
KINDS = {STRICT: (INTEGER, FLOAT), APPROXIMATE: (APPROXIMATE,)}
"""Kinds of certificates and the tracks in them: strict and approximate are never in one certificate."""

LEVELS = {
    INTEGER: ("L1", "L2", "L3", "L4"),
    FLOAT: ("L1f", "L2f", "L3f", "L4f"),
    APPROXIMATE: ("L1a",),
}
TITLES = {
    "L1": "parity",
    "L2": "algebraic",
    "L3": "engines",
    "L4": "full",
    "L1f": "parity",
    "L2f": "algebraic",
    "L3f": "tensors",
    "L4f": "networks",
    "L1a": "within tolerance",
}

_FORMATS = {"f16", "bf16", "f32", "f64"}
_FLOAT_FAMILIES = {"float", "convert"}
FLOAT_ENGINES = {"reduce_tree", "reduce_strict"}
"""Engines over floats; their subjects are `engine/invariant`."""


def op_track(op: str, approximate: Collection[str] = ()) -> str:
    """The track of an op id; `approximate` are the ids a backend does within a tolerance only."""
    if op in approximate:
        return APPROXIMATE
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
    return "f64" in op.split(".") and name_of("add", DataType.F64) in refused


def subject_track(subject: str, approximate: Collection[str] = ()) -> str:
    """The track of a subject of a stage: an op id, a family of golden rows, or words such as `load F16`."""
    words = subject.lower().split()
    if words[:1] == [APPROXIMATE]:
        return APPROXIMATE
    engine = re.split(r"[/.]", subject)[0]
    if engine in FLOAT_ENGINES or any(w in _FORMATS or w in _FLOAT_FAMILIES for w in words):
        return FLOAT
    return op_track(subject, approximate)
