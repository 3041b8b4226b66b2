"""A backend whose memory is apart from the host's, made of the cpu backend."""

from __future__ import annotations

from typing import Any

from vyre.backends import BackendInfo, get


class _Apart:
    """Memory of the cpu backend in an address space of its own."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.nbytes = inner.nbytes
        self.span = ("apart", *inner.span[1:])
        self.read, self.write, self.free = inner.read, inner.write, inner.free

    def copy(self, source: Any) -> None:
        self.inner.copy(source.inner)


class _Executable:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def bind(self, memories: Any, workgroups: Any) -> Any:
        return self._inner.bind([m.inner for m in memories], workgroups)

    def run(self, buffers: Any, workgroups: Any) -> None:
        raise AssertionError("host memory was used where device memory can be held")


class DeviceOnly:
    """Runs on its own memory and on nothing else."""

    name = "device only"

    def __init__(self) -> None:
        self._cpu: Any = get("cpu")

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "1", "a test")

    def compile(self, program: Any) -> _Executable:
        return _Executable(self._cpu.compile(program))

    def allocate(self, nbytes: int) -> _Apart:
        return _Apart(self._cpu.allocate(nbytes))

    def borrow(self, data: memoryview) -> _Apart:
        return _Apart(self._cpu.borrow(data))
