"""Times the cpu backend against its peers: `python benchmarks/cpu_integer.py [--log2 24] [--repeat 31]`.

Elementwise `popcount(a ^ b)` and a hash of 20 operations against Numba (parallel, kept in u32) and
NumPy; a workgroup reduction and a histogram against PoCL running hand-written OpenCL C. Results are
compared first. A ratio above 1 means that vyre is faster; it is the median over the rounds of (peer's time /
our time).

Like with like: every contestant reads the same inputs and writes into an output that was allocated and
touched before (NumPy needs temporaries beside it). They take turns within one run, each round begins with
another one, and before each there is a pause, in which the threads of the one before stop spinning. The load
of the machine is printed with the figures; above 1 they mean little.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre.backends.cpu.backend import CpuBackend
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    BufLen,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Program,
    Store,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)

if TYPE_CHECKING:
    from collections.abc import Callable

U32 = DataType.U32
WIDTH = 256
ITEMS = 16
"""Elements that one invocation of the histogram counts."""

PAUSE = 0.03
"""Seconds. OpenMP's threads were seen to spin for 5 ms after their work."""

SEED, C1, C2, C3, C4 = 0x9747B28C, 0xCC9E2D51, 0x1B873593, 0x85EBCA6B, 0xC2B2AE35

_HALVE = "  if (l < {0}) part[l] += part[l + {0}];\n  barrier(CLK_LOCAL_MEM_FENCE);\n"
REDUCE_CL = (
    """
__kernel void reduce(__global const uint *a, __global uint *out, __local uint *part) {
  size_t l = get_local_id(0);
  part[l] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
"""
    + "".join(_HALVE.format(step) for step in (128, 64, 32, 16, 8, 4, 2, 1))
    + "  if (l == 0) out[get_group_id(0)] = part[0];\n}\n"
)
"""Unrolled, which PoCL runs about three times as fast as a loop around the barrier."""

HISTOGRAM_CL = """
__kernel void histogram(__global const uint *a, __global uint *out, __local uint *bins) {
  size_t l = get_local_id(0);
  bins[l] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  size_t base = get_group_id(0) * 4096;
  for (uint k = 0; k < 16; k++) atomic_inc(&bins[a[base + k * 256 + l] >> 24]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&out[l], bins[l]);
}
"""


def hash_steps(x: Any, rotate: Callable[[Any, int], Any]) -> Any:
    """Twenty operations: a Murmur round (a rotation counts three) and its finaliser."""
    x = x ^ SEED
    x = x * C1
    x = rotate(x, 15)
    x = x * C2
    x = rotate(x, 13)
    x = x * 5
    x = x + 0xE6546B64
    x = x ^ (x >> 16)
    x = x * C3
    x = x ^ (x >> 13)
    x = x * C4
    return x ^ (x >> 16)


def popcount_program() -> Program:
    i = Var("i")
    value = UnOp(UnaryOp.Popcount, Load("a", i) ^ Load("b", i))
    return Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32), BufferDecl.read_write("out", 2, U32)],
        (WIDTH,),
        [Let("i", InvocationId(0)), If(i < BufLen("out"), [Store("out", i, value)])],
    )


def hash_program() -> Program:
    i = Var("i")
    value: Expr = hash_steps(Load("a", i), lambda x, by: (x << by) | (x >> (32 - by)))
    return Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.read_write("out", 1, U32)],
        (WIDTH,),
        [Let("i", InvocationId(0)), If(i < BufLen("out"), [Store("out", i, value)])],
    )


