"""Inputs that a backend makes itself are held against the host's, every one of them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from tests.conform.verify.runs import certify
from vyre.conform.generate.cases import of_words
from vyre.conform.process.locked import Locked
from vyre.conform.registry import lookup, spec
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import STAGES
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.device import device_checks
from vyre.conform.verify.device_tile import InputsDiffer
from vyre.conform.verify.graph import PARITY, graph
from vyre.conform.verify.host_inputs import PIECE, HostInputs, Mistake
from vyre.conform.verify.named import run_named
from vyre.conform.verify.operations import run_block
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.conform.records.blocks import OpBlock
    from vyre.ir.program import Program

ADD = "primitive.math.add"
COUNT = 1 << 18
PLACE = 0x2_F00D
"""A case that no sample of a few places would look at."""


def is_maker(program: Program) -> bool:
    return program.buffers[0].name == "start"


class EasyInput(wrong.Right):
    """Makes one input easier than it should be, and is right in everything else."""

    def compile(self, program: Program) -> Any:
        executable = super().compile(program)
        return _Easy(executable) if is_maker(program) else executable


class _Easy:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def run(self, buffers: Any, workgroups: Any) -> None:
        self.inner.run(buffers, workgroups)
        self.spoil(buffers)

    def spoil(self, buffers: Any) -> None:
        words, start = (np.frombuffer(buffers[name], np.uint32) for name in ("w1", "start"))
        first = int(start[0]) + int(
            np.frombuffer(buffers["place"], np.uint32)[0] if "place" in buffers else 0
        )
        if first <= PLACE < first + len(words):
            words[PLACE - first] = 0


class SpoiledInput(wrong.Right):
    """Zeroes an input while it computes, so that the host would expect a result for another one."""

    def compile(self, program: Program) -> Any:
        executable = super().compile(program)
        return _Spoiling(executable) if "x1" in {b.name for b in program.buffers} else executable


class _Spoiling:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def run(self, buffers: Any, workgroups: Any) -> None:
        words = np.frombuffer(buffers["x1"], np.uint32)
        if len(words) > PLACE:
            ctypes.memset(words.ctypes.data + 4 * PLACE, 0, 4)  # read-only for Python, not for a driver
        self.inner.run(buffers, workgroups)


class Memory:
    """Bytes that are not the host's, as far as anybody can tell."""

    def __init__(self, nbytes: int) -> None:
        self.data = np.zeros(nbytes, np.uint8)
        self.nbytes = nbytes
        self.span = ("elsewhere", id(self), id(self) + nbytes)

    def read(self, target: memoryview) -> None:
        target[:] = self.data.data

    def write(self, source: memoryview) -> None:
        self.data[:] = np.frombuffer(source, np.uint8)

    def copy(self, source: Memory) -> None:
        self.data[:] = source.data

    def free(self) -> None: ...


class Apart(wrong.Right):
    """A device with memory of its own. It may make an input easier, or change it while it is used."""

    easy = False
    spoils = False

    def allocate(self, nbytes: int) -> Memory:
        return Memory(nbytes)

    def borrow(self, data: memoryview) -> Memory:
        raise NotImplementedError

    def compile(self, program: Program) -> Any:
        easy = self.easy and is_maker(program)
        names = {b.name for b in program.buffers}
        inner = super().compile(program)
        return _Bound(_Spoiling(inner) if self.spoils and "x1" in names else inner, program, easy=easy)


class ApartAndEasy(Apart):
    easy = True


class ApartAndSpoiling(Apart):
    spoils = True


class ApartAndBlind(ApartAndEasy):
    """Makes an input easier, and never counts anything."""

    def compile(self, program: Program) -> Any:
        bound = super().compile(program)
        if program.buffers[0].name == "tally":
            bound.inner = _Idle()
        return bound


class _Idle:
    def run(self, buffers: Any, workgroups: Any) -> None: ...


class _Bound:
    def __init__(self, inner: Any, program: Program, *, easy: bool) -> None:
        self.inner = inner
        self._program = program
        self._easy = easy

    def run(self, buffers: Any, workgroups: Any) -> None:
        self.inner.run(buffers, workgroups)

    def bind(self, memories: Any, grid: Any) -> Any:
        def launch() -> None:
            views = {
                b.name: m.data.data if b.access.writable else m.data.data.toreadonly()
                for b, m in zip(self._program.buffers, memories, strict=True)
            }
            self.inner.run(views, grid)
            if self._easy:
                _Easy(None).spoil(views)

        return launch


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backends make the inputs of short blocks as well."""
    monkeypatch.setattr("vyre.conform.verify.operations.MADE_FROM", COUNT)


def block(backend: Any) -> OpBlock:
    bench = Bench(Locked(backend))
    kind = kind_of(graph(spec(ADD), lookup), "random", make_plan("x", cases=COUNT))
    return run_block(bench, kind, 0, COUNT, bench.memory())


def test_a_device_apart_is_one() -> None:
    assert Bench(Locked(Apart())).residence is not None
    assert Bench(Locked(wrong.Right())).residence is None


@pytest.mark.parametrize("backend", [wrong.Right, Apart])
def test_right_inputs_are_believed(backend: type[wrong.Right]) -> None:
    record = block(backend())
    assert (record.cases, record.fails) == (COUNT, ())
    assert record.made is None


@pytest.mark.parametrize("backend", [EasyInput, ApartAndEasy])
def test_one_easier_input_is_found(backend: type[wrong.Right]) -> None:
    kind = kind_of(graph(spec(ADD), lookup), "random", make_plan("x", cases=COUNT))
    record = block(backend())
    wanted = kind.case(PLACE)[1]
    assert record.made is not None
    assert record.made[:4] == (PLACE, 1, 0, wanted)
    assert record.fails == ()


@pytest.fixture
def undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first cases are no exception, and there are several tiles of them."""
    monkeypatch.setattr("vyre.conform.verify.device.HELD", 0)
    monkeypatch.setattr("vyre.conform.verify.device.LARGE_TILE", 1 << 15)


