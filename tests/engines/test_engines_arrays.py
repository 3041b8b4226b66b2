"""Engines on arrays give what NumPy gives, for every length around the tiles and on device buffers."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends import registry
from vyre.backends.dispatch import Compiled
from vyre.engines import Dfa, Runner, Shape
from vyre.engines.bins import histogram_engine
from vyre.engines.compaction import compact_engine
from vyre.engines.fold import reduce_engine
from vyre.engines.prefix import scan_engine
from vyre.engines.run import grid_of
from vyre.errors import DispatchError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTHS = (0, 1, 2, 3, 255, 2047, 2048, 2049, 65_537, 1_000_003)
SMALL = Shape(32, 2, turns=1, row=3, reverse=True)
rng = np.random.default_rng(5)


@pytest.mark.parametrize("count", LENGTHS)
def test_sums_scans_and_compactions_are_numpys(count: int) -> None:
    data = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    keep = rng.integers(0, 3, count, dtype=np.uint32)
    assert engines.reduce(data) == np.add.reduce(data, dtype=np.uint32)
    assert (engines.scan(data) == np.cumsum(data, dtype=np.uint32)).all()
    before = np.concatenate([np.zeros(1, np.uint32), np.cumsum(data, dtype=np.uint32)])[:count]
    assert (engines.scan(data, inclusive=False) == before).all()
    assert (engines.compact(data, keep) == data[keep != 0]).all()
    assert (engines.compact(data, keep == 1) == data[keep == 1]).all()


@pytest.mark.parametrize("count", [*LENGTHS, 1021])
def test_bytes_are_counted_and_padding_is_not(count: int) -> None:
    data = rng.integers(0, 256, count, dtype=np.uint8)
    assert (engines.histogram(data) == np.bincount(data, minlength=256)).all()


@pytest.mark.parametrize("shape", [None, SMALL])
@pytest.mark.parametrize("bins", [1, 300, 70_000])
def test_words_are_counted_below_the_number_of_bins(bins: int, shape: Shape | None) -> None:
    for count in (0, 1, 2049, 30_001):
        data = rng.integers(0, 2 * bins, count, dtype=np.uint32)
        wanted = np.bincount(data[data < bins], minlength=bins)
        assert (engines.histogram(data, bins=bins, shape=shape) == wanted).all()


def test_a_fold_of_nothing_is_the_neutral_element() -> None:
    nothing = np.zeros(0, np.uint32)
    found = {op: int(engines.reduce(nothing, op=op)) for op in ("add", "mul", "min", "max", "and", "or")}
    assert found == {"add": 0, "mul": 1, "min": 0xFFFFFFFF, "max": 0, "and": 0xFFFFFFFF, "or": 0}


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 4 * 64 * 64 + 9])
def test_matches_are_those_of_a_plain_search(count: int) -> None:
    words = (b"abc", b"bc", b"aa")
    text = rng.integers(97, 100, count, dtype=np.uint8)
    found = engines.match(text, Dfa.finding(words), shape=SMALL)
    plain = {m.start() + len(w) - 1 for w in words for m in re.finditer(b"(?=" + w + b")", text.tobytes())}
    assert found.tolist() == sorted(plain)


def test_bytes_and_bytearrays_are_taken() -> None:
    assert engines.match(b"xaax", Dfa.finding([b"a"])).tolist() == [1, 2]
    assert engines.histogram(bytearray(b"aab"))[97] == 2


def test_a_grid_is_folded_after_a_row() -> None:
    assert grid_of(3, 4096) == (3, 1, 1)
    assert grid_of(65_536, 4096) == (4096, 16, 1)
    assert grid_of(4097, 4096) == (4096, 2, 1)


def test_workgroups_past_one_dimension_give_the_same() -> None:
    """Tiles of two elements make more than 65,535 workgroups."""
    data = rng.integers(0, 1 << 32, 150_001, dtype=np.uint32)
    shape = Shape(2, 1, turns=1)
    assert engines.reduce(data, shape=shape) == np.add.reduce(data, dtype=np.uint32)
    assert (engines.scan(data, shape=shape) == np.cumsum(data, dtype=np.uint32)).all()


def test_a_prepared_engine_runs_again_on_changed_inputs() -> None:
    data = np.arange(5000, dtype=np.uint32)
    prepared = Runner("cpu").prepare(reduce_engine(), {"input": data})
    prepared()
    first = int(prepared.outputs()["output"][0])
    data += 1
    prepared()
    assert int(prepared.outputs()["output"][0]) == first + 5000


def test_device_buffers_stay_on_the_device() -> None:
    data = rng.integers(0, 1 << 32, 70_000, dtype=np.uint32)
    held = vyre.to_device(data, backend="cpu")
    assert engines.reduce(held, backend="cpu") == np.add.reduce(data, dtype=np.uint32)
    assert (engines.scan(held, backend="cpu").numpy() == np.cumsum(data, dtype=np.uint32)).all()
    floats = rng.standard_normal(600_001).astype(np.float32)
    on_device = vyre.to_device(floats, backend="cpu")
    assert engines.reduce_strict(on_device, backend="cpu") == engines.reduce_strict(floats)
    assert engines.reduce_tree(on_device, backend="cpu") == engines.reduce_tree(floats)


@pytest.mark.parametrize("place", [np.array, partial(vyre.to_device, backend="cpu")])
def test_a_length_that_comes_again_looks_up_plans_and_compiles_nothing(
    place: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = rng.standard_normal(3001).astype(np.float32)
    first, *_ = [engines.reduce_tree(place(data), backend="cpu") for _ in range(3)]

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was done before")

    monkeypatch.setattr(Runner, "compiled", refused)
    monkeypatch.setattr(registry, "offered_points", refused)
    assert engines.reduce_tree(place(data.copy()), backend="cpu") == first
    with pytest.raises(AssertionError, match="done before"):
        engines.reduce_tree(place(data[:-1]), backend="cpu")


def test_engines_on_device_buffers_are_launched_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("the short way has it")

    monkeypatch.setattr(Compiled, "__call__", refused)
    data = rng.integers(0, 1 << 32, 9001, dtype=np.uint32)
    held = vyre.to_device(data, backend="cpu")
    assert np.array_equal(engines.scan(held, backend="cpu"), np.cumsum(data, dtype=np.uint32))
    with pytest.raises(AssertionError, match="short way"):
        engines.scan(data, backend="cpu")


def test_a_device_buffer_of_no_whole_words_is_counted() -> None:
    odd = vyre.to_device(np.zeros(5, np.uint8), backend="cpu")
    assert engines.histogram(odd, backend="cpu").numpy()[0] == 5


def test_inputs_are_never_changed() -> None:
    data = rng.integers(0, 1 << 32, 5000, dtype=np.uint32)
    kept = data.copy()
    engines.scan(data)
    engines.compact(data, data)
    assert (data == kept).all()


def test_plans_follow_from_lengths_alone() -> None:
    for engine in (reduce_engine(), scan_engine(), compact_engine(), histogram_engine()):
        lengths = dict.fromkeys(engine.inputs, 12_345)
        assert engine.plan(lengths) == engine.plan(lengths)
        assert len(engine.plan(lengths).steps) > 1


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        (lambda: engines.reduce(np.zeros(3, np.int32)), "vyre.array(input, vyre.u32)"),
        (lambda: engines.reduce(np.zeros(3, np.uint32), op="sub"), "use one of"),
        (lambda: engines.reduce_tree(np.zeros(3, np.float64)), "float32"),
        (lambda: engines.reduce_tree(np.zeros(3, np.float32), op="sub"), "add, mul, min or max"),
        (lambda: engines.compact(np.zeros(3, np.uint32), np.zeros(2, np.uint32)), "one flag for each"),
        (lambda: engines.histogram(np.zeros(3, np.uint32), bins=0), "1 or more"),
        (lambda: Shape(lanes=48), "powers of two"),
        (lambda: Shape(row=70_000), "65535"),
        (lambda: Dfa.of(np.zeros((2, 255), np.uint32), ()), "256"),
        (lambda: Dfa.of(np.full((2, 256), 2), ()), "states 0"),
        (lambda: Dfa.of(np.zeros((2, 256), np.uint32), (2,)), "name states"),
        (lambda: Dfa.finding([b""]), "leave it out"),
    ],
)
def test_mistakes_are_explained(wrong: object, hint: str) -> None:
    assert callable(wrong)
    with pytest.raises(VyreError) as caught:
        wrong()
    assert hint in caught.value.fix


def test_a_buffer_past_the_limit_of_the_device_is_refused_by_name() -> None:
    from vyre.backends.cpu.backend import CpuBackend
    from vyre.backends.protocol import BackendInfo, BackendLimits

    class Small(CpuBackend):
        def describe(self) -> BackendInfo:
            return BackendInfo("small", "0", "a small device", limits=BackendLimits(buffer_bytes=1 << 21))

    data = np.ones((1 << 19) + 1, np.float32)
    with pytest.raises(DispatchError, match="the backend small accepts 2097152"):
        engines.gather(data, np.zeros(1, np.uint32), backend=Small(threads=1))
    # What can be cut is worked through in pieces.
    assert engines.reduce_tree(data, backend=Small(threads=1)) == np.float32(data.size)
    # A strict fold is bound chunk by chunk, so its input may be longer than a binding.
    assert engines.reduce_strict(data, backend=Small(threads=1)) == np.float32(data.size)
