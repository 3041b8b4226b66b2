"""A captured block replayed gives the bytes of its calls made again."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest

import vyre
from tests.backends.cuda.scripted_driver import COPY, OK, Driver, ScriptedBackend
from vyre.backends import registry
from vyre.errors import DispatchError


@vyre.kernel
def mixed(x: vyre.In[vyre.u32], factor: vyre.u32, out: vyre.InOut[vyre.u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = (out[i] ^ x[i]) * factor + 1


BACKENDS = ["cpu", "reference", "wgpu", "opencl"]


def buffers_on(name: str) -> tuple[Any, Any, Any]:
    try:
        registry.get(name)
    except DispatchError as error:
        pytest.skip(str(error))
    x = np.arange(100, dtype=np.uint32)
    return tuple(vyre.to_device(a, backend=name) for a in (x, x * 7, x + 3))  # pyright: ignore[reportReturnType]


def calls(a: Any, b: Any, c: Any, backend: str) -> None:
    mixed(a, 3, b, backend=backend)
    mixed(b, 5, c, backend=backend)
    mixed(c, 7, a, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_replays_are_the_same_calls_again(backend: str) -> None:
    captured, plain = buffers_on(backend), buffers_on(backend)
    with vyre.capture(backend) as plan:
        calls(*captured, backend=backend)
    assert len(plan) == 3
    calls(*plain, backend=backend)
    for turn in range(3):
        for ours, theirs in zip(captured, plain, strict=True):
            assert ours.numpy().tobytes() == theirs.numpy().tobytes(), turn
        captured[0].copy_from(captured[1].numpy() + np.uint32(turn))
        plain[0].copy_from(plain[1].numpy() + np.uint32(turn))
        plan.replay()
        calls(*plain, backend=backend)


@vyre.kernel
def halves(x: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    i = vyre.invocation_id(0)
    if i < 50:
        out[i] = x[i]


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_output_starts_as_zeros_in_every_replay(backend: str) -> None:
    a, b, _ = buffers_on(backend)
    with vyre.capture(backend) as plan:
        halves(a, b, backend=backend)
    b.copy_from(np.full(100, 9, np.uint32))
    plan.replay()
    assert b.numpy().tolist() == [*range(50), *[0] * 50]


def test_a_plan_keeps_closed_buffers() -> None:
    a, b, c = buffers_on("cpu")
    with vyre.capture("cpu") as plan:
        calls(a, b, c, "cpu")
    view = np.asarray(c)
    before = view.copy()
    for buffer in (a, b, c):
        buffer.close()
    gc.collect()
    plan.replay()
    assert not np.array_equal(view, before)


def test_what_a_replay_would_leave_out_is_refused() -> None:
    a, b, _ = buffers_on("cpu")
    host = np.zeros(100, np.uint32)
    elsewhere = vyre.to_device(host, backend="reference")
    wrong: dict[str, Any] = {
        "all device buffers": lambda: mixed(a, 3, host, backend="cpu"),
        "outputs included": lambda: mixed(host, 3, host, backend="cpu"),
        "cannot be part of a plan on 'cpu'": lambda: mixed(elsewhere, 3, elsewhere, backend="reference"),
        "step_limit": lambda: mixed(a, 3, b, backend="cpu", step_limit=9),
        "vyre.to_device": lambda: vyre.to_device(host, backend="cpu"),
        "vyre.device_zeros": lambda: vyre.device_zeros(4, np.uint32, backend="cpu"),
        "a copy into": lambda: a.copy_from(host),
    }
    for message, call in wrong.items():
        plan = vyre.capture("cpu")
        with pytest.raises(DispatchError, match=message), plan:
            call()
        with pytest.raises(DispatchError, match="not complete"):
            plan.replay()
    mixed(a, 3, b, backend="cpu")  # nothing is left open


def test_blocks_do_not_nest_and_plans_are_made_once() -> None:
    with vyre.capture("cpu") as plan:
        with pytest.raises(DispatchError, match="already open"), vyre.capture("cpu"):
            pass
        with pytest.raises(DispatchError, match="not complete"):
            plan.replay()
    plan.replay()
    with pytest.raises(DispatchError, match="made before"), plan:
        pass


def test_a_grid_of_nothing_is_replayed_as_nothing() -> None:
    a, b, _ = buffers_on("cpu")
    before = b.numpy()
    with vyre.capture("cpu") as plan:
        mixed(a, 3, b, backend="cpu", workgroups=0)
    plan.replay()
    assert np.array_equal(b.numpy(), before)


class GraphDriver(Driver):
    """A driver whose graphs are lists of the arguments that each kernel is launched with."""

    def __init__(self) -> None:
        super().__init__()
        self.graph: list[tuple[Any, list[int]]] = []

    class CUDA_KERNEL_NODE_PARAMS:  # noqa: N801 - the driver's spelling
        kernelParams = 0  # noqa: N815

    def do_cuGraphCreate(self, flags: int) -> tuple[Any, ...]:  # noqa: N802
        self.graph = []
        return OK, "graph"

    def do_cuGraphAddKernelNode(self, graph: Any, before: Any, count: int, node: Any) -> tuple[Any, ...]:  # noqa: N802
        table = (ctypes.c_void_p * 2).from_address(node.kernelParams)
        self.graph.append((before, [ctypes.c_uint64.from_address(table[k] or 0).value for k in range(2)]))
        assert (node.func, node.blockDimX, node.gridDimX, count) == ("function", 64, 1, len(before))
        return OK, len(self.graph)

    def do_cuGraphInstantiate(self, graph: Any, flags: int) -> tuple[Any, ...]:  # noqa: N802
        return OK, list(self.graph)

    def do_cuGraphLaunch(self, graph: Any, stream: int) -> tuple[Any, ...]:  # noqa: N802
        for _, (a, out) in graph:
            self.kernel(a, out)
        return (OK,)


def test_on_cuda_a_plan_is_one_graph() -> None:
    driver = GraphDriver()
    driver.kernel = lambda a, out: ctypes.memmove(out, a, 16)
    backend = ScriptedBackend(driver)
    first, second, third = (vyre.to_device(np.full(4, k, np.uint32), backend=backend) for k in range(1, 4))
    with vyre.capture(backend) as plan:
        vyre.dispatch(COPY, {"a": first, "out": second}, backend=backend)
        vyre.dispatch(COPY, {"a": second, "out": third}, backend=backend)
    assert [before for before, _ in driver.graph] == [[], [1]]
    first.copy_from(np.full(4, 9, np.uint32))
    driver.calls.clear()
    plan.replay()
    assert [name for name, _ in driver.calls] == ["cuCtxSetCurrent", "cuGraphLaunch"]
    assert third.numpy().tolist() == [9] * 4
    driver.calls.clear()
    del plan
    gc.collect()
    assert "cuGraphExecDestroy" in [name for name, _ in driver.calls]
