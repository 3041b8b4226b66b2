"""The reference interpreter: plain Python on exact integers, slow, obvious, and by definition right."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "vyre.reference.findings": """
        Access AccessKind DivergentBarrier OutOfBounds Race Report SpentLoop UninitialisedRead
    """,
    "vyre.reference.interpreter": "DEFAULT_STEP_BUDGET RunResult run",
    "vyre.reference.invocations": "InvocationRef",
    "vyre.reference.schedule": "Order Schedule all_schedules",
    "vyre.reference.trace": "TraceStep Tracer",
}

if not TYPE_CHECKING:  # so that checkers know exactly the names above

    def __getattr__(name: str) -> object:
        """Loads a name when it is first used: a compiler needs the integers, not the interpreter."""
        from importlib import import_module

        home = next((module for module, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module 'vyre.reference' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(home), name)
        return value
