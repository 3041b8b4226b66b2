"""Whether a certificate claims to have met a mutant: its trigger in the words of the envelope.

    claimed(envelope_of_all_rows(limits), mutant)

The exam reads dispatches by itself, so its quantities have names of their own; `FEATURE` says which feature
of the table each of them stands for. What a fault needs counts as a condition too, unless the trigger implies
it. A trigger that is odd or modulo is claimed where a listed level fulfils it: it strikes wherever "= that
level" does. A level of 0 fulfils none: it also stands for programs that have nothing to count.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import PASSED
from vyre.conform.records.envelope import Condition, inside
from vyre.conform.shapes.envelope import enveloped
from vyre.conform.shapes.families import FAMILIES, LITERALS
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.mutants.shaped.fault import ShapedMutant
    from lab.mutants.shaped.trigger import Test
    from vyre.backends.protocol import BackendLimits
    from vyre.conform.records.envelope import Envelope

FEATURE: Mapping[str, str] = {
    "loop turns": "turns",
    "loop nesting": "loop depth",
    "loop bound": "loop bounds",
    "grid x": "workgroups x",
    "grid y": "workgroups y",
    "grid z": "workgroups z",
    "buffer elements": "buffer length",
    "branch": "branches",
    "block nesting": "scopes",
    "output fit": "output",
    **{name: name for name in CHOSEN if name not in ("entrance", "dispatch", "payload", "return", "literal")},
}
"""Quantities of numbers and words that a feature has as they are."""

_WORDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("return", "in a loop"): ("return", "in loop"),
    ("return", "outside of loops"): ("return", "late"),
    ("entrance", "run"): ("entrance", "run"),
    ("entrance", "run_limited"): ("entrance", "run_limited"),
    ("entrance", "bind"): ("entrance", "bind"),
    ("memory", "allocate"): ("entrance", "bind"),
    ("memory", "write"): ("entrance", "bind"),
    ("memory", "borrow"): ("entrance", "borrow"),
    ("memory", "copy"): ("entrance", "copy"),
}
_COUNTED: Mapping[str, tuple[int, str, str]] = {
    "launch": (2, "entrance", "bind again"),
    "run": (2, "dispatch", "again"),
    "threads": (2, "dispatch", "threads"),
    "runs of others": (1, "dispatch", "interleaved"),
    "programs before": (1, "dispatch", "after another"),
}
"""Quantities that are at most this large in a level of a feature of words."""

_MEMORY = {"uniform bytes": "Uniform", "private bytes": "Private", "table bytes": "Constant"}
_IN_A_LOOP = {"loop turns", "loop nesting", "loop bound", "loop start", "float loop"}
_INTEGER = {
    op.value for name in ("arithmetic", "bitwise", "compare", "division") for op in FAMILIES[name]
} | {"Select", "Cast"}


@cache
def envelope_of_all_rows(limits: BackendLimits) -> Envelope:
    """What a backend earns on which every row passes."""
    return enveloped(dict.fromkeys(range(len(ROWS)), PASSED), limits)


def conditions(test: Test) -> list[Condition | None]:
    """The conditions of the envelope each of which brings a test about; None is one that always holds."""
    name, value = test.quantity, test.value
    if name in _COUNTED:
        most, feature, level = _COUNTED[name]
        low = isinstance(value, int) and test.relation in (">=", "=")
        if low and isinstance(value, int) and value <= most - 1 and test.relation == ">=":
            return [None]
        return [Condition(feature, "=", level)] if low and value == most else []
    if isinstance(value, str) and (name, value) in _WORDS:
        return [Condition(_WORDS[name, value][0], "=", _WORDS[name, value][1])]
    if name == "literal":
        return [Condition(name, "=", word) for word, bits in LITERALS.items() if test.meets(bits)]
    if name == "operator":
        if value in _INTEGER:
            return [None]
        families = [f for f, ops in FAMILIES.items() if value in {op.value for op in ops}]
        return [Condition("payload", "=", f) for f in families or _payload(str(value))]
    if name not in FEATURE:
        return []
    feature = FEATURE[name]
    if test.relation in (">=", "="):
        return [Condition(feature, test.relation, value)]
    listed = [level for level in CHOSEN[feature].every if level != 0 and test.meets(level)]
    return [Condition(feature, "=", level) for level in listed]


def _payload(operator: str) -> list[str]:
    named = {"Lane": ["lanes"], "MakeVec": ["lanes"], "Convert": ["convert"], "FMulAdd": ["F32 arithmetic"]}
    return named.get(operator, [])


def implied(need: Test, mutant: ShapedMutant) -> bool:
    """Whether the trigger of a mutant brings about what its fault needs."""
    for test in mutant.trigger.tests:
        if test.quantity == need.quantity and test.relation in (">=", "="):
            if need.relation == ">=" and isinstance(test.value, int) and isinstance(need.value, int):
                return test.value >= need.value
            return test.value == need.value
        if (
            need.quantity in ("loop nesting", "loop turns")
            and need.value == 1
            and test.quantity in _IN_A_LOOP
        ):
            return test.value not in (0, "none")
        if need.quantity == "grid" and test.quantity.startswith("grid ") and test.relation == ">=":
            return isinstance(test.value, int) and test.value >= 2
        if need.quantity == "access" and test.quantity in _MEMORY:
            return need.value == _MEMORY[test.quantity] and test.value != 0
    return False


def alternatives(mutant: ShapedMutant) -> list[tuple[Condition, ...]]:
    """Every set of conditions that brings the fault about; none where a test is about no feature."""
    needs = [n for n in mutant.fault.needs if not implied(n, mutant)]
    each = [conditions(test) for test in (*mutant.trigger.tests, *needs)]
    return [tuple(c for c in chosen if c is not None) for chosen in product(*each)]


def claimed(envelope: Envelope, mutant: ShapedMutant) -> bool:
    return any(inside(envelope, found) for found in alternatives(mutant))
