"""Arrays of other libraries on the host: written where they lie, and their library is told."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import DispatchError, In, InOut, Out, u32


@vyre.kernel
def raised(x: InOut[u32]) -> None:
    x[vyre.invocation_id(0)] += 1


@vyre.kernel
def copied(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i]


class Tensor:
    """What torch's tensors on the host have: DLPack without a version, a view for NumPy, a counter."""

    def __init__(self, values: list[int], *, inference: bool = False) -> None:
        self.array = np.array(values, np.uint32)
        self._version = 0
        self.inference = inference
        self.needs_gradient = False

    def is_inference(self) -> bool:
        return self.inference

    def __dlpack__(self, *, stream: Any = None, **options: Any) -> Any:
        if self.needs_gradient:
            raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
        if options.pop("max_version", None) is not None:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array if dtype is None and not copy else np.array(self.array, dtype)


class Immutable(Tensor):
    """A library whose arrays never change: its view for NumPy is read-only."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        view = self.array.view()
        view.flags.writeable = False
        return view


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    def increment_version(tensor: Tensor) -> None:
        assert not tensor.inference, "such a tensor has no counter"
        tensor._version += 1

    module: Any = ModuleType("torch")
    module.Tensor = Tensor
    module.autograd = SimpleNamespace(graph=SimpleNamespace(increment_version=increment_version))
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_tensor_is_written_counted_and_given_back(backend: str) -> None:
    x = Tensor([1, 2])
    assert raised(x, backend=backend) is x
    assert x.array.tolist() == [2, 3]
    assert x._version == 1
    out = Tensor([7, 7])
    assert copied(x, out, backend=backend) is out
    assert (x._version, out._version) == (1, 1)
    assert out.array.tolist() == [2, 3]


@pytest.mark.usefixtures("torch")
def test_a_tensor_beside_device_buffers_is_counted_too() -> None:
    out, x = Tensor([7, 7]), vyre.to_device(np.array([1, 2], np.uint32), backend="cpu")
    assert copied(x, out, backend="cpu") is out
    assert (out.array.tolist(), out._version) == ([1, 2], 1)


@pytest.mark.usefixtures("torch")
def test_copies_refusals_and_inference_count_nothing() -> None:
    x = Tensor([1, 2])
    assert raised(x, copy=True).tolist() == [2, 3]
    with pytest.raises(DispatchError, match="beyond a u32"):
        raised(x, workgroups=1 << 31)
    assert (x.array.tolist(), x._version) == ([1, 2], 0)
    still = Tensor([1], inference=True)
    assert raised(still) is still
    assert still.array.tolist() == [2]


def test_an_array_that_its_library_keeps_from_changing_is_refused() -> None:
    x = Immutable([1, 2])
    with pytest.raises(DispatchError, match=r"read-only memory.*copy=True"):
        raised(x)
    assert raised(x, copy=True).tolist() == [2, 3]
    assert x.array.tolist() == [1, 2]


def test_a_tensor_with_a_gradient_is_answered_with_detach() -> None:
    x = Tensor([1, 2])
    x.needs_gradient = True
    with pytest.raises(DispatchError, match=r"require gradient.*Fix: pass x\.detach\(\)"):
        raised(x)


def test_torch_itself() -> None:
    library: Any = pytest.importorskip("torch")
    x = library.tensor([1, 2], dtype=library.int32)

    @vyre.kernel
    def shifted(x: InOut[vyre.i32]) -> None:
        x[vyre.invocation_id(0)] += 1

    before = x._version
    assert shifted(x) is x
    assert x.tolist() == [2, 3]
    assert x._version > before
