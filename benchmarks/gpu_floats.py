"""Strict floats on a GPU, on buffers that stay there, against peers in the same run.

    python benchmarks/gpu_floats.py cuda [--log2 28] [--only asin,acos,atan,pow,atan2]

Arithmetic against a kernel that only moves, functions against torch. WebGPU has `webgpu_floats.py`.

Times are slopes between a long and a short chain of launches that is waited for once (`resident.py`). Inputs:
`a` and `b` are normally distributed; log, log2, log10, sqrt and the base of pow get |a|, asin and acos a
number from -1 to 1. A ratio above 1 means that ours is faster.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from resident import opened, ours, slope

from vyre.engines import elementwise, workgroups
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType

F32, U32 = DataType.F32, DataType.U32
UNARY = ("exp", "log", "exp2", "log2", "cos", "sin", "tan", "asin", "acos", "atan", "exp10", "log10")
BINARY = {"pow": BinaryOp.FPow, "atan2": BinaryOp.FATan2}
BARS = {
    **dict.fromkeys(("exp", "log", "exp2", "log2", "cos"), 0.9),
    "sin": 0.85,
    **dict.fromkeys(("tan", "asin", "acos", "atan", "pow", "atan2"), 0.8),
}

Value = Callable[..., Expr]


def unary(name: str) -> Value:
    op = next(o for o in UnaryOp if o.value.lower() == f"f{name}")
    return partial(UnOp, op)


def binary(op: BinaryOp) -> Value:
    return partial(BinOp, op)


def _fused(a: Expr, b: Expr) -> Expr:
    return FMulAdd(a, b, a)


ARITHMETIC: dict[str, Value] = {
    "FAdd": binary(BinaryOp.FAdd),
    "FMul": binary(BinaryOp.FMul),
    "FMulAdd": _fused,
    "FDiv": binary(BinaryOp.FDiv),
    "FSqrt": unary("sqrt"),
}


def timed(value: Value, backend: Any, arrays: dict[str, Any], count: int) -> float:
    """Microseconds of a launch, four elements an invocation."""
    program = elementwise(value, *[F32] * (len(arrays) - 1), output=F32)
    return ours(program, backend, arrays, count, workgroups(count))


def arithmetic(backend: Any, arrays: dict[str, Any], count: int) -> None:
    """The peer moves as many bytes: by a kernel of ours, and by torch, where it is."""
    torch = _torch()
    for name, value in ARITHMETIC.items():
        two = name != "FSqrt"
        given = arrays if two else {"a": np.abs(arrays["a"]), "out": arrays["out"]}
        took = timed(value, backend, given, count)
        moved = timed(_moved2 if two else _moved1, backend, given, count)
        line = f"{name:8} {took:9.1f} µs   copy-bound {moved:9.1f} µs   {moved / took:.2f}"
        if torch is not None:
            theirs = _moved_by_torch(torch, arrays, two=two)
            line += f"   torch's {theirs:9.1f} µs   {theirs / took:.2f}"
        print(line, flush=True)


def _moved_by_torch(torch: Any, arrays: dict[str, Any], *, two: bool) -> float:
    x, y = (torch.from_numpy(arrays[k]).cuda().view(torch.int32) for k in "ab")
    out = torch.empty_like(x)
    work = (lambda: torch.bitwise_xor(x, y, out=out)) if two else (lambda: out.copy_(x))
    return slope(work, torch.cuda.synchronize)


def _moved1(a: Expr) -> Expr:
    return Cast(F32, Cast(U32, a))


def _moved2(a: Expr, b: Expr) -> Expr:
    return Cast(F32, Cast(U32, a) ^ Cast(U32, b))


def functions(backend: Any, arrays: dict[str, Any], count: int, names: list[str]) -> None:
    torch = _torch()
    if torch is None:
        raise SystemExit("torch is the peer of the functions.")
    a, b = arrays["a"], arrays["b"]
    special: dict[str, Any] = dict.fromkeys(("log", "log2", "log10"), np.abs(a))
    special |= dict.fromkeys(("asin", "acos"), np.clip(a / 4, -1, 1).astype(np.float32))
    out = torch.empty(count, dtype=torch.float32, device="cuda")
    for name in [x for x in UNARY if x in names]:
        x = special.get(name, a)
        took = timed(unary(name), backend, {"a": x, "out": arrays["out"]}, count)
        if not hasattr(torch, name):
            print(f"{name:8} {took:9.1f} µs", flush=True)
            continue
        held = torch.from_numpy(x).cuda()
        peer = getattr(torch, name)
        theirs = slope(lambda f=peer, x=held: f(x, out=out), torch.cuda.synchronize)
        show(name, took, "torch", theirs)
        del held
    for name in [x for x in BINARY if x in names]:
        x = np.abs(a) if name == "pow" else a
        took = timed(binary(BINARY[name]), backend, {"a": x, "b": b, "out": arrays["out"]}, count)
        first, second = torch.from_numpy(x).cuda(), torch.from_numpy(b).cuda()
        peer = getattr(torch, name)
        theirs = slope(lambda f=peer, x=first, y=second: f(x, y, out=out), torch.cuda.synchronize)
        show(name, took, "torch", theirs)


def _torch() -> Any:
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def show(name: str, took: float, peer: str, theirs: float) -> None:
    bar = BARS.get(name, 0.5)
    print(f"{name:8} {took:9.1f} µs   {peer} {theirs:9.1f} µs   {theirs / took:.2f} (bar {bar})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backend")
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--only", default="", help="these functions alone, separated by commas")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else [*UNARY, *BINARY]
    if unknown := set(names) - {*UNARY, *BINARY}:
        raise SystemExit(f"--only names functions that are not timed: {', '.join(sorted(unknown))}.")
    count: int = 1 << options.log2
    backend = opened(options.backend)
    print(f"{backend.name} | {backend.describe().device} | {backend.describe().driver} | {count} elements")
    rng = np.random.default_rng(1)
    arrays = {name: rng.standard_normal(count, dtype=np.float32) for name in "ab"}
    arrays["out"] = np.zeros(count, np.float32)
    if not options.only:
        arithmetic(backend, arrays, count)
    functions(backend, arrays, count, names)


if __name__ == "__main__":
    main()