def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many words the host looks at, as they are looked at."""
    found: list[int] = []
    whole = HostInputs.mistake

    def counted(self: HostInputs, stream: Any, words: Any, start: int) -> Any:
        found.append(len(words) * len(words[0]))
        return whole(self, stream, words, start)

    monkeypatch.setattr(HostInputs, "mistake", counted)
    return found


@pytest.mark.usefixtures("undone")
def test_words_that_tell_their_cases_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = fetched(monkeypatch)
    kind = kind_of(graph(spec(ADD), lookup), "random", make_plan("x", cases=COUNT))
    laws = [c for c in kind.checks if c.name != PARITY]
    checks = device_checks(Bench(Locked(Apart())), kind, laws)
    assert checks is not None
    assert checks.compare(0, COUNT) == [None] * len(laws)
    assert looked == []


@pytest.mark.usefixtures("undone")
@pytest.mark.parametrize(("backend", "tile"), [(ApartAndEasy, 1 << 15), (ApartAndSpoiling, COUNT)])
def test_one_wrong_input_is_found_by_the_device(
    backend: type[wrong.Right], tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vyre.conform.verify.device.LARGE_TILE", tile)
    kind = kind_of(graph(spec(ADD), lookup), "random", make_plan("x", cases=COUNT))
    checks = device_checks(Bench(Locked(backend())), kind, [c for c in kind.checks if c.name != PARITY])
    assert checks is not None
    with pytest.raises(InputsDiffer) as caught:
        checks.compare(0, COUNT)
    mistake = caught.value.mistake
    assert (mistake.case, mistake.found, mistake.wanted) == (PLACE, 0, kind.case(PLACE)[mistake.position])


@pytest.mark.usefixtures("undone")
def test_a_device_that_notices_nothing_is_not_believed() -> None:
    kind = kind_of(graph(spec(ADD), lookup), "random", make_plan("x", cases=COUNT))
    checks = device_checks(Bench(Locked(ApartAndBlind())), kind, [c for c in kind.checks if c.name != PARITY])
    assert checks is not None
    with pytest.raises(VyreError, match="does not notice"):
        checks.compare(0, COUNT)


def test_an_input_that_is_changed_while_it_is_used_is_found() -> None:
    made = block(SpoiledInput()).made
    assert made is not None
    assert made.case == PLACE


def test_it_is_a_failure_of_the_op_and_can_be_replayed(tmp_path: Path) -> None:
    results = certify(EasyInput(), tmp_path, ops=(ADD,), cases=COUNT, largest=0)
    (op,) = results.ops
    assert op.status == "failed"
    (failure,) = results.failures
    assert (failure.kind, failure.actual) == ("inputs", "0x0")
    assert failure.case == f"{ADD}/made/random/{PLACE}"
    again = certify(EasyInput(), tmp_path, ops=(ADD,), stages=("regressions",), cases=COUNT, largest=0)
    assert [f.stage for f in again.failures] == ["regressions"]
    bench, plan = Bench(wrong.Right()), make_plan("x", cases=COUNT)
    assert run_named(bench, failure.case, plan, STAGES).status == "passed"


def test_the_host_makes_a_piece_once(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = of_words("random", spec(ADD), (0xFFFF_FFFF, 0xFFFF_FFFF), 3)
    start = PIECE - 100
    words = dict(enumerate(stream.block(start, 300)))
    held = HostInputs()
    assert held.mistake(stream, words, start) is None
    asked: list[int] = []
    whole = type(stream).block

    def counted(self: Any, at: int, count: int) -> Any:
        asked.append(count)
        return whole(self, at, count)

    monkeypatch.setattr(type(stream), "block", counted)
    assert held.mistake(stream, words, start) is None
    assert asked == []
    for place in (0, 99, 100, 299):
        for position in (0, 1):
            wrong = {p: w.copy() for p, w in words.items()}
            wrong[position][place] ^= 1
            value = int(words[position][place])
            expected = Mistake(start + place, position, value ^ 1, value, 1)
            assert held.mistake(stream, wrong, start) == expected
