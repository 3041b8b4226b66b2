"""Strict F32 through WebGPU against the shading language's own operators, which promise nothing.

    python benchmarks/webgpu_floats.py wgpu [--log2 26] [--matmul 1024]
    python benchmarks/webgpu_floats.py dawn --log2 20 --matmul 128

Each row is one program three times on the same buffers: `soft` on integers, `ours` as the device was admitted
(guarded or soft, by operation), and `native`, where `+`, `*`, `fma` and `exp` of WGSL stand in the very same
kernel with no guard and no barrier. Native results may be wrong; the last column says in how many elements.

`chain` is 64 dependent sums and products an element: arithmetic alone, where `add` and `mul` are memory.
`matmul` is a chain of FMulAdd, `matmul * +` one of products and sums.
Times are slopes between a long and a short chain of launches (`resident.py`). A ratio of 1 is native speed.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from resident import opened, slope

from vyre.backends.webgpu.backend import WebGpuExecutable
from vyre.engines import elementwise, workgroups
from vyre.ir import Assign, BufferDecl, DataType, InvocationId, Let, Literal, LitU32, Load, Loop, Program, Var
from vyre.ir.expr import BinOp, Expr, FMulAdd, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.lower.native import F32_KEYS
from vyre.lower.prepare import prepare
from vyre.lower.ways import SOFT, Ways
from vyre.lower.wgsl import emit

if TYPE_CHECKING:
    from collections.abc import Callable

F32 = DataType.F32
CHAIN = 32


def add(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, a, b)


def mul(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FMul, a, b)


def fused(a: Expr, b: Expr) -> Expr:
    return FMulAdd(a, b, a)


def exp(a: Expr) -> Expr:
    return UnOp(UnaryOp.FExp, a)


def chain() -> Program:
    """`x = x * b + a`, rounded twice, many times; it neither grows nor vanishes for |b| below 1."""
    a, b, out = (
        BufferDecl.read("a", 0, F32),
        BufferDecl.read("b", 1, F32),
        BufferDecl.read_write("out", 2, F32),
    )
    i, x = InvocationId(0), Var("x")
    step = Assign("x", add(mul(x, Load("b", i)), Load("a", i)))
    body = [Let("x", Load("a", i)), Loop("k", LitU32(0), LitU32(CHAIN), [step]), out.store(i, x)]
    return Program([a, b, out], (256,), body)


def product(size: int, *, fused: bool) -> Program:
    """One invocation an element of the product of two square matrices: k ascending, rounded once or twice."""
    a, b, out = (
        BufferDecl.read("a", 0, F32),
        BufferDecl.read("b", 1, F32),
        BufferDecl.read_write("out", 2, F32),
    )
    column, row, k, total = InvocationId(0), InvocationId(1), Var("k"), Var("total")
    x, y = Load("a", row * size + k), Load("b", k * size + column)
    step = FMulAdd(x, y, total) if fused else add(total, mul(x, y))
    body = [
        Let("total", Literal(F32, 0)),
        Loop("k", LitU32(0), LitU32(size), [Assign("total", step)]),
        out.store(row * size + column, total),
    ]
    return Program([a, b, out], (16, 16), body)


def unlawful(backend: Any, program: Program) -> Any:
    """The kernel with the operators of WGSL, NaNs as they come."""
    source = emit(prepare(program, ways=Ways(F32_KEYS)), backend=backend.name)
    text = with_body(source.text, "soft_f32_canon", "return v_a;")
    text = with_body(text, "soft_f32_exp", "return bitcast<u32>(exp(bitcast<f32>(v_a)));")
    return WebGpuExecutable(backend, replace(source, text=text))


def with_body(text: str, name: str, body: str) -> str:
    """The source with another body in one of its functions, where it has it."""
    return re.sub(
        rf"(^fn {name}\([^)]*\) -> u32 \{{\n).*?(^\}})", rf"\1  {body}\n\2", text, flags=re.M | re.S
    )


class Row:
    """One program on its own buffers."""

    def __init__(self, backend: Any, program: Program, arrays: list[Any], grid: tuple[int, int, int]) -> None:
        self._backend, self._program, self._grid = backend, program, grid
        self._out = np.zeros_like(arrays[0])
        self._memories = [backend.borrow(memoryview(x).cast("B")) for x in (*arrays, self._out)]

    def show(self, name: str) -> None:
        backend, program = self._backend, self._program
        made = (backend.compile(program, ways=SOFT), backend.compile(program), unlawful(backend, program))
        results = [self._run(executable) for executable in made]
        (soft, _), (ours, bits), (native, theirs) = results
        if not np.array_equal(results[0][1], bits):
            raise SystemExit(f"{name}: our two ways differ.")
        wrong = int(np.count_nonzero(bits != theirs))
        print(
            f"{name:10} soft {soft:11.1f} µs   ours {ours:11.1f} µs   native {native:11.1f} µs   "
            f"ours/native {native / ours:.3f}   soft/native {native / soft:.3f}   "
            f"[{made[1].lowering}]   native wrong in {wrong} of {len(bits)}",
            flush=True,
        )

    def _run(self, executable: Any) -> tuple[float, Any]:
        launch = executable.bind(self._memories, self._grid)
        launch()
        self._memories[-1].read(memoryview(self._out).cast("B"))
        bits = self._out.view(np.uint32).copy()
        return slope(launch, self._backend.device.finish), bits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("backend")
    parser.add_argument("--log2", type=int, default=26)
    parser.add_argument("--matmul", type=int, default=1024, help="a multiple of 16")
    options = parser.parse_args()
    count: int = 1 << options.log2
    size: int = options.matmul
    backend = opened(options.backend)
    info = backend.describe()
    print(f"{backend.name} | {info.device} | {info.driver} | {info.toolchain} | {count} elements, {size}^3")
    print(f"guarded here: {', '.join(sorted(backend.ways.guarded)) or 'nothing'}")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(count, dtype=np.float32) for _ in range(2))
    grid = (workgroups(count), 1, 1)
    two: list[tuple[str, Callable[..., Expr]]] = [("add", add), ("mul", mul), ("fma", fused)]
    for name, value in two:
        Row(backend, elementwise(value, F32, F32, output=F32), [a, b], grid).show(name)
    Row(backend, chain(), [a, np.tanh(b)], (count // 256, 1, 1)).show("chain")
    Row(backend, elementwise(exp, F32, output=F32), [a], grid).show("exp")
    square = [rng.standard_normal(size * size, dtype=np.float32) for _ in range(2)]
    for name, once in (("matmul", True), ("matmul * +", False)):
        Row(backend, product(size, fused=once), square, (size // 16, size // 16, 1)).show(name)


if __name__ == "__main__":
    main()
