"""Our CUDA kernels against hand-written CUDA C and CuPy, in one run on one GPU.

python benchmarks/gpu_integer.py [--log2 26]
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import kernels

import vyre
from vyre.backends.cuda.backend import CudaBackend, _check, compile_source
from vyre.compose.inline import inline
from vyre.lower.source import Source

HAND = """
typedef unsigned int u32;
#define IN const u32* __restrict__
#define OUT u32* __restrict__
extern "C" __global__ void hamming(IN a, IN b, OUT o, u32 n) {
  u32 i = blockIdx.x * 256u + threadIdx.x; if (i < n) o[i] = __popc(a[i] ^ b[i]); }
extern "C" __global__ void mix(const u32* __restrict__ a, u32* __restrict__ o, u32 n) {
  u32 i = blockIdx.x * 256u + threadIdx.x; if (i < n) { u32 x = a[i];
  x ^= x >> 16; x *= 0x85EBCA6Bu; x ^= x >> 13; x *= 0xC2B2AE35u; x ^= x >> 16; x += 0x9E3779B9u; x ^= x << 7;
  x *= 0x27D4EB2Fu; x ^= x >> 15; x += x << 3; x ^= x >> 11; x *= 0x165667B1u; x ^= x >> 17; o[i] = x; } }
extern "C" __global__ void block_sums(const u32* __restrict__ a, u32* __restrict__ o, u32 n) {
  __shared__ u32 t[256]; u32 l = threadIdx.x, s = 0; u32 base = blockIdx.x * 4096u;
  for (u32 k = 0; k < 16; k++) { u32 i = base + k * 256u + l; if (i < n) s += a[i]; }
  t[l] = s; __syncthreads();
  for (u32 r = 128; r; r >>= 1) { if (l < r) t[l] += t[l + r]; __syncthreads(); }
  if (l == 0) o[blockIdx.x] = t[0]; }
extern "C" __global__ void histogram(const u32* __restrict__ a, u32* __restrict__ o, u32 n) {
  __shared__ u32 t[256]; u32 l = threadIdx.x; t[l] = 0; __syncthreads(); u32 base = blockIdx.x * 4096u;
  for (u32 k = 0; k < 16; k++) { u32 i = base + k * 256u + l; if (i < n) atomicAdd(&t[a[i] >> 24], 1u); }
  __syncthreads(); atomicAdd(&o[l], t[l]); }
