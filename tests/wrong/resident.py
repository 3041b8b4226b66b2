"""Backends with memory of their own, as far as anyone is told, which they spoil between runs."""

from __future__ import annotations

from typing import Any

from vyre.backends import host_memory
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.host_memory import HostMemory


class Apart(CpuBackend):
    """No fault at all. It runs on one thread and is not asked which machine it is."""

    name = "apart"

    def __init__(self) -> None:
        super().__init__(threads=1)

    def located(self, value: Any) -> None:
        """No array of the host lies where the device can use it."""


class WrittenOnce(HostMemory):
    """Memory that keeps the first bytes that were copied into it."""

    __slots__ = ("_full",)

    def write(self, source: memoryview) -> None:
        if not getattr(self, "_full", False):
            super().write(source)
        self._full = True


class KeepsTheFirstInput(Apart):
    """The inputs of a second run are not copied to the device."""

    name = "keeps-the-first-input"

    def allocate(self, nbytes: int) -> HostMemory:
        return WrittenOnce(host_memory.allocate(nbytes).array)
