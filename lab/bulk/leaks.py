"""Compiles many different programs in one process and watches its memory.

    python -m lab.bulk.leaks --backend cpu --count 100000
    python -m lab.bulk.leaks --backend nvrtc --count 5000

Prints the memory of the process, and of processes it started, at every twentieth of the run, and fails when
the second half grew by more than `--bound` bytes a compile. The first half fills what is bounded: kept
kernels, pools, the allocator's own reserves. `nvrtc` compiles CUDA C without a GPU. No kernel comes from
the disk.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["VYRE_CACHE"] = "off"

from vyre.backends import get
from vyre.ir import (
    Barrier,
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    InvocationId,
    LitU32,
    Load,
    LocalId,
    Program,
    Store,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = 20
U32, F32 = DataType.U32, DataType.F32
ID = InvocationId(0)


def program(number: int) -> Program:
    """Each number has its own meaning: mostly integers, and some floats and memory of a workgroup."""
    data = BufferDecl.read_write("data", 0, U32)
    constant = LitU32(number)
    match number % 10:
        case 1:
            floats = BufferDecl.read_write("floats", 1, F32)
            double = BinOp(BinaryOp.FAdd, Load("floats", ID), Load("floats", ID))
            return Program([data, floats], (64,), [Store("floats", ID, double), Store("data", ID, constant)])
        case 2:
            part = BufferDecl.workgroup("part", U32, 16)
            local = LocalId(0)
            body = [Store("part", local, constant), Barrier(), Store("data", ID, Load("part", local ^ 1))]
            return Program([data, part], (16,), body)
        case _:
            return Program([data], (64,), [Store("data", ID, Load("data", ID) ^ constant)])


def compiler(name: str) -> Callable[[Program], object]:
    if name != "nvrtc":
        return get(name).compile
    from vyre.backends.cuda.backend import compile_source
    from vyre.lower.cuda import emit
    from vyre.lower.prepare import prepare

    return lambda p: compile_source(emit(prepare(p)), "compute_90")


def resident_kib(process: object = "self") -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), 0)


def children_kib() -> int:
    started = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return sum(resident_kib(child) for child in started)


class _MallocUse(ctypes.Structure):
    """`struct mallinfo2` of glibc: bytes of mapped blocks are its fifth field, bytes in use its eighth."""

    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(1, 11)]


def malloc_bytes() -> int:
    """Bytes that C and C++ have in use: what LLVM and the drivers lose shows here to the byte."""
    ask: Any = ctypes.CDLL(None).mallinfo2
    ask.restype = _MallocUse
    found = ask()
    return found.field5 + found.field8


def watch(compile_one: Callable[[Program], object], count: int) -> float:
    """Runs and prints; gives the bytes a compile grew by over the second half."""
    started = time.perf_counter()
    half: tuple[int, int] | None = None
    print("compiles      RSS KiB   children KiB   malloc KiB   Python blocks    seconds")
    for number in range(1, count + 1):
        compile_one(program(number))
        if number % max(1, count // SAMPLES) and number != count:
            continue
        gc.collect()
        used = malloc_bytes()
        print(
            f"{number:8} {resident_kib():12} {children_kib():14} {used >> 10:12} "
            f"{sys.getallocatedblocks():15} {time.perf_counter() - started:10.0f}",
            flush=True,
        )
        if half is None and 2 * number >= count:
            half = number, resident_kib()
    assert half is not None
    return 1024 * (resident_kib() - half[1]) / max(1, count - half[0])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cpu", help="a backend's name, or nvrtc")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--bound", type=float, default=256)
    given = parser.parse_args()
    grown = watch(compiler(given.backend), given.count)
    print(f"{given.backend}: {given.count} compiles, {grown:.0f} bytes a compile over the second half")
    return int(grown > given.bound)


if __name__ == "__main__":
    sys.exit(main())