def reduce_program() -> Program:
    local = LocalId(0)
    add = Store("part", local, Load("part", local) + Load("part", local + Var("step")))
    return Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read_write("out", 1, U32),
            BufferDecl.workgroup("part", U32, WIDTH),
        ],
        (WIDTH,),
        [
            Store("part", local, Load("a", InvocationId(0))),
            Barrier(),
            Let("step", LitU32(WIDTH // 2)),
            Loop(
                "k",
                LitU32(0),
                LitU32(8),
                [If(local < Var("step"), [add]), Barrier(), Assign("step", Var("step") >> 1)],
            ),
            If(local.eq(0), [Store("out", WorkgroupId(0), Load("part", LitU32(0)))]),
        ],
    )


def histogram_program() -> Program:
    local = LocalId(0)
    at = WorkgroupId(0) * (WIDTH * ITEMS) + Var("k") * WIDTH + local
    return Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read_write("out", 1, U32),
            BufferDecl.workgroup("bins", U32, WIDTH, atomic=True),
        ],
        (WIDTH,),
        [
            Loop(
                "k",
                LitU32(0),
                LitU32(ITEMS),
                [Let("old", Atomic(AtomicOp.Add, "bins", Load("a", at) >> 24, LitU32(1)))],
            ),
            Barrier(),
            Let("sum", Atomic(AtomicOp.Add, "out", local, Load("bins", local))),
        ],
    )


class Ours:
    """A program compiled once, on the memory of the arrays themselves."""

    def __init__(self, program: Program, arrays: dict[str, Any], workgroups: int) -> None:
        backend = CpuBackend()
        started = time.perf_counter()
        self.compiled = vyre.compile_program(program, backend=backend)
        self.compile_ms = 1e3 * (time.perf_counter() - started)
        self.buffers = {
            name: vyre.to_device(array, backend=backend, copy=False) for name, array in arrays.items()
        }
        self.grid = (workgroups, 1, 1)

    def __call__(self) -> None:
        self.compiled(self.buffers, workgroups=self.grid)


def numba_kernels() -> tuple[Callable[..., None], Callable[..., None]]:
    import numba
    from numba.extending import intrinsic

    @intrinsic
    def popcount_intrinsic(_: Any, value: Any) -> Any:
        def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return numba.uint32(numba.uint32), lower

    popcount: Any = popcount_intrinsic
    u = np.uint32

    @numba.njit(parallel=True)
    def popcount_kernel(a: Any, b: Any, out: Any) -> None:
        for i in numba.prange(out.size):
            out[i] = popcount(u(a[i] ^ b[i]))

    @numba.njit(parallel=True)
    def hash_kernel(a: Any, out: Any) -> None:
        for i in numba.prange(out.size):
            x = u(a[i] ^ u(SEED))
            x = u(x * u(C1))
            x = u(u(x << u(15)) | u(x >> u(17)))
            x = u(x * u(C2))
            x = u(u(x << u(13)) | u(x >> u(19)))
            x = u(x * u(5))
            x = u(x + u(0xE6546B64))
            x = u(x ^ u(x >> u(16)))
            x = u(x * u(C3))
            x = u(x ^ u(x >> u(13)))
            x = u(x * u(C4))
            out[i] = u(x ^ u(x >> u(16)))

    return popcount_kernel, hash_kernel


def numpy_hash(a: Any, out: Any) -> None:
    np.copyto(out, hash_steps(a, lambda x, by: (x << np.uint32(by)) | (x >> np.uint32(32 - by))))


class Pocl:
    """A hand-written OpenCL kernel on PoCL, over the host's own memory."""

    def __init__(self, source: str, name: str, arrays: list[Any], workgroups: int) -> None:
        import pyopencl as cl

        devices = [d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices()]
        context = cl.Context(devices[:1])
        self.queue = cl.CommandQueue(context)
        self.kernel = getattr(cl.Program(context, source).build(), name)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        self.arrays = arrays
        self.memory = [cl.Buffer(context, flags, hostbuf=array) for array in arrays]
        self.kernel.set_args(*self.memory, cl.LocalMemory(4 * WIDTH))
        self.grid = workgroups * WIDTH
        self.cl = cl

    def __call__(self) -> None:
        self.cl.enqueue_nd_range_kernel(self.queue, self.kernel, (self.grid,), (WIDTH,))
        self.queue.finish()

    def read(self) -> Any:
        out = np.empty_like(self.arrays[-1])
        self.cl.enqueue_copy(self.queue, out, self.memory[-1])
        return out


