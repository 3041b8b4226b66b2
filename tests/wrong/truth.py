"""Backends for the checks of the checker: right ones made of the oracle, and wrong ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends import BackendInfo
from vyre.conform.oracle.digest import CHUNK, CHUNKS, consecutive, digest
from vyre.conform.oracle.truth import oracle, programs
from vyre.conform.oracle.truth.functions import FUNCTIONS
from vyre.conform.oracle.truth.store import save
from vyre.errors import UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from vyre.ir.program import Program

    Words = NDArray[np.uint32]


class OracleBackend:
    """Evaluates with the oracle of a function, then spoils the results; integers run on the cpu backend."""

    name = "oracle"

    def __init__(self, name: str, spoil: Callable[[Words, Words], None] = lambda inputs, bits: None) -> None:
        from vyre.backends import get

        self.inner: Any = None
        self._cpu = get("cpu")
        self._function = name
        self._spoil = spoil
        self.evaluations = 0

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "1", "a test")

    def compile(self, program: Program) -> Any:
        if program == programs.evaluation(FUNCTIONS[self._function]):
            return self
        return _HostOnly(self._cpu.compile(program))

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self.evaluations += 1
        out = np.frombuffer(buffers[programs.OUT], np.uint32)
        count = min(out.size, workgroups[0] * workgroups[1] * programs.WORKGROUP[0])
        first = int(np.frombuffer(buffers[programs.BASE], np.uint32)[0])
        inputs = consecutive(first, min(count, (1 << 32) - first))
        bits = oracle.results(self._function, inputs)
        self._spoil(inputs, bits)
        out[: inputs.size] = bits


class _HostOnly:
    """An executable that takes memory of the host alone."""

    def __init__(self, executable: Any) -> None:
        self._executable = executable

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self._executable.run(buffers, workgroups)


class RefusingBackend(OracleBackend):
    name = "refusing"

    def compile(self, program: Program) -> Any:
        if program == programs.evaluation(FUNCTIONS[self._function]):
            raise UnsupportedByBackend("FExp", self.name)
        return super().compile(program)


class WrongIntegers(OracleBackend):
    """A backend whose multiplications, and so its digests, are wrong."""

    name = "wrong integers"

    def compile(self, program: Program) -> Any:
        executable = super().compile(program)
        return _Shifted(executable) if program == programs.mixing() else executable


class _Shifted(_HostOnly):
    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        super().run(buffers, workgroups)
        np.frombuffer(buffers[programs.FIRST], np.uint32)[0] += 1


def make_truth(folder: Path, name: str, chunks: range) -> None:
    """A truth that is right for these chunks alone."""
    digests = np.zeros(CHUNKS, np.uint64)
    for chunk in chunks:
        inputs = consecutive(chunk * CHUNK, CHUNK)
        digests[chunk] = digest(inputs, oracle.results(name, inputs))
    save(folder, name, digests, {"by": "a test"})
