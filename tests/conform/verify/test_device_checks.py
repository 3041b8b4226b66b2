"""Laws checked in device memory: the same verdicts as from the host, in this process and in another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.backends import available
from vyre.conform.process.isolate import Isolated
from vyre.conform.process.load import load
from vyre.conform.registry import lookup, spec
from vyre.conform.spec.law import Commutative
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify import device, device_tile
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import Kind, kind_of
from vyre.conform.verify.device import DeviceChecks, applies, device_checks
from vyre.conform.verify.device_tile import DeviceVerdict, InputsDiffer
from vyre.conform.verify.graph import PARITY, Check, graph
from vyre.conform.verify.operations import run_block

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import BackendInfo

COUNT = 1 << 18
DEVICES = [s.name for s in available() if s.available and s.name in ("opencl", "wgpu", "dawn")]
ADD, SUB, DIV = "primitive.math.add", "primitive.math.sub", "primitive.math.div"

pytestmark = pytest.mark.skipif(not DEVICES, reason="no backend with memory of its own")


@pytest.fixture(scope="module", params=["in this process", "isolated"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "in this process":
        yield Bench(load(DEVICES[0]))
        return
    with Isolated(DEVICES[0]) as backend:
        yield Bench(backend)


def random_kind(op: str, *, false_law: bool = False) -> Kind:
    one = spec(op)
    if false_law:
        one = replace(one, laws=(Commutative(),), properties=())
    return kind_of(graph(one, lookup), "random", make_plan("x", cases=COUNT))


def laws(kind: Kind) -> list[Check]:
    return [c for c in kind.checks if c.name != PARITY]


def checks_of(bench: Bench, kind: Kind) -> DeviceChecks:
    found = device_checks(bench, kind, laws(kind))
    assert found is not None
    return found


def test_true_laws_hold(bench: Bench) -> None:
    for op in (ADD, DIV):
        kind = random_kind(op)
        assert applies(kind, laws(kind))
        assert checks_of(bench, kind).compare(5, COUNT) == [None] * len(laws(kind))


def test_a_false_law_is_counted_as_the_host_counts_it(bench: Bench) -> None:
    kind = random_kind(SUB, false_law=True)
    (found,) = checks_of(bench, kind).compare(7, COUNT)
    a, b = kind.stream.block(7, COUNT)[:2]
    wrong = (a - b) != (b - a)
    assert found == DeviceVerdict(int(wrong.sum()), 7 + int(np.argmax(wrong)))


def test_a_block_reports_what_the_device_finds(bench: Bench) -> None:
    kind = random_kind(SUB, false_law=True)
    record = run_block(bench, kind, 0, COUNT, bench.memory())
    (fail,) = record.fails
    assert fail.failed > COUNT * 0.99
    assert fail.first == 0


def test_the_parts_of_a_run_join(bench: Bench) -> None:
    kind = random_kind(SUB, false_law=True)
    checks = checks_of(bench, kind)
    first, second = checks.compare(0, COUNT // 2)[0], checks.compare(COUNT // 2, COUNT // 2)[0]
    whole = checks_of(bench, kind).compare(0, COUNT)[0]
    assert first is not None
    assert second is not None
    assert whole == DeviceVerdict(first.failed + second.failed, first.first)


def test_inputs_of_another_generator_are_noticed(bench: Bench) -> None:
    kind = random_kind(ADD)
    checks = checks_of(bench, kind)

    def counter(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        return low, low, low

    other = replace(kind.stream, seed=1, make=counter)
    wrong = replace(kind, stream=replace(other, masks=kind.stream.masks))
    checks._kind = wrong
    checks.compare(0, 1 << 10)
    tile = checks._tile
    assert tile is not None
    tile._kind = kind
    with pytest.raises(InputsDiffer):
        tile.run(0)


class Lazy:
    """A backend whose kernels stop writing after the first run."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.name = inner.name

    def describe(self) -> BackendInfo:
        return self.inner.describe()

    def allocate(self, nbytes: int) -> Any:
        return self.inner.allocate(nbytes)

    def borrow(self, data: memoryview) -> Any:
        return self.inner.borrow(data)

    def compile(self, program: Any) -> Any:
        executable = self.inner.compile(program)
        return _LazyKernel(executable) if "x0" in {b.name for b in program.buffers} else executable


class _LazyKernel:
    def __init__(self, executable: Any) -> None:
        self._executable = executable

    def bind(self, memories: Any, grid: Any) -> Any:
        launch = self._executable.bind(memories, grid)
        left = [1]

        def once() -> None:
            if left[0]:
                left[0] -= 1
                launch()

        return once

    def run(self, *args: Any) -> None:
        self._executable.run(*args)


@pytest.mark.parametrize("held", [0, device.HELD])
@pytest.mark.parametrize("tile", [1 << 12, (1 << 12) - 1])
def test_a_dispatch_that_writes_nothing_is_noticed(
    held: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its results would be those of the tile before, on which the law holds too."""
    monkeypatch.setattr(device, "TILE", tile)
    monkeypatch.setattr(device, "LARGE_TILE", tile)
    monkeypatch.setattr(device, "HELD", held)
    bench = Bench(Lazy(load(DEVICES[0])))
    kind = random_kind(ADD)
    found = checks_of(bench, kind).compare(0, 1 << 15)
    assert None not in found
    assert laws(kind)[0].name == "Commutative"


@pytest.mark.parametrize(("tile", "batch"), [(1 << 14, 256), (4099, 256), (1 << 12, 4), (1 << 12, 3)])
def test_cases_whose_inputs_stay_on_the_device_are_counted_alike(
    tile: int, batch: int, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one batch, and in several that follow without the host."""
    monkeypatch.setattr(device_tile, "BATCH", batch)
    kind = random_kind(SUB, false_law=True)
    start = (1 << 32) - (COUNT >> 1)
    (wanted,) = checks_of(bench, kind).compare(start, COUNT)
    monkeypatch.setattr(device, "HELD", 0)
    monkeypatch.setattr(device, "TILE", tile)
    monkeypatch.setattr(device, "LARGE_TILE", tile)
    monkeypatch.setattr(device, "_QUICK", 100)
    monkeypatch.setattr(device, "MOST_TILES", 4 if batch == 256 else 16)
    checks = checks_of(bench, kind)
    (found,) = checks.compare(start, COUNT)
    tile_ = checks._tile
    assert tile_ is not None
    tile_._hold(start + COUNT - tile_.size)  # the last words are those of the last cases
    a, b = kind.stream.block(start, COUNT)[:2]
    assert found == wanted == DeviceVerdict(int((a != b).sum() - ((a ^ b) == 1 << 31).sum()), start)
    assert checks_of(bench, random_kind(DIV)).compare(start, COUNT) == [None] * len(laws(random_kind(DIV)))


def test_memory_ops_and_halves_stay_with_the_host() -> None:
    for op in ("memory.load.u32", "atomic.add", "cast.f32.f16"):
        kind = kind_of(graph(spec(op), lookup), "random", make_plan("x", cases=COUNT))
        assert not applies(kind, laws(kind))


def test_the_cpu_compares_on_the_host() -> None:
    assert Bench(load("cpu")).residence is None