def compare(title: str, bar: float, ours: Ours, peers: dict[str, Callable[[], None]], repeat: int) -> None:
    """Lets the contestants take turns and prints medians of time and of the ratio per round."""
    contestants = {"vyre cpu": ours, **peers}
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for work in contestants.values():
        work()
    names = list(contestants)
    for turn in range(repeat):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(PAUSE)
            started = time.perf_counter()
            contestants[name]()
            times[name].append(time.perf_counter() - started)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(f"{title}   (compiled in {ours.compile_ms:.0f} ms; bar {bar:.2f}; load {load})")
    for name, taken in times.items():
        ratio = statistics.median(p / o for p, o in zip(taken, times["vyre cpu"], strict=True))
        against = "" if name == "vyre cpu" else f"   ratio {ratio:5.2f}"
        print(
            f"  {name:9} {1e3 * statistics.median(taken):8.2f} ms  best {1e3 * min(taken):8.2f} ms{against}"
        )


def require_equal(title: str, ours: Any, peer: Any) -> None:
    if not np.array_equal(ours, peer):
        raise SystemExit(f"{title}: the results differ")


def elementwise(count: int, repeat: int) -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(0, 2**32, count, dtype=np.uint32) for _ in range(2))
    out, other = np.zeros(count, np.uint32), np.zeros(count, np.uint32)
    groups = -(-count // WIDTH)
    popcount_kernel, hash_kernel = numba_kernels()

    ours = Ours(popcount_program(), {"a": a, "b": b, "out": out}, groups)
    ours()
    popcount_kernel(a, b, other)
    require_equal("popcount", out, other)
    peers: dict[str, Callable[[], None]] = {
        "numba": lambda: popcount_kernel(a, b, other),
        "numpy": lambda: np.copyto(other, np.bitwise_count(a ^ b)),
    }
    compare(f"popcount(a ^ b), {count} elements", 0.95, ours, peers, repeat)

    ours = Ours(hash_program(), {"a": a, "out": out}, groups)
    ours()
    hash_kernel(a, other)
    require_equal("hash", out, other)
    peers = {"numba": lambda: hash_kernel(a, other), "numpy": lambda: numpy_hash(a, other)}
    compare(f"hash of 20 operations, {count} elements", 0.95, ours, peers, repeat)


def workgroups(count: int, repeat: int) -> None:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2**32, count, dtype=np.uint32)

    groups = count // WIDTH
    out, other = np.zeros(groups, np.uint32), np.zeros(groups, np.uint32)
    ours = Ours(reduce_program(), {"a": a, "out": out}, groups)
    pocl = Pocl(REDUCE_CL, "reduce", [a, other], groups)
    ours()
    pocl()
    require_equal("reduction", out, pocl.read())
    compare(f"workgroup reduction, {count} elements", 0.8, ours, {"pocl": pocl}, repeat)

    groups = count // (WIDTH * ITEMS)
    out, other = np.zeros(WIDTH, np.uint32), np.zeros(WIDTH, np.uint32)
    ours = Ours(histogram_program(), {"a": a, "out": out}, groups)
    pocl = Pocl(HISTOGRAM_CL, "histogram", [a, other], groups)
    ours()
    pocl()
    require_equal("histogram", out, pocl.read())
    compare(f"histogram, {count} elements", 0.8, ours, {"pocl": pocl}, repeat)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--repeat", type=int, default=31)
    parser.add_argument("--elementwise", action="store_true", help="leave out what needs PoCL")
    given = parser.parse_args()
    info = CpuBackend().describe()
    print(f"{info.device}; {info.toolchain}")
    elementwise(1 << given.log2, given.repeat)
    if not given.elementwise:
        workgroups(1 << given.log2, given.repeat)


if __name__ == "__main__":
    main()
