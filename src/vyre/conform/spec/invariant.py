"""The eight invariants an engine can promise."""

from __future__ import annotations

from enum import Enum


class EngineInvariant(Enum):
    """What holds for an engine on every input; the value says how it is observed."""

    Deterministic = "the same input gives the same bytes, run after run"
    NoOutputLost = "every output the input calls for is present"
    NoDuplicate = "no output is present more often than the input calls for"
    Ordered = "outputs stand in the declared order"
    Bounded = "nothing is written outside the declared outputs, and counts stay within them"
    Termination = "the engine ends within a number of steps that depends on the input size alone"
    AtomicLinearizable = "the results of atomics are those of some order of the operations, per location"
    WorkgroupInvariant = "the bytes do not depend on the workgroup size or the order of workgroups"
