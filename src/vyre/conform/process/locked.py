"""A backend for several threads: one request at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import BackendInfo
    from vyre.ir.program import Program


class Locked:
    """`inner`, behind a lock."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.name = str(inner.name)
        self.lock = threading.RLock()

    def describe(self) -> BackendInfo:
        return self.inner.describe()

    def compile(self, program: Program) -> LockedExecutable:
        with self.lock:
            return LockedExecutable(self, self.inner.compile(program))


class LockedExecutable:
    def __init__(self, owner: Locked, inner: Any) -> None:
        self._owner = owner
        self.inner = inner

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        with self._owner.lock:
            self.inner.run(buffers, workgroups)
