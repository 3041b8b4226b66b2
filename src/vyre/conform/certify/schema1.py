"""Certificates of schema 1: how they are read, and on which track an op was then.

A certificate of schema 1 is verified as what it was: what it did not record is filled in as unknown, and its
levels follow from the rules of its time (`schema1_levels.py`). Nothing in either file changes any more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

SCHEMA = "vyre.certificate/1"
PREDICATE_TYPE = "https://vyre.dev/certificate/v1"
REGISTRY = "a017f4467dedeccc809cb30c78bc9abf8b8f5d95e57acc663d6773682c1086ef"
"""The digest of what the registry promised when the last certificates of schema 1 were made."""
UNSAID = (
    "schema 1 does not record how the backend was held, its limits, reduced settings, the code that ran it, "
    "nor failing inputs beside the first; its levels are those of its time"
)

_FORMATS = {"f16", "bf16", "f32", "f64"}
_FLOAT_FAMILIES = {"float", "convert"}
_FLOAT_ENGINES = {"reduce_tree", "reduce_strict"}


def op_track(op: str, approximate: Collection[str] = ()) -> str:
    """The track of an op id; in schema 1 a backend could move any op to the approximate one."""
    if op in approximate:
        return "approximate"
    bare = op.partition("@")[0]
    family, *types = bare.split(".")
    between_floats = family == "cast" and len(types) == 2 and set(types) <= _FORMATS
    return "float" if bare.startswith("float.") or between_floats else "integer"


def subject_track(subject: str, approximate: Collection[str] = ()) -> str:
    """The track of a subject of a stage: an op id, a family of golden rows, or words such as `load F16`."""
    words = subject.lower().split()
    if words[:1] == ["approximate"]:
        return "approximate"
    engine = re.split(r"[/.]", subject)[0]
    if engine in _FLOAT_ENGINES or any(w in _FORMATS or w in _FLOAT_FAMILIES for w in words):
        return "float"
    return op_track(subject, approximate)


def may_be_refused(op: str, category: str, refused: Collection[str]) -> bool:
    """Whether a refusal denies no level: of an instruction, or of F64 by a device without doubles."""
    return category == "C" or ("f64" in op.split(".") and "float.f64.add" in refused)
