"""Outputs that stay on the device: of the kind of the inputs, in memory of their own, and never copied."""

from __future__ import annotations

import gc
import sys
import weakref
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.backends.counted_copies import Counter
from tests.planning.compared import as_array, bits_of
from tests.planning.test_planned_nodes import given
from vyre import tensor as vt
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.registry import available, get
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.graph import Constant, ElementWise, Graph, Size, ValueType
from vyre.ir.expr import BinOp, Var, fadd, fmul
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph

if TYPE_CHECKING:
    from vyre.backends.host_memory import HostMemory

T = DataType
N = Size("n")
X0 = Var("x0")
SQUARED = Graph(
    {
        "a": given(T.F32, N),
        "s": ElementWise(fmul(X0, X0), ("a",), T.F32),
        "y": ElementWise(fadd(X0, X0), ("s",), T.F32),
    },
    ["y"],
)
RESIDENT = [status.name for status in available() if status.available and status.name != "reference"]


@pytest.mark.parametrize("backend", RESIDENT)
def test_a_device_buffer_in_gives_device_buffers_out(backend: str) -> None:
    x = vyre.to_device(np.arange(5, dtype=np.float32), backend=backend)
    plan = plan_graph(SQUARED)
    first = run_graph(plan, {"a": x}, backend=backend)["y"]
    second = run_graph(plan, {"a": first}, backend=backend)["y"]
    assert isinstance(first, DeviceBuffer)
    assert first.backend == backend
    assert first.numpy().tolist() == [0.0, 2.0, 8.0, 18.0, 32.0]
    assert second.numpy().tolist() == [2 * v * v for v in (0.0, 2.0, 8.0, 18.0, 32.0)]


def test_a_chain_of_calls_copies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x = vyre.to_device(np.arange(64, dtype=np.float32), backend="cpu")
    plan = plan_graph(SQUARED)
    counter = Counter(monkeypatch, x.memory)
    for _ in range(3):
        x = run_graph(plan, {"a": x}, backend="cpu")["y"]
    assert counter.count == 0
    x.numpy()
    assert counter.count == 1


def test_results_keep_their_memory_and_the_session_keeps_none_of_it() -> None:
    plan = plan_graph(SQUARED)
    given_ = vyre.to_device(np.ones(8, np.float32), backend="cpu")
    kept = [run_graph(plan, {"a": given_}, backend="cpu")["y"] for _ in range(2)]
    assert kept[0].memory.span[1] != kept[1].memory.span[1]
    watched = weakref.ref(kept.pop())
    gc.collect()
    assert watched() is None


