"""Elementwise kernels on buffers that stay on the device, one backend against another in the same run.

    python benchmarks/resident.py --backends cuda,wgpu,dawn,opencl [--log2 25] [--floats]

A chain of dispatches is queued and then waited for once; the time of a dispatch is the slope between a long
and a short chain, so that waiting and copying back drop out. Ratios are to the first backend of the list.
With --floats: strict arithmetic against a kernel that only copies, and functions against torch where it is.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import kernels

import vyre
from vyre import In, Out, f32
from vyre.backends import get

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT, LONG, REPEATS = 10, 60, 5
FUNCTIONS = ("exp", "log", "exp2", "log2", "cos", "sin", "tan", "atan")


@vyre.kernel(workgroup_size=256)
def copy2(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = vyre.bitcast(vyre.bitcast(a[i], vyre.u32) ^ vyre.bitcast(b[i], vyre.u32), f32)


@vyre.kernel(workgroup_size=256)
def add(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = a[i] + b[i]


@vyre.kernel(workgroup_size=256)
def multiply(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = a[i] * b[i]


@vyre.kernel(workgroup_size=256)
def divide(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = a[i] / b[i]


@vyre.kernel(workgroup_size=256)
def fused(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(out):
        out[i] = vyre.fma(a[i], b[i], a[i])


def unary(name: str) -> Any:
    """A kernel of one float function."""
    from vyre.ir import BufferDecl, DataType, InvocationId, Program
    from vyre.ir.expr import UnOp
    from vyre.ir.operators import UnaryOp

    op = next(o for o in UnaryOp if o.value.lower() == f"f{name}")
    source = BufferDecl.read("a", 0, DataType.F32)
    out = BufferDecl.read_write("out", 1, DataType.F32)
    i = InvocationId(0)
    return Program((source, out), (256, 1, 1), (out.store(i, UnOp(op, source[i])),))


def slope(launch: Callable[[], object], wait: Callable[[], object]) -> float:
    """Microseconds of one launch."""

    def chain(length: int) -> float:
        wait()
        started = time.perf_counter()
        for _ in range(length):
            launch()
        wait()
        return time.perf_counter() - started

    chain(SHORT)
    short = min(chain(SHORT) for _ in range(REPEATS))
    long = min(chain(LONG) for _ in range(REPEATS))
    return (long - short) / (LONG - SHORT) * 1e6


def ours(
    program: Any, backend: Any, arrays: dict[str, Any], count: int, workgroups: int | None = None
) -> float:
    compiled = vyre.compile_program(program, backend=backend)
    buffers = {name: vyre.to_device(value, backend=backend) for name, value in arrays.items()}
    grid = workgroups or -(-count // 256)
    probe = vyre.to_device(np.zeros(64, np.uint32), backend=backend)
    return slope(lambda: compiled(buffers, workgroups=grid), probe.numpy)


def opened(name: str) -> Any:
    module, _, factory = name.partition(":")
    return getattr(importlib.import_module(module), factory)() if factory else get(name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backends", default="cpu")
    parser.add_argument("--log2", type=int, default=25)
    parser.add_argument("--floats", action="store_true")
    options = parser.parse_args()
    count = 1 << options.log2
    rng = np.random.default_rng(1)
    words = [rng.integers(0, 1 << 32, count, dtype=np.uint32) for _ in range(2)]
    backends = [opened(name) for name in options.backends.split(",")]
    for backend in backends:
        print(backend.name, "|", backend.describe().device, "|", backend.describe().driver)
    print(f"{count} elements; microseconds of a dispatch, ratio to {backends[0].name}")
    for name in ("hamming", "mix"):
        program = getattr(kernels, name).program
        arrays = dict(zip("ab", words, strict=True)) if name == "hamming" else {"a": words[0]}
        times = [ours(program, b, {**arrays, "out": np.zeros(count, np.uint32)}, count) for b in backends]
        shown = "  ".join(
            f"{b.name} {t:.1f} ({times[0] / t:.2f})" for b, t in zip(backends, times, strict=True)
        )
        print(f"{name:10} {shown}", flush=True)
    if options.floats:
        for backend in backends:
            floats(backend, count, rng)


def floats(backend: Any, count: int, rng: Any) -> None:
    a, b = (rng.standard_normal(count).astype(np.float32) for _ in range(2))
    arrays = {"a": a, "b": b, "out": np.zeros(count, np.float32)}
    base = ours(copy2.program, backend, arrays, count)
    print(f"{backend.name}: {count} normal floats; a kernel that reads two and writes one {base:.1f} µs")
    for kernel in (add, multiply, fused, divide):
        took = ours(kernel.program, backend, arrays, count)
        print(f"  {kernel.__name__:10} {took:9.1f} µs  {base / took:.2f} of it", flush=True)
    one = {"a": np.abs(a), "out": np.zeros(count, np.float32)}
    took = ours(unary("sqrt"), backend, one, count)
    print(f"  {'sqrt':10} {took:9.1f} µs  {base / took:.2f} of it", flush=True)
    torch = _torch() if backend.name == "cuda" else None
    for name in FUNCTIONS:
        took = ours(unary(name), backend, one, count)
        peer = ""
        if torch is not None:
            x = torch.from_numpy(one["a"]).cuda()
            out = torch.empty_like(x)
            function = getattr(torch, name)
            theirs = slope(lambda f=function, x=x, o=out: f(x, out=o), torch.cuda.synchronize)
            peer = f"  torch {theirs:.1f}, ratio {theirs / took:.2f}"
        print(f"  {name:10} {took:9.1f} µs{peer}", flush=True)


def _torch() -> Any:
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None


if __name__ == "__main__":
    main()
