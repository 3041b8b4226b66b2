"""Functions of tensors on arrays of torch and CuPy, on a real GPU; all are skipped where there is none."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import nn
from vyre import tensor as vt
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.registry import get
from vyre.errors import BackendUnavailable, VyreError
from vyre.planning.plan import GraphPlan

rng = np.random.default_rng(11)


@pytest.fixture
def backend() -> Any:
    try:
        return get("cuda")
    except BackendUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(params=["torch", "cupy"])
def library(request: pytest.FixtureRequest, backend: Any) -> Any:
    return pytest.importorskip(request.param)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def there(library: Any, array: Any) -> Any:
    return library.asarray(array) if library.__name__ == "cupy" else library.from_numpy(array).cuda()


def back(array: Any) -> Any:
    if isinstance(array, DeviceBuffer):
        return array.numpy()
    return array.get() if type(array).__module__ == "cupy" else array.cpu().numpy()


def attention(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor) -> vt.Tensor:
    return nn.attention(q, k, v)


def several(a: vt.Tensor, b: vt.Tensor) -> Any:
    return {"less": a < b, "sums": (a.sum(axis=-1), (a @ b).sum())}


def test_a_second_call_makes_arrays_of_the_same_library(library: Any, monkeypatch: Any) -> None:
    function = vt.function(attention)
    arrays = [floats(2, 16, 32) for _ in range(3)]
    wanted = function(*arrays, backend="cpu")
    given = [there(library, x) for x in arrays]
    function(*given, backend="cuda")
    monkeypatch.delattr(GraphPlan, "session")
    made = function(*given, backend="cuda")
    assert type(made) is type(given[0])
    assert tuple(made.shape) == wanted.shape
    assert back(made).tobytes() == wanted.tobytes()


def test_several_results(library: Any) -> None:
    function = vt.function(several)
    a, b = floats(32, 32), floats(32, 32)
    wanted = function(a, b, backend="cpu")
    for _ in range(3):
        made = function(there(library, a), there(library, b), backend="cuda")
        assert np.array_equal(back(made["less"]) != 0, wanted["less"])
        for ours, truth in zip(made["sums"], wanted["sums"], strict=True):
            assert back(ours).tobytes() == truth.tobytes()


def test_what_is_queued_before_and_behind_on_any_stream(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    function = vt.function(attention)
    x = floats(2, 16, 32)
    wanted = function(x, x, x, backend="cpu").tobytes()
    for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            source = torch.from_numpy(x).cuda()
            for _ in range(10):
                given = torch.zeros_like(source)
                torch.cuda._sleep(500_000)
                given += source
                made = function(given, given, given, backend="cuda")
                given.zero_()
                assert (made * 1).cpu().numpy().tobytes() == wanted
        torch.cuda.synchronize()


def test_other_arrays_take_the_ordinary_way(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    function = vt.function(several)
    a, b = floats(16, 16), floats(16, 16)
    wanted = function(a, b, backend="cpu")["sums"][1].tobytes()
    x, y = (torch.from_numpy(v).cuda() for v in (a, b))
    function(x, y, backend="cuda")
    shifted = torch.cat([x.reshape(-1)[:1], x.reshape(-1)])[1:].reshape(16, 16)
    for given in ((shifted, y), (x, vyre.to_device(b, backend="cuda")), (x, b)):
        assert back(function(*given, backend="cuda")["sums"][1]).tobytes() == wanted
    with pytest.raises(VyreError, match="contiguous"):
        function(x.t(), y, backend="cuda")
    with pytest.raises(VyreError):
        function(x.clone().requires_grad_(), y, backend="cuda")


def test_halves_stay_halves(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    pytest.importorskip("ml_dtypes")
    function = vt.function(lambda a, b: a + b)  # pyright: ignore[reportUnknownLambdaType,reportUnknownArgumentType]
    x = torch.from_numpy(floats(100)).cuda().bfloat16()
    made = [function(x, x, backend="cuda") for _ in range(3)]
    assert all(y.dtype is torch.bfloat16 and bool((y == x + x).all()) for y in made)


def test_threads(backend: Any) -> None:
    torch: Any = pytest.importorskip("torch")
    function = vt.function(attention)
    sets = [[floats(2, 16, 32) for _ in range(3)] for _ in range(4)]
    wanted = [function(*arrays, backend="cpu").tobytes() for arrays in sets]
    wrong: list[int] = []

    def work(k: int) -> None:
        given = [torch.from_numpy(x).cuda() for x in sets[k]]
        made = (function(*given, backend="cuda").cpu().numpy().tobytes() for _ in range(50))
        wrong.extend(k for found in made if found != wanted[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("length", [1 << 20, 1_000_003, (1 << 22) + 5])
def test_long_rows_have_the_bits_of_the_processor(length: int, backend: Any) -> None:
    x = floats(length)
    given = vyre.to_device(x, backend=backend)
    for plain in (_sum, _cumsum):
        function = vt.function(plain)
        assert function(given, backend="cuda").numpy().tobytes() == function(x, backend="cpu").tobytes()


def _sum(x: vt.Tensor) -> vt.Tensor:
    return x.sum()


def _cumsum(x: vt.Tensor) -> vt.Tensor:
    return vt.cumsum(x, axis=0)
