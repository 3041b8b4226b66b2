"""What a backend tells about itself beyond its results: its kernels' source, and its canaries.

All of it is optional (`vyre.backends.protocol` has the list), and a stranger's answer may be of any type:
what is not text is taken for silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vyre.backends.protocol import (
    AssembledExecutable,
    CanaryVerdict,
    ExaminedBackend,
    LoweredExecutable,
    SourcedExecutable,
)

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend, Executable

    Canaries = tuple[tuple[str, str], ...]
    """Each canary that a backend ran at open, with its fault or nothing."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a compiled kernel tells about itself; empty where it does not."""

    lowering: str = ""
    source: str = ""
    assembly: str = ""


@runtime_checkable
class InspectedExecutable(Protocol):
    """An executable that stands for another one, and asks that."""

    def inspect(self, *, assembly: bool) -> Inspection: ...


def inspect(executable: Executable, *, assembly: bool = False) -> Inspection:
    """Assembly only where it is asked for: a backend may have to compile again to show it."""
    if isinstance(executable, InspectedExecutable):
        return executable.inspect(assembly=assembly)
    lowering: object = executable.lowering if isinstance(executable, LoweredExecutable) else ""
    source: object = executable.source if isinstance(executable, SourcedExecutable) else ""
    if not isinstance(source, str):
        source = getattr(source, "text", "")
    shown: object = ""
    if assembly and isinstance(executable, AssembledExecutable):
        shown = executable.assembly() if callable(executable.assembly) else executable.assembly
    return Inspection(*(v if isinstance(v, str) else "" for v in (lowering, source, shown)))


def canaries_of(backend: Backend) -> Canaries:
    """Of a backend in this process; empty where it does not tell."""
    verdict = backend.verdict if isinstance(backend, ExaminedBackend) else None
    if not isinstance(verdict, CanaryVerdict):
        return ()
    from vyre.backends.canaries.every import CANARIES

    return tuple((canary.name, verdict.failures.get(canary.name, "")) for canary in CANARIES)
