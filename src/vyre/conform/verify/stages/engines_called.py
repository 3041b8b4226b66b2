"""A backend that watches what a called engine dispatches, and runs it in another way where it is asked to.

    surveys = Surveys(backend)
    surveys.plain                 programs as they are, with guards around every buffer
    surveys.counted               the turns of their loops are counted, too
    surveys.cut(shape)            their invocations are dealt to other workgroups

What a survey found since `begin` is in `damage`, `invocations`, `turns` and `programs`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.verify.stages.engines_memory import GUARD, GUARD_BYTE
from vyre.conform.verify.stages.engines_programs import CUT, TURNS, counting, grid_for, recut
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, BackendInfo, Executable
    from vyre.engines.plan import Shape
    from vyre.ir.grid import Grid
    from vyre.ir.program import Program

    Damage = tuple[str, str, str]
    Cut = Callable[[Grid], tuple[Grid, Mapping[str, NDArray[np.uint32]]]]
    """The grid of a changed program, and the buffers that it has beside those of the program."""
    Made = Callable[[Program], tuple[Program, Cut] | None]
    """The program to run in place of one; None for the same."""

_MANY = 64
"""Threads of which a backend seems to have more than any library function has use for."""


class Survey:
    """The backend, as a called engine sees it. `made` says which program runs in place of each."""

    def __init__(self, backend: Backend, made: Made, *, name: str, threads: int) -> None:
        self.backend, self.made = backend, made
        self.name, self.threads = name, threads
        self._compiled: dict[Program, SurveyedProgram] = {}
        self.begin()

    def begin(self) -> None:
        """Forgets what was found."""
        self.damage: Damage | None = None
        self.invocations = 0
        self.turns = 0
        self.programs: list[Program] = []

    def describe(self) -> BackendInfo:
        return self.backend.describe()

    def compile(self, program: Program) -> SurveyedProgram:
        found = self._compiled.get(program)
        if found is None:
            changed = self.made(program)
            run = self.backend.compile(program if changed is None else changed[0])
            found = SurveyedProgram(self, program, run, None if changed is None else changed[1])
            self._compiled[program] = found
        return found


class SurveyedProgram:
    """A program whose runs are watched."""

    def __init__(self, survey: Survey, program: Program, inner: Executable, cut: Cut | None) -> None:
        self._survey, self._program, self._inner, self._cut = survey, program, inner, cut
        self._read = {b.name for b in program.buffers if b.access is not BufferAccess.ReadWrite}

    def run(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        survey, size = self._survey, self._program.workgroup_size
        survey.programs.append(self._program)
        survey.invocations += workgroups[0] * workgroups[1] * workgroups[2] * size[0] * size[1] * size[2]
        arenas = {name: _guarded(data) for name, data in buffers.items()}
        given = {name: arena[GUARD : len(arena) - GUARD].data for name, arena in arenas.items()}
        for name in self._read & given.keys():
            given[name] = given[name].toreadonly()
        grid, turns = workgroups, None
        if self._cut is not None:
            grid, more = self._cut(workgroups)
            given |= {name: words.view(np.uint8).data for name, words in more.items()}
            turns = more.get(TURNS)
        self._inner.run(given, grid)
        if turns is not None:
            survey.turns += int(turns[0])
        for name, arena in arenas.items():
            self._look(name, arena, buffers[name])

    def _look(self, name: str, arena: NDArray[np.uint8], data: memoryview) -> None:
        """Hands a buffer back, and notes the first byte that should not have changed."""
        end = len(arena) - GUARD
        inner = arena[GUARD:end]
        beside = np.concatenate([arena[:GUARD], arena[end:]])
        wrong = np.flatnonzero(beside != GUARD_BYTE)
        if wrong.size and self._survey.damage is None:
            at = int(wrong[0])
            place = at - GUARD if at < GUARD else at - 2 * GUARD + end
            self._survey.damage = (f"{name} byte {place}", f"0x{GUARD_BYTE:02X}", f"0x{beside[at]:02X}")
        if name not in self._read:
            np.frombuffer(data, np.uint8)[:] = inner
        elif self._survey.damage is None and inner.tobytes() != data.tobytes():
            self._survey.damage = (f"{name}, which is only read", "what it was", "other bytes")


def _guarded(data: memoryview) -> NDArray[np.uint8]:
    arena = np.full(2 * GUARD + data.nbytes, GUARD_BYTE, np.uint8)
    arena[GUARD : GUARD + data.nbytes] = np.frombuffer(data, np.uint8)
    return arena


class Surveys:
    """Every way to watch one backend; what was compiled is kept for as long as this is."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._kept: dict[Shape | str, Survey] = {}

    @property
    def plain(self) -> Survey:
        return self._of("plain", _same, name=self._backend.name)

    @property
    def counted(self) -> Survey:
        return self._of("counted", self._counting, name=self._backend.name)

    def cut(self, shape: Shape) -> Survey:
        """Under another name and with many threads, so that engines choose other tiles, too."""
        return self._of(
            shape, partial(_cut, shape), name=f"{self._backend.name}, cut otherwise", threads=_MANY
        )

    def _of(self, key: Shape | str, made: Made, *, name: str, threads: int = 1) -> Survey:
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = Survey(self._backend, made, name=name, threads=threads)
        found.begin()
        return found

    def _counting(self, program: Program) -> tuple[Program, Cut] | None:
        """A device that has no buffer left for it does not count."""
        changed, most = counting(program), self._backend.describe().limits.buffers
        if changed is None or (most is not None and _storage(changed) > most):
            return None
        return changed, lambda grid: (grid, {TURNS: np.zeros(1, np.uint32)})


def _same(program: Program) -> None:
    return None


def _cut(shape: Shape, program: Program) -> tuple[Program, Cut]:
    def cut(grid: Grid) -> tuple[Grid, Mapping[str, NDArray[np.uint32]]]:
        turned, words = grid_for(program, shape, grid)
        return turned, {CUT: np.array(words, np.uint32)}

    return recut(program, shape), cut


def _storage(program: Program) -> int:
    return sum(b.access in (BufferAccess.ReadOnly, BufferAccess.ReadWrite) for b in program.buffers)
