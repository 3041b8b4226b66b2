"""What one call costs before anything runs: it inlines its program once and imports each array once."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32
from vyre.ir import BufferDecl, Call, DataType, InvocationId, Program, Store

if TYPE_CHECKING:
    from collections.abc import Callable

A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)


class Lent:
    """An array of another library, which counts how often its memory is asked for."""

    def __init__(self, length: int) -> None:
        self.array = np.arange(length, dtype=np.uint32)
        self.imports = 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        self.imports += 1
        return self.array.__dlpack__(**options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """NumPy before 2.3 takes what `__dlpack__` gives as read-only; this says that it is not."""
        return self.array


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every program that the inliner looks through, once the backends have run their own at their start."""
    idle = Program([OUT], (1, 1, 1), [])
    for backend in ("reference", "cpu"):
        vyre.dispatch(idle, {"out": np.zeros(1, np.uint32)}, backend=backend)
    inliner = importlib.import_module("vyre.compose.inline")  # the package has a function of this name
    seen: list[Any] = []
    scan: Callable[..., Any] = inliner.scan

    def counted(entry: Any, *result: Any) -> Any:
        seen.append(entry)
        return scan(entry, *result)

    monkeypatch.setattr(inliner, "scan", counted)
    return seen


def twice(x: u32) -> u32:
    return x + x


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_kernel_is_inlined_once(scans: list[Any], backend: str) -> None:
    @vyre.kernel
    def double(a: In[u32], out: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = twice(a[i]) + vyre.call("integer.min", a[i], a[i])

    assert double(np.arange(4, dtype=np.uint32), backend=backend).tolist() == [0, 3, 6, 9]
    assert len(scans) == 1
    double(np.arange(4, dtype=np.uint32), backend=backend)
    assert len(scans) == 1


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_a_dispatched_program_is_inlined_once(scans: list[Any], backend: str) -> None:
    at = InvocationId(0)
    once = A[at] ^ 0x0CE0_0CE0 ^ 0x0CE0_0CE0  # no other test has this program, which would be kept then
    for value in (once, Call("integer.min", (once, once))):
        scans.clear()
        program = Program([A, OUT], (64, 1, 1), [Store("out", at, value)])
        given = {"a": np.arange(4, dtype=np.uint32), "out": np.zeros(4, np.uint32)}
        assert vyre.dispatch(program, given, backend=backend)["out"].tolist() == [0, 1, 2, 3]
        assert len(scans) == 1


def test_an_array_is_imported_once_however_the_outputs_are_sized() -> None:
    @vyre.kernel
    def add(a: In[u32], b: InOut[u32], out: Out[u32], again: Out[u32]) -> None:
        i = vyre.invocation_id(0)
        b[i] = b[i] + a[i]
        out[i] = a[i]
        again[i] = a[i]

    shapes: list[dict[str, Any]] = [{}, {"out": 3}, {"out": 5, "again": np.zeros(2, np.uint32)}]
    for more in shapes:
        a, b = Lent(5), Lent(4)
        _, out, again = add(a=a, b=b, backend="cpu", **more)
        assert (a.imports, b.imports) == (1, 1)
        assert len(out) == more.get("out", 5)
        assert len(again) == (2 if "again" in more else 5)
