"""Histograms and compactions that read four words at once count and keep what those that read one do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends import registry
from vyre.engines import Shape
from vyre.engines.bins import COLUMNS, MORE_COLUMNS, columns_for, histogram_engine
from vyre.engines.compaction import compact_engine
from vyre.engines.run import runner_of
from vyre.errors import BackendUnavailable
from vyre.ir.types import DataType

SHAPES = [Shape(2, 2), Shape(8, 1), Shape(32, 2, row=3, reverse=True), Shape(256, 4)]
LENGTHS = (1, 3, 4, 16, 48, 4096, 4099, 16_384, 32_768, 32_784, 70_001)
rng = np.random.default_rng(7)


def there(array: Any, backend: str) -> Any:
    try:
        registry.get(backend)
    except BackendUnavailable as error:
        pytest.skip(str(error))
    return vyre.to_device(array, backend=backend)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("columns", [COLUMNS, MORE_COLUMNS])
def test_bytes_are_counted_in_any_shape(shape: Shape, columns: int) -> None:
    for count in LENGTHS:
        data = rng.integers(0, 256, count, dtype=np.uint8)
        engine = histogram_engine(shape=shape, columns=columns)
        got = runner_of("cpu").run(engine, {"input": data})["output"]
        assert (got == np.bincount(data, minlength=256)).all(), count


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_elements_are_kept_in_any_shape(shape: Shape, dtype: Any) -> None:
    element = DataType.U64 if dtype is np.uint64 else DataType.U32
    for count in LENGTHS:
        data = rng.integers(0, 1 << 32, count, dtype=np.uint32).astype(dtype)
        for flags in (rng.integers(0, 2, count).astype(np.uint32) * 7, np.zeros(count, np.uint32)):
            engine = compact_engine(element, shape=shape)
            got = runner_of("cpu").run(engine, {"input": data, "flags": flags})["output"]
            assert np.array_equal(got, data[flags != 0]), count


def test_plans_read_four_words_at_once_where_the_sizes_allow() -> None:
    for count, wide in ((4096, True), (4097, False)):
        counting = histogram_engine().plan({"input": count}).steps[-1]
        marking = compact_engine().plan({"input": count, "flags": count}).steps[0]
        for step, name in ((counting, "input"), (marking, "flags")):
            assert hasattr(step, "program")
            element = {b.name: b.element for b in step.program.buffers}[name]  # type: ignore[union-attr]
            assert (element is DataType.Vec4U32) == wide


def test_columns_follow_from_the_memory_of_a_workgroup() -> None:
    assert [columns_for(n) for n in (None, 16_384, 32_767, 32_768, 49_152)] == [16, 16, 16, 32, 32]


@pytest.mark.parametrize("backend", ["cpu", "wgpu", "opencl", "cuda"])
@pytest.mark.parametrize("count", [1, 6, 4095, 10_001])
def test_bytes_on_a_device_need_not_fill_words(backend: str, count: int) -> None:
    data = rng.integers(0, 256, count, dtype=np.uint8)
    held = there(data, backend)
    assert (engines.histogram(held, backend=backend).numpy() == np.bincount(data, minlength=256)).all()
    dfa = engines.Dfa.finding([b"a", b"bc"])
    assert (engines.match(held, dfa, backend=backend) == engines.match(data, dfa)).all()
    assert (held.numpy() == data).all()


@pytest.mark.parametrize("backend", ["wgpu", "opencl", "cuda"])
@pytest.mark.parametrize("count", [8191, 8192, 16_384])
def test_elements_on_a_device_are_kept(backend: str, count: int) -> None:
    data = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    flags = data & 1
    kept = engines.compact(there(data, backend), there(flags, backend), backend=backend)
    assert np.array_equal(kept.numpy(), data[flags != 0])
    none = engines.compact(there(data, backend), there(flags * 0, backend), backend=backend)
    assert none.size == 0
