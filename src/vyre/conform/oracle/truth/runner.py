"""A backend at work on batches of chunks: evaluates, then digests what it evaluated, all on its own memory.

    runner = Runner(backend, limit)
    runner.evaluate(function, first, count)      results of count consecutive inputs, kept
    runner.digests(first, chunks)                digests of what is kept
    runner.results(count)                        the kept words themselves

Everything about memory is here: it stays on the device where the backend can hold it, else it is memory
that the backend reads and writes without copies where that is possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.execute import execute
from vyre.conform.oracle.digest import CHUNK, consecutive, digest
from vyre.conform.oracle.truth import programs
from vyre.conform.oracle.truth.programs import BASE, FIRST, OUT, RESULTS, ROWS, SECOND, SUMS, WORKGROUP
from vyre.conform.process.held import held
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.oracle.truth.functions import Function
    from vyre.conform.process.residence import Residence, ResidentMemory
    from vyre.ir.program import Program

    Words = NDArray[np.uint32]

BATCH = 16
"""Chunks of one dispatch: 64 MiB of results, half of what every WebGPU device binds."""


class _Buffer:
    """Words that a backend works on, wherever they are."""

    def __init__(self, backend: Backend, home: Residence | None, count: int) -> None:
        self.nbytes = 4 * count
        self.resident = home.allocate(self.nbytes) if home is not None else None
        self.host = held(backend).share(self.nbytes) if home is None else None

    @property
    def on_device(self) -> ResidentMemory:
        assert self.resident is not None
        return self.resident

    @property
    def on_host(self) -> memoryview:
        assert self.host is not None
        return self.host

    def read(self, count: int) -> Words:
        """The first words, in memory of the host."""
        if self.host is not None:
            return np.frombuffer(self.host, np.uint32, count).copy()
        whole = np.empty(self.nbytes // 4, np.uint32)
        self.on_device.read(whole.view(np.uint8).data)
        return whole[:count]

    def write(self, words: Words) -> None:
        data = words.view(np.uint8).data
        if self.host is not None:
            self.host[: data.nbytes] = data
        else:
            self.on_device.write(data)

    def free(self) -> None:
        if self.resident is not None:
            self.resident.free()
        self.resident = self.host = None


class Runner:
    """Compiled programs and buffers of one backend, for batches of at most `batch` chunks."""

    def __init__(self, backend: Backend, *, batch: int = BATCH) -> None:
        self.backend = backend
        self.batch = batch
        self._compiled: dict[Program, Executable] = {}
        self._home = held(backend).residence()
        self._base = _Buffer(backend, self._home, 1)
        self._sizes: dict[str, int] = {
            RESULTS: batch * CHUNK,
            **{f"{name}{k}": batch * row for name in (FIRST, SECOND) for k, row in enumerate(ROWS)},
        }
        self._buffers: dict[str, _Buffer] = {}

    def close(self) -> None:
        for buffer in (self._base, *self._buffers.values()):
            buffer.free()
        self._buffers.clear()

    def evaluate(self, function: Function, first: int, count: int) -> None:
        """Raises `UnsupportedByBackend` where the backend refuses the operation."""
        program = programs.evaluation(function)
        executable = self._executable(program)
        self._base.write(np.array([first], np.uint32))
        rows = -(-count // CHUNK)
        grid = (-(-min(count, CHUNK) // WORKGROUP[0]), rows, 1)
        self._run(executable, program, {BASE: self._base, OUT: self._buffer(RESULTS)}, grid)

    def results(self, count: int) -> Words:
        return self._buffer(RESULTS).read(count)

    def digests(self, first: int, chunks: int) -> list[int]:
        """The digests of the chunks from the input `first` on, of the results that were evaluated last."""
        program = programs.mixing()
        buffers = {BASE: self._base, RESULTS: self._buffer(RESULTS)}
        buffers |= {name: self._buffer(f"{name}0") for name in (FIRST, SECOND)}
        self._base.write(np.array([first], np.uint32))
        self._run(self._executable(program), program, buffers, (ROWS[0] // WORKGROUP[0], chunks, 1))
        low, high = (self._folded(name, chunks) for name in (FIRST, SECOND))
        return [int(b) << 32 | int(a) for a, b in zip(low, high, strict=True)]

    def _folded(self, name: str, chunks: int) -> Words:
        for k, row in enumerate(ROWS[:-1]):
            program = programs.folding(row)
            buffers = {SUMS: self._buffer(f"{name}{k}"), OUT: self._buffer(f"{name}{k + 1}")}
            grid = (ROWS[k + 1] // WORKGROUP[0], chunks, 1)
            self._run(self._executable(program), program, buffers, grid)
        last = len(ROWS) - 1
        sums = self._buffer(f"{name}{last}").read(chunks * ROWS[last])
        return sums.reshape(chunks, ROWS[last]).sum(axis=1, dtype=np.uint32)

    def require_digests(self) -> None:
        """Raises `VyreError` unless this backend digests a known chunk as the definition does."""
        first = 0x3F80_0000
        words = consecutive(first, CHUNK) * np.uint32(0x9E37_79B9)
        whole = np.zeros(self.batch * CHUNK, np.uint32)
        whole[-CHUNK:] = words
        self._buffer(RESULTS).write(whole)
        base = (first - (self.batch - 1) * CHUNK) & 0xFFFF_FFFF
        found = self.digests(base, self.batch)[-1]
        wanted = digest(consecutive(first, CHUNK), words)
        if found != wanted:
            raise VyreError(
                f"the backend {self.backend.name} digests a known chunk as {found:016x}, not {wanted:016x}.",
                fix="certify its integer operations first: `vyre certify` without --exhaustive.",
            )

    def _buffer(self, name: str) -> _Buffer:
        if name not in self._buffers:
            self._buffers[name] = _Buffer(self.backend, self._home, self._sizes[name])
        return self._buffers[name]

    def _executable(self, program: Program) -> Executable:
        if program not in self._compiled:
            self._compiled[program] = self.backend.compile(program)
        return self._compiled[program]

    def _run(
        self,
        executable: Executable,
        program: Program,
        buffers: Mapping[str, _Buffer],
        grid: tuple[int, int, int],
    ) -> None:
        if self._home is not None:
            self._home.bind(executable, [buffers[b.name].on_device for b in program.buffers], grid)()
            return
        execute(executable, program, {name: b.on_host for name, b in buffers.items()}, grid)
