"""Times strict F32 on the cpu backend against NumPy.

    python benchmarks/cpu_floats.py [--log2 24] [--repeat 15] [--threads 1]

Elementwise FAdd, FMul, FMulAdd, FDiv and FSqrt, natively, and FExp. All work on buffers that exist already,
alternating within one run; results are compared first, bit for bit (NumPy has no fused multiply-add and no
correctly rounded exp: these two peers are only timed). A ratio above 1 means that vyre is faster; it is the
median over the rounds of (NumPy's time / our time). `--threads 1` compares core with core.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.cpu.backend import CpuBackend
from vyre.ir import (
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    Expr,
    FMulAdd,
    If,
    InvocationId,
    Let,
    Program,
    Store,
    UnaryOp,
    UnOp,
    Var,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

F32 = DataType.F32
WIDTH = 256
A, B, C = (BufferDecl.read(name, place, F32) for place, name in enumerate("abc"))
OUT = BufferDecl.read_write("out", 3, F32)
I = Var("i")  # noqa: E741 - short, because it stands in every line


def elementwise(value: Expr) -> Program:
    body = If(OUT.length > I, (Store("out", I, value),))
    return Program([A, B, C, OUT], (WIDTH,), [Let("i", InvocationId(0)), body])


def fused(a: Floats, b: Floats, c: Floats, out: Floats) -> Any:
    return np.add(np.multiply(a, b, out=out), c, out=out)


KERNELS: dict[str, tuple[Expr, Callable[[Floats, Floats, Floats, Floats], Any]]] = {
    "FAdd": (BinOp(BinaryOp.FAdd, A[I], B[I]), lambda a, b, _, out: np.add(a, b, out=out)),
    "FMul": (BinOp(BinaryOp.FMul, A[I], B[I]), lambda a, b, _, out: np.multiply(a, b, out=out)),
    "FMulAdd": (FMulAdd(A[I], B[I], C[I]), fused),
    "FDiv": (BinOp(BinaryOp.FDiv, A[I], B[I]), lambda a, b, _, out: np.divide(a, b, out=out)),
    "FSqrt": (UnOp(UnaryOp.FSqrt, A[I]), lambda a, _, __, out: np.sqrt(a, out=out)),
    "FExp": (UnOp(UnaryOp.FExp, A[I]), lambda a, _, __, out: np.exp(a, out=out)),
}


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    backend = CpuBackend(threads=options.threads)
    print(f"{backend.describe().device}; 2^{options.log2} elements, uniform in [0.5, 1.5)")
    count: int = 1 << options.log2
    rng = np.random.default_rng(1)
    a, b, c = (rng.random(count, dtype=np.float32) + np.float32(0.5) for _ in range(3))
    ours, theirs = np.zeros_like(a), np.zeros_like(a)
    views = {name: x.data.cast("B") for name, x in (("a", a), ("b", b), ("c", c), ("out", ours))}
    for name, (value, peer) in KERNELS.items():
        executable = backend.compile(elementwise(value))
        executable.run(views, (count // WIDTH, 1, 1))
        peer(a, b, c, theirs)
        if name not in ("FMulAdd", "FExp"):
            assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32)), name
        rounds = [
            (
                timed(lambda run=executable.run: run(views, (count // WIDTH, 1, 1))),
                timed(lambda peer=peer: peer(a, b, c, theirs)),
            )
            for _ in range(options.repeat)
        ]
        ratio = statistics.median(peer_time / own for own, peer_time in rounds)
        own, peer_time = (min(times) * 1e3 for times in zip(*rounds, strict=True))
        print(f"{name:<8} {executable.lowering:<7} {own:7.2f} ms   NumPy {peer_time:7.2f} ms   {ratio:.2f}x")


if __name__ == "__main__":
    main()
