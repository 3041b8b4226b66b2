"""Elementwise kernels on buffers that stay on the device, one backend against another in the same run.

    python benchmarks/resident.py --backends cuda,wgpu,dawn,opencl [--log2 25]

A chain of dispatches is queued and then waited for once; the time of a dispatch is the slope between a long
and a short chain, so that waiting and copying back drop out. Ratios are to the first backend of the list.
Floats have a benchmark of their own, `gpu_floats.py`.
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
from vyre.backends import get

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT, LONG, REPEATS = 10, 60, 5


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
    options = parser.parse_args()
    count: int = 1 << options.log2
    rng = np.random.default_rng(1)
    words: list[Any] = [rng.integers(0, 1 << 32, count, dtype=np.uint32) for _ in range(2)]
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


if __name__ == "__main__":
    main()