"""


class Timer:
    """Median time of a launch by device events, over batches that keep the queue full.

    A single launch between two events would time Python as well: the device waits for it.
    """

    BATCH = 20

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.start, self.stop = (_check(driver.cuEventCreate(0)) for _ in range(2))

    def microseconds(self, launch: Any, repeats: int = 30) -> float:
        for _ in range(5):
            launch()
        times: list[float] = []
        for _ in range(repeats):
            _check(self.driver.cuEventRecord(self.start, 0))
            for _ in range(self.BATCH):
                launch()
            _check(self.driver.cuEventRecord(self.stop, 0))
            _check(self.driver.cuEventSynchronize(self.stop))
            times.append(_check(self.driver.cuEventElapsedTime(self.start, self.stop)) * 1000 / self.BATCH)
        return sorted(times)[len(times) // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log2", type=int, default=24)
    count = 1 << parser.parse_args().log2
    backend = CudaBackend()
    driver = backend.driver
    print(backend.describe())
    _check(driver.cuCtxSetCurrent(backend.context))
    timer = Timer(driver)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 1 << 32, count, dtype=np.uint32) for _ in range(2))
    address = [_check(driver.cuMemAlloc(count * 4)) for _ in range(4)]
    for target, data in zip(address, (a, b), strict=False):
        _check(driver.cuMemcpyHtoD(target, data.ctypes.data, data.nbytes))
    hand = Source("cuda", "", HAND, (256, 1, 1), (), ())
    module = _check(driver.cuModuleLoadData(compile_source(hand, backend.architecture)))
    groups = (count + 255) // 256
    shapes = {
        "hamming": (["a", "b"], count, groups),
        "mix": (["a"], count, groups),
        "block_sums": (["a"], count // 4096, count // 4096),
        "histogram": (["a"], 256, count // 4096),
    }
    print(f"{count} elements; microseconds, median of 30 batches of 20; ratio = hand-written / ours")
    for name, (inputs, outputs, grid) in shapes.items():
        started = time.perf_counter()
        ours = backend.compile(inline(getattr(kernels, name).program))
        compiled = (time.perf_counter() - started) * 1000
        where = {"a": address[0], "b": address[1], "out": address[2]}
        lengths = {"a": count, "b": count, "out": outputs}
        pointers = [int(where[d.name]) for d in ours.source.buffers]
        function = _check(driver.cuModuleGetFunction(module, name.encode()))
        values = (*[int(where[i]) for i in inputs], int(address[3]), count)
        kinds = (*[ctypes.c_void_p] * (len(inputs) + 1), ctypes.c_uint32)

        def by_hand(f: Any = function, g: int = grid, v: Any = values, k: Any = kinds) -> None:
            _check(driver.cuLaunchKernel(f, g, 1, 1, 256, 1, 1, 0, 0, (v, k), 0))

        def by_us(o: Any = ours, p: list[int] = pointers, le: Any = lengths, g: int = grid) -> None:
            o.launch(p, le, (g, 1, 1))

        for target in address[2:]:
            _check(driver.cuMemsetD32(target, 0, outputs))
        by_us()
        by_hand()
        results = []
        for target in address[2:]:
            result = np.empty(outputs, np.uint32)
            _check(driver.cuMemcpyDtoH(result.ctypes.data, target, result.nbytes))
            results.append(result)
        assert (results[0] == results[1]).all(), name
        mine, theirs, mine2 = (
            timer.microseconds(by_us),
            timer.microseconds(by_hand),
            timer.microseconds(by_us),
        )
        best = min(mine, mine2)
        print(
            f"{name:12} ours {best:9.1f}  hand {theirs:9.1f}  ratio {theirs / best:5.2f}  "
            f"compile {compiled:6.1f} ms"
        )
    _cupy_peers(backend, count, a, b)
    small = vyre.compile_program(kernels.hamming.program, backend=backend)
    held = {name: vyre.to_device(np.zeros(256, np.uint32), backend=backend) for name in ("a", "b", "out")}
    for _ in range(200):
        small(held, workgroups=1)
    _check(driver.cuCtxSynchronize())
    started = time.perf_counter()
    for _ in range(5000):
        small(held, workgroups=1)
    _check(driver.cuCtxSynchronize())
    print(
        f"steady dispatch of device buffers {(time.perf_counter() - started) / 5000 * 1e6:.1f} microseconds"
    )


def _cupy_peers(backend: Any, count: int, a: Any, b: Any) -> None:
    """The same four in CuPy, on the same data, by the wall clock around 50 calls."""
    try:
        cupy: Any = importlib.import_module("cupy")
    except ImportError:
        return
    x, y = cupy.asarray(a), cupy.asarray(b)
    hamming = cupy.ElementwiseKernel("uint32 a, uint32 b", "uint32 o", "o = __popc(a ^ b)", "hamming")
    steps = HAND.split("u32 x = a[i];")[1].split("o[i] = x")[0]
    mix = cupy.ElementwiseKernel("uint32 a", "uint32 o", f"unsigned int x = a; {steps} o = x", "mix")
    out = cupy.empty_like(x)
    calls = {
        "hamming": lambda: hamming(x, y, out),
        "mix": lambda: mix(x, out),
        "block_sums": lambda: x.reshape(-1, 4096).sum(axis=1, dtype=cupy.uint32),
        "histogram": lambda: cupy.bincount((x >> 24).astype(cupy.int32), minlength=256),
    }
    for name, call in calls.items():
        call()
        cupy.cuda.runtime.deviceSynchronize()
        started = time.perf_counter()
        for _ in range(50):
            call()
        cupy.cuda.runtime.deviceSynchronize()
        print(f"{name:12} CuPy {(time.perf_counter() - started) / 50 * 1e6:9.1f}")


if __name__ == "__main__":
    main()
