"""The reference interpreter: plain Python on exact integers, slow, obvious, and by definition right."""

from vyre.reference.findings import (
    Access,
    AccessKind,
    DivergentBarrier,
    OutOfBounds,
    Race,
    Report,
    SpentLoop,
    UninitialisedRead,
)
from vyre.reference.interpreter import DEFAULT_STEP_BUDGET, RunResult, run
from vyre.reference.invocations import InvocationRef
from vyre.reference.schedule import Order, Schedule, all_schedules
from vyre.reference.trace import Tracer, TraceStep

__all__ = [
    "DEFAULT_STEP_BUDGET",
    "Access",
    "AccessKind",
    "DivergentBarrier",
    "InvocationRef",
    "Order",
    "OutOfBounds",
    "Race",
    "Report",
    "RunResult",
    "Schedule",
    "SpentLoop",
    "TraceStep",
    "Tracer",
    "UninitialisedRead",
    "all_schedules",
    "run",
]
