"""One tile of cases in device memory after another: inputs made, ops applied, sides judged.

    tile = DeviceTile(bench, kind, checks, home, size, held=False)
    tile.run(start, tiles)               for each check what fails in `tiles` of them, from case `start` on

Tiles take turns between lanes, each with memory of its own, so that a device may run them side by side. In a
lane the words of one tile lie where the results of the one before it were, and its results where the words
were. So what a dispatch does not write is an input of other cases, and another one on each side of a law.
Where there are more results than words, a pattern is written over the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.spec.term import Constant, Variable
from vyre.conform.verify.bench import grid_of
from vyre.conform.verify.device_programs import (
    WIDE,
    InputWords,
    advancing,
    groups,
    judging,
    making,
    spoiling,
)
from vyre.conform.verify.graph import Value
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vyre.conform.process.residence import Residence, ResidentMemory
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.device_programs import Judged
    from vyre.conform.verify.graph import Check, Source
    from vyre.conform.verify.host_inputs import Mistake

_NONE = 0xFFFF_FFFF
_WORD = 1 << 32
_FAR = _WORD * _NONE
"""The first of cases that nobody runs."""
LANES = 2
"""Of tiles whose inputs stay on the device."""
BATCH = 256
"""Tiles that are launched at once. More follow without the host, as the device counts on by itself."""


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """How many cases fail a check, and the first of them."""

    failed: int
    first: int


class InputsDiffer(VyreError):
    """The device made other inputs than the host would; `mistake` is the first."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake
        super().__init__(
            f"the backend makes 0x{mistake.found:X} where word {mistake.position} of case {mistake.case} is "
            f"0x{mistake.wanted:X}.",
            fix="the run goes on with inputs from the host.",
        )