def test_what_no_kernel_computes_is_a_copy_on_the_device() -> None:
    ones = Constant(ValueType(T.U32, (2,)), np.arange(1, 3, dtype="<u4").tobytes())
    graph = Graph({"a": given(T.F32, N), "c": ones}, ["a", "c"])
    x = vyre.to_device(np.ones(3, np.float32), backend="cpu")
    made = run_graph(graph, {"a": x}, backend="cpu")
    made["a"].copy_from(np.zeros(3, np.float32))
    assert x.numpy().tolist() == [1.0] * 3
    assert made["c"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize("backend", RESIDENT)
def test_shapes_with_no_element_and_none_at_all(backend: str) -> None:
    @vt.function(x=("n", 3))
    def both(x: vt.Tensor) -> Any:
        return x + x, x.sum()

    for rows in (0, 2):
        x = vyre.to_device(np.ones((rows, 3), np.float32), backend=backend)
        doubled, total = both(x, backend=backend)
        assert doubled.shape == (rows, 3)
        assert doubled.numpy().tolist() == [[2.0] * 3] * rows
        assert total.shape == ()
        assert float(total.numpy()) == 3.0 * rows


def test_a_bool_stays_as_words_and_arrays_of_the_host_stand_beside() -> None:
    @vt.function
    def less(x: vt.Tensor, y: vt.Tensor) -> Any:
        return x < y

    x = vyre.to_device(np.array([1, 5], np.uint32), backend="cpu")
    made = less(x, np.array([2, 2], np.uint32), backend="cpu")
    assert made.dtype == np.uint32
    assert made.numpy().tolist() == [1, 0]


def test_a_buffer_of_another_backend_is_refused() -> None:
    x = vyre.to_device(np.ones(3, np.float32), backend="reference")
    with pytest.raises(vyre.DispatchError, match="on the backend 'reference', not on 'cpu'"):
        run_graph(SQUARED, {"a": x}, backend="cpu")


class Stranger:
    """An array of a library that keeps its memory on a GPU, as far as anybody can tell."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def taken(buffer: DeviceBuffer) -> Stranger:
    return Stranger(np.from_dlpack(buffer))


class Importing(CpuBackend):
    def import_array(self, value: Any) -> DeviceBuffer:
        return vyre.to_device(value.array, backend=self, copy=False)


def test_arrays_of_one_library_give_arrays_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("stranger")
    monkeypatch.setattr(library, "from_dlpack", taken, raising=False)
    monkeypatch.setitem(sys.modules, "stranger", library)
    monkeypatch.setattr(Stranger, "__module__", "stranger.arrays")
    backend = Importing(canaries=False)
    x = Stranger(np.arange(3, dtype=np.float32))

    @vt.function
    def doubled(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return x + y

    made = doubled(x, x, backend=backend)
    assert isinstance(made, Stranger)
    assert made.array.tolist() == [0.0, 2.0, 4.0]
    beside = doubled(x, vyre.to_device(x.array, backend=backend), backend=backend)
    assert isinstance(beside, DeviceBuffer)
    assert beside.numpy().tolist() == [0.0, 2.0, 4.0]


def test_a_bfloat16_stays_one() -> None:
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    expr = BinOp(BinaryOp.FAdd, X0, X0)
    graph = Graph({"a": given(T.BF16, N), "y": ElementWise(expr, ("a",), T.BF16)}, ["y"])
    x = vyre.to_device(np.ones(2, bfloat16), backend="cpu")
    assert run_graph(graph, {"a": x}, backend="cpu")["y"].dtype == bfloat16
    bits = vyre.to_device(np.full(2, 0x3F80, np.uint16), backend="cpu")
    made = run_graph(graph, {"a": bits}, backend="cpu")["y"]
    assert made.dtype == np.uint16
    assert made.numpy().tolist() == [0x4000] * 2


def test_memory_of_the_callers_choice_gives_arrays_of_the_host() -> None:
    from vyre.engines.memory import EngineMemory

    x = vyre.to_device(np.ones(2, np.float32), backend="cpu")
    made = run_graph(SQUARED, {"a": x}, backend="cpu", memory=EngineMemory(get("cpu")))
    assert isinstance(made["y"], np.ndarray)


class Dirty(CpuBackend):
    """Memory that is asked for without being cleared holds anything."""

    def reserve(self, nbytes: int) -> HostMemory:
        memory = self.allocate(nbytes)
        memory.array[:] = 0xA5
        return memory


@pytest.mark.parametrize("seed", range(24))
def test_every_kernel_writes_all_of_its_output(seed: int) -> None:
    graph = random_graph(seed)
    sizes = random_sizes(graph, seed)[0]
    arrays = {
        name: as_array(graph.inputs[name].element, value)
        for name, value in random_inputs(graph, sizes, seed).items()
    }
    backend = Dirty(canaries=False)
    there = {n: vyre.to_device(a, backend=backend) if a.ndim else a for n, a in arrays.items()}
    wanted, found = run_graph(graph, arrays, backend="cpu"), run_graph(graph, there, backend=backend)
    for name, array in wanted.items():
        have = found[name] if isinstance(found[name], np.ndarray) else found[name].numpy()
        assert bits_of(have) == bits_of(array), name
