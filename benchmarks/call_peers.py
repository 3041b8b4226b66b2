"""The kernels of `calls.py` in other libraries, those that are installed."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Call = Callable[..., Any]


def package(name: str) -> Any:
    """The module, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def hamming_on_host(*, small: bool = True) -> dict[str, Call]:
    """popcount(a ^ b) into an array that the call makes."""
    found: dict[str, Call] = {"NumPy": _on_numpy}
    numba = package("numba")
    if numba is not None:
        found["Numba" if small else "Numba, parallel"] = _numba(numba, parallel=not small)
    warp = package("warp")
    if warp is not None:
        found["Warp"] = _warp(warp)
    taichi = package("taichi")
    if taichi is not None:
        found["Taichi"] = _taichi(taichi)
    return found


def _on_numpy(a: Any, b: Any) -> Any:
    return np.bitwise_count(a ^ b)


def _numba(numba: Any, *, parallel: bool) -> Call:
    one, two, four = np.uint32(0x55555555), np.uint32(0x33333333), np.uint32(0x0F0F0F0F)
    turns = numba.prange

    @numba.njit(parallel=parallel)
    def hamming(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        for i in turns(a.size):
            x = a[i] ^ b[i]
            x = x - ((x >> np.uint32(1)) & one)
            x = (x & two) + ((x >> np.uint32(2)) & two)
            out[i] = (((x + (x >> np.uint32(4))) & four) * np.uint32(0x01010101)) >> np.uint32(24)
        return out

    return hamming


_WARP_KERNEL = """
import warp as wp
words = wp.array(dtype=wp.uint32)
@wp.kernel
def hamming(a: words, b: words, out: words):
    i = wp.tid()
    x = a[i] ^ b[i]
    x = x - ((x >> wp.uint32(1)) & wp.uint32(0x55555555))
    x = (x & wp.uint32(0x33333333)) + ((x >> wp.uint32(2)) & wp.uint32(0x33333333))
    x = (x + (x >> wp.uint32(4))) & wp.uint32(0x0F0F0F0F)
    out[i] = (x * wp.uint32(0x01010101)) >> wp.uint32(24)
"""
_TAICHI_KERNEL = """
import taichi as ti
words = ti.types.ndarray()
@ti.kernel
def hamming(a: words, b: words, out: words):
    for i in range(a.shape[0]):
        out[i] = ti.math.popcnt(a[i] ^ b[i])
"""


def _loaded(name: str, text: str) -> Any:
    """A module of this text in a file, which these libraries read again when they compile."""
    path = Path(tempfile.mkdtemp()) / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _warp(warp: Any) -> Call:
    warp.config.quiet = True
    warp_kernels = _loaded("warp_kernels", _WARP_KERNEL)

    def hamming(a: Any, b: Any) -> Any:
        out = warp.empty(a.size, dtype=warp.uint32, device="cpu")
        given = [warp.from_numpy(x, dtype=warp.uint32, device="cpu") for x in (a, b)]
        warp.launch(warp_kernels.hamming, dim=a.size, inputs=[*given, out], device="cpu")
        return out.numpy()

    return hamming


def _taichi(taichi: Any) -> Call:
    taichi.init(arch=taichi.cpu, log_level=taichi.ERROR)
    taichi_kernels = _loaded("taichi_kernels", _TAICHI_KERNEL)

    def hamming(a: Any, b: Any) -> Any:
        out = np.empty_like(a)
        taichi_kernels.hamming(a, b, out)
        return out

    return hamming


def numpy_through_torch(torch: Any) -> dict[str, Call]:
    """What a user of torch writes to add NumPy arrays on a GPU."""

    def add(a: Any, b: Any) -> Any:
        return (torch.from_numpy(a).cuda() + torch.from_numpy(b).cuda()).cpu().numpy()

    return {"torch, NumPy arrays": add}


_TIMED = """start, own = time.perf_counter(), time.process_time()
{body}
print(1e3 * (time.perf_counter() - start), 1e3 * (time.process_time() - own))
"""
_ARRAYS = "a, b = np.array([1, 2, 3], np.uint32), np.array([3, 2, 0], np.uint32)\n"
_VYRE = """
from vyre import In, Out, u32
@vyre.kernel
def hamming(a: In[u32], b: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = vyre.popcount(a[i] ^ b[i])
hamming(a, b)
"""
_NUMBA = """
@numba.njit
def hamming(a, b):
    out = np.empty_like(a)
    for i in range(a.size):
        x = a[i] ^ b[i]
        n = np.uint32(0)
        while x:
            x &= x - np.uint32(1)
            n += np.uint32(1)
        out[i] = n
    return out
hamming(a, b)
"""
_TAICHI = """
ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)
@ti.kernel
def hamming(a: ti.types.ndarray(), b: ti.types.ndarray(), out: ti.types.ndarray()):
    for i in range(a.shape[0]):
        out[i] = ti.math.popcnt(a[i] ^ b[i])
hamming(a, b, np.empty_like(a))
"""
FIRST_CALLS = {
    "vyre cpu": ("import time, numpy as np, vyre\n", _VYRE),
    "Numba": ("import time, numpy as np, numba\n", _NUMBA),
    "Taichi": ("import time, numpy as np, taichi as ti\n", _TAICHI),
}
"""What is imported before the clock starts, and what a user writes behind it."""


def first_call(script: tuple[str, str], environment: Mapping[str, str]) -> tuple[float, float] | None:
    """Milliseconds by the clock and of the processor, in a process of its own; None where the library is not
    installed."""
    imports, body = script
    text = imports + _ARRAYS + _TIMED.format(body=body)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "first_call.py"  # a kernel needs the source of its function
        path.write_text(text)
        done = subprocess.run(
            [sys.executable, str(path)], env=dict(environment), capture_output=True, text=True, check=False
        )
    if "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr)
    wall, own = map(float, done.stdout.split()[-2:])
    return wall, own
