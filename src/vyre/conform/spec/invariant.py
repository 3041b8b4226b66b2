"""The eight invariants an engine can promise.

Items are the outputs an engine's input calls for, read back as numbers: the elements of a scan, the kept
elements of a compaction, the places of matches, one item for every thing counted.
"""

from __future__ import annotations

from enum import Enum


class EngineInvariant(Enum):
    """What holds for an engine on every input; the value says how it is observed."""

    Deterministic = "the same input gives the same bytes, run after run"
    NoOutputLost = "every item the input calls for is found at least as often as it calls for it"
    NoDuplicate = "no item is found more often than the input calls for it; one it does not call for, never"
    Ordered = "the items stand in the order in which the input calls for them"
    Bounded = "nothing is written outside the declared outputs and the scratch, and counts stay within them"
    Termination = "what is run depends on the input's size alone, is within a declared bound, and ends"
    AtomicLinearizable = "some order of the atomics on each location explains what they returned and left"
    WorkgroupInvariant = "the bytes do not depend on the workgroup size or the order of workgroups"
