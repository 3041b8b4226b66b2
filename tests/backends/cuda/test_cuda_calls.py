"""Calls on a real GPU, the short ways included; everything is skipped where there is none.

What the scripted driver cannot show: that the driver's pool, graphs and streams order the work as we take it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, engines, f32, u32
from vyre.backends.registry import get
from vyre.errors import BackendUnavailable

LENGTHS = (1, 63, 1000, 1 << 20)
rng = np.random.default_rng(3)


@vyre.kernel(workgroup_size=256)
def added(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] + b[i]


@vyre.kernel(workgroup_size=256)
def stepped(a: In[f32], out: InOut[f32], times: f32) -> None:
    i = vyre.invocation_id(0)
    out[i] = out[i] + a[i] * times


@vyre.kernel(workgroup_size=256)
def first_half(a: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(a) // 2:
        out[i] = a[i]


@pytest.fixture
def backend() -> Any:
    try:
        return get("cuda")
    except BackendUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(params=["torch", "cupy"])
def place(request: pytest.FixtureRequest, backend: Any) -> Any:
    """Puts an array of NumPy onto the GPU, as an array of another library."""
    library: Any = pytest.importorskip(request.param)

    def on_gpu(array: Any) -> Any:
        return library.asarray(array) if request.param == "cupy" else library.from_numpy(array).cuda()

    return on_gpu


def back(value: Any) -> Any:
    return value.numpy() if hasattr(value, "_vyre_serial") else np.asarray(value.tolist(), np.float32)


@pytest.mark.parametrize("length", LENGTHS)
def test_outputs_are_made_and_used_again(length: int, place: Any) -> None:
    a, b = (rng.standard_normal(length).astype(np.float32) for _ in range(2))
    x, y, found = place(a), place(b), None
    for _ in range(20):  # each result goes back to the pool while the next one is made
        found = added(x, added(x, y, backend="cuda"), backend="cuda")
    assert found is not None
    assert np.array_equal(found.numpy(), a + (a + b))


def test_outputs_that_are_passed_are_written_where_they_lie(place: Any) -> None:
    a = rng.standard_normal(1000).astype(np.float32)
    x, out = place(a), place(np.ones(1000, np.float32))
    for times in (1.0, 2.0, 1.0):
        assert stepped(x, out, times, backend="cuda") is out
    assert np.array_equal(back(out), np.float32(1) + a + a * 2 + a)
    half = place(np.ones(1000, np.float32))
    assert first_half(x, half, backend="cuda") is half
    assert np.array_equal(back(half), np.concatenate([a[:500], np.zeros(500, np.float32)]))


def test_engines_take_them_where_they_are(place: Any) -> None:
    for length in (0, 1, 1000, 1024, 70_001):
        a = rng.standard_normal(length).astype(np.float32)
        for _ in range(3):
            found = engines.reduce_tree(place(a), backend="cuda")
            assert found.tobytes() == engines.reduce_tree(a, backend="reference").tobytes()


def test_engines_see_what_was_queued_before(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    x = torch.zeros(1024, device="cuda")
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for k in range(50):
                torch.cuda._sleep(100_000)
                x.fill_(k)
                assert engines.reduce_tree(x, backend="cuda") == 1024 * k
            torch.cuda.synchronize()


def test_blocks_are_used_again_while_work_is_queued(place: Any, backend: Any) -> None:
    ones = np.ones(1 << 16, np.float32)
    x = place(ones)
    total: Any = vyre.to_device(ones, backend=backend)
    kept: list[Any] = []
    for k in range(400):
        total = added(x, total, backend="cuda")
        if k % 50 == 0:
            kept.append((k, total))
    assert all(np.array_equal(made.numpy(), ones * (k + 2)) for k, made in kept)
    assert np.array_equal(total.numpy(), ones * 401)


def test_engines_on_our_own_buffers(backend: Any) -> None:
    words = rng.integers(0, 1 << 32, 70_001, dtype=np.uint32)
    held = vyre.to_device(words, backend=backend)
    for _ in range(3):
        assert engines.reduce(held, backend=backend) == np.add.reduce(words, dtype=np.uint32)
        assert np.array_equal(engines.scan(held, backend=backend).numpy(), np.cumsum(words, dtype=np.uint32))
    data = rng.integers(0, 256, 4096, dtype=np.uint8)
    counts = engines.histogram(vyre.to_device(data, backend=backend), backend=backend)
    assert np.array_equal(counts.numpy(), np.bincount(data, minlength=256))
    assert np.array_equal(engines.compact(words, words & 1, backend=backend), words[words & 1 == 1])


@pytest.mark.parametrize("length", LENGTHS)
def test_arrays_of_the_host(length: int, backend: Any) -> None:
    a, b = (rng.standard_normal(length).astype(np.float32) for _ in range(2))
    assert np.array_equal(added(a, b, backend=backend), a + b)
    out = b.copy()
    assert stepped(a, out, 1.0, backend=backend) is out
    assert np.array_equal(out, b + a)


def test_another_stream_waits_and_is_waited_for(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(20):
            x = torch.zeros(1 << 22, device="cuda")
            torch.cuda._sleep(2_000_000)
            x += 3
            made = torch.from_dlpack(added(x, x, backend="cuda"))
            total = (made * 2).sum()
            assert float(total) == 12 * (1 << 22)


def test_a_replayed_plan_is_the_same_calls_again(backend: Any) -> None:
    x = vyre.to_device(np.ones(1000, np.float32), backend=backend)
    y = vyre.device_zeros(1000, np.float32, backend=backend)
    with vyre.capture(backend) as plan:
        for _ in range(5):
            stepped(x, y, 2.0, backend=backend)
        first_half(x, y, backend=backend)  # which clears the rest of it
    for _ in range(10):
        stepped(x, y, 1.0, backend=backend)
        plan.replay()
    assert np.array_equal(y.numpy(), np.repeat(np.array([1, 0], np.float32), 500))


def test_threads_share_constants_and_arguments(backend: Any) -> None:
    a = np.arange(5000, dtype=np.float32)
    wrong: list[int] = []

    def work(number: int) -> None:
        x = vyre.to_device(a, backend=backend)
        for turn in range(100):  # more constants than are kept
            times = np.float32(number * 1000 + turn)
            made = added(x, x, backend=backend)
            if not np.array_equal(stepped(x, made, times, backend=backend).numpy(), a + a + a * times):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_large_outputs_are_taken_from_the_pool_and_given_back(backend: Any) -> None:
    x = vyre.device_zeros(1 << 28, np.float32, backend=backend)
    shapes = {added(x, x, backend=backend).shape for _ in range(40)}  # more together than devices have
    assert shapes == {(1 << 28,)}
    words = vyre.device_zeros(16, u32, backend=backend)
    assert words.numpy().tolist() == [0] * 16
