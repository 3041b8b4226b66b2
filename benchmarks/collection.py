"""Scans, sorts and the rest of the family `collection` beside their peers, in one run.

python benchmarks/collection.py [--backend cpu] [--length 16777216] [--threads 1]

On `cpu` the peers are NumPy and a plain radix sort in C (eight bits a pass), which `cc` compiles here; on
`cuda` CuPy, with everything on the device. Results are compared before anything is timed. The best of several
calls counts. The time of the process stands beside the wall time: a busy machine changes it little.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import engines
from vyre.backends.cpu.backend import CpuBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.protocol import Backend

SOURCE = """
#include <stdint.h>
#include <string.h>

void radix_sort(uint32_t *keys, uint32_t *other, long count) {
    uint32_t counts[4][256];
    memset(counts, 0, sizeof counts);
    for (long i = 0; i < count; i++)
        for (int pass = 0; pass < 4; pass++) counts[pass][keys[i] >> (8 * pass) & 255]++;
    for (int pass = 0; pass < 4; pass++) {
        uint32_t start = 0;
        for (int digit = 0; digit < 256; digit++) {
            uint32_t size = counts[pass][digit];
            counts[pass][digit] = start;
            start += size;
        }
        for (long i = 0; i < count; i++) other[counts[pass][keys[i] >> (8 * pass) & 255]++] = keys[i];
        uint32_t *swapped = keys;
        keys = other;
        other = swapped;
    }
}
"""


def compiled_sort() -> Callable[[Any, Any], None]:
    """Sorts the first array with the second as room; the result is in the first."""
    folder = Path(tempfile.mkdtemp())
    (folder / "radix.c").write_text(SOURCE)
    made = folder / "radix.so"
    subprocess.run(
        ["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", made, folder / "radix.c"], check=True
    )
    function = ctypes.CDLL(str(made)).radix_sort
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    return lambda keys, other: function(keys.ctypes.data, other.ctypes.data, keys.size)


def best(call: Callable[[], object], rounds: int = 7) -> tuple[float, float]:
    """Milliseconds of a call: wall, and of all threads of the process."""
    call()
    wall = busy = float("inf")
    for _ in range(rounds):
        started = time.perf_counter(), time.process_time()
        call()
        wall = min(wall, time.perf_counter() - started[0])
        busy = min(busy, time.process_time() - started[1])
    return wall * 1e3, busy * 1e3


def line(name: str, ours: tuple[float, float], peer: str, theirs: tuple[float, float]) -> None:
    print(
        f"{name:24} {ours[0]:9.2f} ms ({ours[1]:9.2f})  {peer:24} {theirs[0]:9.2f} ms ({theirs[1]:9.2f})  "
        f"{theirs[0] / ours[0]:6.2f}x ({theirs[1] / ours[1]:5.2f}x)",
        flush=True,
    )


def on_processor(count: int, threads: int | None) -> None:
    backend: Backend = CpuBackend(threads=threads)
    data = np.random.default_rng(1).integers(0, 1 << 32, count, dtype=np.uint32)
    out, other = np.empty_like(data), np.empty_like(data)
    heads = (data & 63 == 0).astype(np.uint32)
    assert (engines.scan(data, backend=backend) == np.cumsum(data, dtype=np.uint32)).all()
    assert (engines.sort(data, backend=backend) == np.sort(data)).all()
    peer = best(lambda: np.cumsum(data, dtype=np.uint32, out=out))
    line("scan, out=", best(lambda: engines.scan(data, out=out, backend=backend)), "numpy.cumsum, out=", peer)
    peer = best(lambda: np.cumsum(data, dtype=np.uint32))
    line("scan", best(lambda: engines.scan(data, backend=backend)), "numpy.cumsum", peer)
    line(
        "segmented scan", best(lambda: engines.scan(data, heads=heads, backend=backend)), "numpy.cumsum", peer
    )
    sort = compiled_sort()

    def in_c() -> None:
        out[:] = data
        sort(out, other)

    in_c()
    assert (out == np.sort(data)).all()
    peer = best(in_c)
    line("sort, out=", best(lambda: engines.sort(data, out=other, backend=backend)), "C, 8 bits a pass", peer)
    line("sort", best(lambda: engines.sort(data, backend=backend)), "C, 8 bits a pass", peer)
    line("argsort", best(lambda: engines.argsort(data, backend=backend), 3), "C, keys alone", peer)
    keep = (data & 1).astype(bool)
    peer = best(lambda: data[keep])
    line("compact", best(lambda: engines.compact(data, heads, backend=backend)), "numpy, half kept", peer)
    bytes_ = data.view(np.uint8)
    peer = best(lambda: np.bincount(bytes_, minlength=256), 2)
    line(
        "histogram of bytes",
        best(lambda: engines.histogram(bytes_, backend=backend), 3),
        "numpy.bincount",
        peer,
    )


def on_gpu(count: int) -> None:
    cp: Any = import_module("cupy")

    def timed(call: Callable[[], object]) -> tuple[float, float]:
        def waited() -> None:
            call()
            cp.cuda.Device().synchronize()

        return best(waited, 5)

    data: Any = cp.random.randint(0, 1 << 32, count, dtype=cp.uint32)
    out: Any = cp.empty_like(data)
    held = vyre.to_device(data, backend="cuda", copy=False)
    room = vyre.to_device(out, backend="cuda", copy=False)
    sums, sorted_keys = cp.cumsum(data, dtype=cp.uint32), cp.sort(data)
    engines.scan(held, out=room, backend="cuda")
    print("scan is CuPy's:", bool((out == sums).all()))
    engines.sort(held, out=room, backend="cuda")
    print("sort is CuPy's:", bool((out == sorted_keys).all()))
    del sums, sorted_keys
    copied = timed(lambda: cp.copyto(out, data))
    bound = copied[0] / 2, copied[1] / 2
    line("reduce", timed(lambda: engines.reduce(held, backend="cuda")), "half a copy", bound)
    raw = vyre.to_device(data.view(cp.uint8), backend="cuda", copy=False)
    line("histogram of bytes", timed(lambda: engines.histogram(raw, backend="cuda")), "half a copy", bound)
    flags = vyre.to_device(data & 1, backend="cuda", copy=False)
    moved = copied[0] * 1.25, copied[1] * 1.25
    kept = timed(lambda: engines.compact(held, flags, backend="cuda"))
    line("compact, half kept", kept, "1.25 copies", moved)
    peer = timed(lambda: cp.cumsum(data, dtype=cp.uint32, out=out))
    line("scan", timed(lambda: engines.scan(held, out=room, backend="cuda")), "cupy.cumsum", peer)
    peer = timed(lambda: cp.sort(data))
    line("sort", timed(lambda: engines.sort(held, out=room, backend="cuda")), "cupy.sort", peer)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--length", type=int, default=0)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    if given.backend == "cuda":
        on_gpu(given.length or 1 << 28)
    else:
        on_processor(given.length or 1 << 24, given.threads)


if __name__ == "__main__":
    main()