class DeviceTile:
    """Memory and launches for `size` cases. `held`: their inputs are held against the host's in any case."""

    def __init__(
        self, bench: Bench, kind: Kind, checks: list[Check], home: Residence, size: int, *, held: bool
    ) -> None:
        self.size = size
        self.held = held
        self.life = home.life
        self._bench = bench
        self._kind = kind
        self._checks = checks
        self._home = home
        self._memories: list[ResidentMemory] = []
        self._constants: dict[Constant, ResidentMemory] = {}
        self._places: list[ResidentMemory] = []
        self._applied: dict[tuple[int, int], Callable[[], None]] = {}
        self._rows: dict[tuple[int, int], list[Callable[[], None]]] = {}
        self._batches: dict[tuple[int, int], Callable[[], None]] = {}
        self._lanes = 1 if held else LANES
        self._cycle = 2 * self._lanes
        """Turns after which memory is used in the same way again."""
        self._turn = self._lanes
        graph = kind.graph
        self._used = sorted({v for c in checks for v in graph.variables(c)}, key=lambda v: graph.positions[v])
        self._positions = [graph.positions[v][0] for v in self._used]
        self._nodes = sorted({j for c in checks for j in c.needs})
        self.undoes = not held and kind.stream.can_undo(self._positions)
        self._judged: list[Judged] = [*checks]
        if self.undoes:
            self._judged += [InputWords(v, p) for v, p in zip(self._used, self._positions, strict=True)]
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def _memory(self, nbytes: int) -> ResidentMemory:
        self._memories.append(self._home.allocate(nbytes))
        return self._memories[-1]

    def _build(self) -> None:
        compile_ = self._bench.backend.compile
        stream = self._kind.stream
        width = 1 if self.size % WIDE else WIDE
        self._grid, self._wide_grid = grid_of(self.size), grid_of(self.size // width)
        words = len(self._used)
        values = max(2 * words, words + len(self._nodes))
        self._values = [[self._memory(4 * self.size) for _ in range(values)] for _ in range(self._lanes)]
        self._start = self._memory(8)
        self._tally = self._memory(8 * len(self._judged))
        self._maker = compile_(making(stream, self._positions, width))
        judges = [judging(group, stream, width) for group in groups(self._judged)]
        self._judges = [(compile_(program), sources) for program, sources in judges]
        spoilers = [compile_(spoiling(n)) for n in range(values - 2 * words)]
        self._spoilers = [
            [
                self._home.bind(one, [m], self._grid)
                for one, m in zip(spoilers, lane[2 * words :], strict=True)
            ]
            for lane in self._values
        ]
        for turn in range(1, self._lanes + 1):
            self._try(turn)

    def _try(self, turn: int) -> None:
        """Fills the memory of the first results of a lane with words. Their numbers are then told wrong by
        one, which has to be noticed of every word."""
        for launch in self._spoilers[turn % self._lanes]:
            launch()
        self._number(_FAR)
        self._row(turn, 0)[0]()
        if not self.undoes:
            return
        self._number(_FAR + 1)
        for judge in self._judging(turn, 0):
            judge()
        found = self._told()[len(self._checks) :]
        if any(int(failed) != self.size for failed, _ in found):
            raise VyreError(
                "the device does not notice that its inputs are those of other cases.",
                fix="the run goes on with inputs from the host.",
            )

    def _number(self, start: int) -> None:
        """What is run next are cases from `start` on, and none of them has failed yet."""
        self._start.write(_bytes([start % _WORD, start // _WORD]))
        self._tally.write(_bytes([0, _NONE] * len(self._judged)))

    def _told(self) -> NDArray[np.uint32]:
        return _words(self._tally, 2 * len(self._judged)).reshape(-1, 2)

    def _value(self, source: Source, turn: int) -> ResidentMemory:
        """Where words and results of a turn are: in its lane, and there by turns."""
        words = len(self._used)
        lane, phase = self._values[turn % self._lanes], turn // self._lanes % 2
        match source:
            case Variable():
                return lane[phase * words + self._used.index(source)]
            case Value(node=node):
                place = self._nodes.index(node)
                return lane[place + (1 - phase) * words if place < words else place + words]
            case Constant(bits=bits):
                if source not in self._constants:
                    self._constants[source] = self._memory(4 * self.size)
                    self._constants[source].write(np.full(self.size, bits, np.uint32).view(np.uint8).data)
                return self._constants[source]

    def _row(self, turn: int, place: int) -> list[Callable[[], None]]:
        """The launches of a tile."""
        key = turn % self._cycle, place
        if key not in self._rows:
            words = [self._value(v, turn) for v in self._used]
            numbers = [self._start, self._place(place)]
            self._rows[key] = [
                self._home.bind(self._maker, [*numbers, *words], self._wide_grid),
                *(self._application(j, turn) for j in self._nodes),
                *self._judging(turn, place),
                *self._spoilers[turn % self._lanes],
            ]
        return self._rows[key]

    def _judging(self, turn: int, place: int) -> list[Callable[[], None]]:
        numbers = [self._start, self._place(place)]
        found: list[Callable[[], None]] = []
        for judge, sources in self._judges:
            values = [self._value(s, turn) for s in sources]
            found.append(self._home.bind(judge, [self._tally, *numbers, *values], self._wide_grid))
        return found

    def _place(self, number: int) -> ResidentMemory:
        while len(self._places) <= number:
            memory = self._memory(4)
            memory.write(_bytes([len(self._places) * self.size]))
            self._places.append(memory)
        return self._places[number]

    def _application(self, number: int, turn: int) -> Callable[[], None]:
        key = number, turn % self._cycle
        if key not in self._applied:
            self._applied[key] = self._bound(number, turn)
        return self._applied[key]

    def _bound(self, number: int, turn: int) -> Callable[[], None]:
        node = self._kind.graph.nodes[number]
        compiled = self._bench.compiled(node.spec)
        if compiled.refusal is not None:
            raise compiled.refusal
        assert compiled.kernel is not None
        by_name = {compiled.kernel.results[0]: self._value(Value(number, 0), turn)}
        for entry in compiled.kernel.inputs:
            assert isinstance(entry.source, Variable)
            by_name[entry.buffer] = self._value(node.args[entry.source.index], turn)
        memories = [by_name[b.name] for b in compiled.program.buffers]
        return self._home.bind(compiled.executable, memories, self._grid)

    def run(self, start: int, tiles: int = 1) -> list[DeviceVerdict | None]:
        """The cases from `start` on, all with one upper half of their number; for each check what fails."""
        self._launch(start, tiles)
        high = start - start % _WORD
        verdicts = [
            DeviceVerdict(int(failed), high + int(first)) if failed or first != _NONE else None
            for failed, first in self._told()
        ]
        wrong = [v.first for v in verdicts[len(self._checks) :] if v is not None]
        if not self.undoes:
            self._hold(start)
        elif wrong:
            at = min(wrong) - (min(wrong) - start) % self.size
            self._launch(at, 1)
            self._hold(at)
            raise VyreError(
                f"the device found a wrong input in case {min(wrong)}, where the host finds none.",
                fix="the run goes on with inputs from the host.",
            )
        return verdicts[: len(self._checks)]

    def _launch(self, start: int, tiles: int) -> None:
        self._number(start)
        batches, rest = divmod(tiles, BATCH)
        for size in [BATCH] * batches + [rest] * (rest > 0):
            self._batch(size)()
            self._turn += size

    def _batch(self, tiles: int) -> Callable[[], None]:
        """The tiles from the next turn on, behind which those after them are the next."""
        key = self._turn % self._cycle, tiles
        if key not in self._batches:
            turns = range(self._turn + 1, self._turn + 1 + tiles)
            rows = [self._row(turn, place) for place, turn in enumerate(turns)]
            advance = self._bench.backend.compile(advancing(tiles * self.size))
            last = self._home.bind(advance, [self._start], (1, 1, 1))
            self._batches[key] = self._home.row([launch for row in [*rows, [last]] for launch in row])
        return self._batches[key]

    def _hold(self, start: int) -> None:
        """The words of the last tile, after their use, are the host's."""
        values = [self._value(v, self._turn) for v in self._used]
        words = {p: _words(memory, self.size) for p, memory in zip(self._positions, values, strict=True)}
        mistake = self._bench.inputs.mistake(self._kind.stream, words, start)
        if mistake is not None:
            raise InputsDiffer(mistake)

    def close(self) -> None:
        for memory in self._memories:
            if self._home.life == self.life:
                memory.free()
        self._memories.clear()


def _bytes(words: Sequence[int]) -> memoryview:
    return np.array(words, np.uint32).view(np.uint8).data


def _words(memory: ResidentMemory, count: int) -> NDArray[np.uint32]:
    read = np.empty(count, np.uint32)
    memory.read(read.view(np.uint8).data)
    return read
