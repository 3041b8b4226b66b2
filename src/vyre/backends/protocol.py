"""What a runtime implements to run programs: one class with a name and two methods.

A backend is handed a program that is valid and holds no `Call`. It compiles it once and runs it many
times. Everything about arrays (dtypes, lengths, aliasing, zero initialisation, the grid) is settled
before `run`, in one place for all backends (decision 15).

    class Mine:
        name = "mine"
        def describe(self) -> BackendInfo: ...
        def compile(self, program: Program) -> Executable: ...

Register the class in the entry point group `vyre.backends`; it is constructed without arguments. A
constructor that raises `ImportError` says that a package is missing, and the listing says so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program


@dataclass(frozen=True, slots=True)
class BackendLimits:
    """What a device refuses; None means no limit of its own. Checked before every run."""

    buffer_bytes: int | None = None
    buffers: int | None = None
    workgroups_per_axis: int = U32_MAX


@dataclass(frozen=True, slots=True)
class BackendInfo:
    """The device, driver and toolchain behind a backend: what evidence must name."""

    name: str
    version: str
    device: str
    driver: str = ""
    toolchain: str = ""
    conventions: tuple[str, ...] = ("V1", "V2")
    categories: tuple[str, ...] = ("A",)
    approximate: frozenset[str] = frozenset()
    """Operations that are done within a declared tolerance; all others are exact or refused."""
    limits: BackendLimits = field(default_factory=BackendLimits)


@runtime_checkable
class Executable(Protocol):
    """A compiled program."""

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        """Runs the grid and leaves the results in `buffers`.

        `buffers` holds the raw little-endian bytes of every storage and uniform buffer, whole
        elements each. Those of ReadWrite buffers are writable and are changed in place, the others
        are read-only. No two overlap. Every workgroup count is at least 1.
        """
        ...


@runtime_checkable
class Backend(Protocol):
    """A runtime. Later abilities come as further optional protocols, so that this one stays small."""

    @property
    def name(self) -> str: ...

    def describe(self) -> BackendInfo: ...

    def compile(self, program: Program) -> Executable:
        """Raises `UnsupportedByBackend` for an operation that this device cannot do exactly."""
        ...
