"""Engines that give one number, run again: nothing is made anew, and the bits are those of a first run."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends.cpu.backend import CpuBackend
from vyre.engines.float_fold import fold_named
from vyre.engines.run import runner_of
from vyre.engines.tree import tree_engine
from vyre.errors import DispatchError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.engines.short import ShortRun

rng = np.random.default_rng(5)
LENGTHS = (0, 1, 2, 63, 1000, 1024, 70_001)


@pytest.fixture
def backend() -> CpuBackend:
    """One that no other test has used."""
    return CpuBackend(threads=2)


def shorts(backend: CpuBackend) -> list[ShortRun]:
    return [short for short in runner_of(backend)._shorts.values() if short is not None]


@pytest.mark.parametrize("length", LENGTHS)
def test_every_run_gives_the_bits_of_the_reference(length: int, backend: CpuBackend) -> None:
    floats = rng.standard_normal(length).astype(np.float32)
    words = rng.integers(0, 1 << 32, length, dtype=np.uint32)
    tree, strict = (f(floats, backend="reference") for f in (engines.reduce_tree, engines.reduce_strict))
    for turn in range(6):
        place = vyre.to_device if turn % 2 else _same
        x, w = place(floats, backend=backend), place(words, backend=backend)
        assert engines.reduce_tree(x, backend=backend).tobytes() == tree.tobytes()
        assert engines.reduce_strict(x, backend=backend).tobytes() == strict.tobytes()
        assert engines.reduce(w, backend=backend) == np.add.reduce(words, dtype=np.uint32)
    assert len(shorts(backend)) == 3


def _same(array: Any, *, backend: Any) -> Any:
    return array


def test_a_second_run_makes_no_memory(backend: CpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(5000, dtype=np.float32)
    for _ in range(3):
        engines.reduce_tree(x, backend=backend)

    def refuse(*_: Any) -> Any:
        raise AssertionError("memory was made")

    for name in ("allocate", "borrow", "visible"):
        monkeypatch.setattr(backend, name, refuse)
    assert engines.reduce_tree(x + 1, backend=backend) == (x + 1).sum(dtype=np.float64)
    with pytest.raises(AssertionError, match="memory was made"):
        [engines.reduce_tree(x[:-1], backend=backend) for _ in range(2)]  # another length


def test_a_result_is_the_callers_own(backend: CpuBackend) -> None:
    engine, x = tree_engine(fold_named("add", DataType.F32)), np.arange(9, dtype=np.float32)
    runner = runner_of(backend)
    found = [runner.value(engine, {"input": x + np.float32(k)}) for k in range(6)]
    assert [words.view(np.float32)[0] for words in found] == [36, 45, 54, 63, 72, 81]


ODD: dict[str, Any] = {
    "strided": np.arange(8, dtype=np.float32)[::2],
    "of none": np.array(1, np.float32),
    "misaligned": np.frombuffer(bytes(17), np.uint8)[1:].view(np.float32),
    "of another type": np.arange(4, dtype=np.float16),
    "a list": [1.0],
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_unusual_goes_the_ordinary_way(what: str, backend: CpuBackend) -> None:
    engines.reduce_tree(np.ones(4, np.float32), backend=backend)
    (short,) = shorts(backend)
    assert short({"input": np.ones(4, np.float32)}) is None  # once more, for all that is known
    assert short({"input": np.ones(4, np.float32)}) is not None
    for _ in range(3):
        assert short({"input": ODD[what]}) is None


def test_a_misaligned_buffer_goes_the_ordinary_way(backend: CpuBackend) -> None:
    engines.reduce_tree(np.ones(4, np.float32), backend=backend)
    (short,) = shorts(backend)
    misaligned = vyre.to_device(ODD["misaligned"], backend=backend, copy=False)
    aligned = vyre.to_device(np.ones(4, np.float32), backend=backend)
    found = [[short({"input": x}) is not None for _ in range(3)] for x in (misaligned, aligned)]
    assert found == [[False, False, False], [False, True, True]]


def test_what_was_refused_is_refused(backend: CpuBackend) -> None:
    x = vyre.to_device(np.ones(4, np.float32), backend=backend)
    for _ in range(4):
        assert engines.reduce_tree(x, backend=backend) == 4
    with pytest.raises(DispatchError, match="not on"):
        engines.reduce_tree(vyre.to_device(np.ones(4, np.float32), backend="reference"), backend=backend)
    with vyre.capture(backend), pytest.raises(DispatchError, match="an engine cannot be part of a plan"):
        engines.reduce_tree(x, backend=backend)
    x.close()
    with pytest.raises(DispatchError, match="closed"):
        engines.reduce_tree(x, backend=backend)


def test_threads_have_memory_of_their_own(backend: CpuBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong: list[int] = []
    monkeypatch.setattr(backend, "wait", lambda: time.sleep(1e-4))  # lets another thread run

    def work(seed: int) -> None:
        for turn in range(50):
            x = np.full(1000 + turn % 2, seed, np.float32)
            if engines.reduce_tree(x, backend=backend) != seed * x.size:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
