"""How much memory a dispatch needs beside its buffers.

    python benchmarks/memory.py [BACKEND] [--log2 24] [--most 64]

Each way of calling runs `out[i] = popcount(a[i] ^ b[i])` in a process of its own, on Linux, and prints the
peak of resident memory during the call above what was there before it, less the buffers that the call must
make: new results, and on a device that keeps copies in this machine's memory (lavapipe) those too. Exits
with 1 if that is more than `--most` MiB. A device with less room than the buffers need must say so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import vyre
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends import compile_program, get
from vyre.errors import DispatchError
from vyre.ir.expr import UnOp
from vyre.ir.operators import UnaryOp

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
B = BufferDecl.read("b", 1, DataType.U32)
OUT = BufferDecl.read_write("out", 2, DataType.U32)
PROGRAM = Program([A, B, OUT], [256], [OUT.store(ID, UnOp(UnaryOp.Popcount, A[ID] ^ B[ID]))])

WAYS = ("new result", "in place", "not supplied", "resident")
COPIES_ON_THE_HOST = ("wgpu", "dawn")
"""Backends whose device memory is this machine's own, where no GPU is there."""

MIB = 1 << 20


def status(field: str) -> int:
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise SystemExit(f"/proc/self/status has no {field}")


def call(compiled: Any, way: str, arrays: dict[str, Any], count: int) -> Any:
    match way:
        case "new result":
            return compiled(arrays, copy=True)
        case "not supplied":
            return compiled({"a": arrays["a"], "b": arrays["b"]}, lengths={"out": count})
        case _:
            return compiled(arrays)


def expected_bytes(backend: str, way: str, count: int) -> int:
    """What the call itself must allocate of this machine's memory."""
    result = 4 * count if way in ("new result", "not supplied") else 0
    copies = 3 * 4 * count if backend in COPIES_ON_THE_HOST and way != "resident" else 0
    return result + copies


def measure(backend: str, way: str, count: int) -> tuple[int, bool]:
    """The overhead in bytes, and whether the results are right."""
    compiled = compile_program(PROGRAM, backend=backend)

    def arrays_of(length: int) -> dict[str, Any]:
        made: dict[str, Any] = {
            "a": np.arange(length, dtype=np.uint32),
            "b": np.full(length, 3, np.uint32),
            "out": np.ones(length, np.uint32),
        }
        if way == "not supplied":
            del made["out"]
        if way == "resident":
            return {name: vyre.to_device(array, backend=backend) for name, array in made.items()}
        return made

    small = min(count, 1 << 16)
    call(compiled, way, arrays_of(small), small)
    arrays = arrays_of(count)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now on
    result = call(compiled, way, arrays, count)["out"]
    overhead = status("VmHWM") - before - expected_bytes(backend, way, count)
    got = result.numpy() if way == "resident" else result
    part = slice(0, 1 << 16)
    expected = np.bitwise_count(np.arange(count, dtype=np.uint32)[part] ^ np.uint32(3))
    return overhead, np.array_equal(got[part], expected) and got.size == count


def child(backend: str, way: str, count: int) -> None:
    try:
        overhead, right = measure(backend, way, count)
    except DispatchError as error:
        print(f"refused: {error}")
    else:
        print(overhead, int(right))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("backend", nargs="?", default="cpu")
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--most", type=float, default=64, help="MiB beside the buffers")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = 1 << options.log2
    if options.way:
        child(options.backend, options.way, count)
        return 0
    print(get(options.backend).describe())
    print(f"2^{options.log2} elements, {3 * 4 * count / MIB:.0f} MiB of buffers")
    failed = 0
    for way in WAYS:
        command = [sys.executable, __file__, options.backend, "--log2", str(options.log2), "--way", way]
        run = subprocess.run(command, capture_output=True, text=True)
        said = run.stdout.strip().splitlines()
        last = said[-1] if said else run.stderr.strip()[-300:]
        if last.startswith("refused: "):
            print(f"{way:14} {last}")
            continue
        figures = last.split()
        if run.returncode or len(figures) != 2:
            print(f"{way:14} failed with {run.returncode}: {last}")
            failed += 1
            continue
        overhead, right = int(figures[0]) / MIB, figures[1] == "1"
        good = overhead <= options.most and right
        print(f"{way:14} {overhead:8.1f} MiB beside the buffers{'' if right else ', WRONG RESULTS'}")
        failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
