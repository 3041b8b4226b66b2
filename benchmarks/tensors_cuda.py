"""Products of matrices, softmax, layer norm and attention on an NVIDIA GPU beside torch, in one run.

    python benchmarks/tensors_cuda.py [--only matmul,softmax,…] [--sizes 4096,1000,…]

Everything is F32 (torch with TF32 off) but for `halves`, products of F16 and BF16, which torch leaves to
tensor cores. Inputs are torch arrays on the device. Before anything is timed the
bits are compared with those of the plan that runs on every backend, whose products take one tile at a time
and whose reductions store every step. `call` is the public call, `kernels` the launches of its plan alone;
both are wall time of batches that end in a synchronisation, the best of several, and given as how many times
as fast as torch they are.
"""

from __future__ import annotations

import argparse
import functools
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

import vyre.tensor as vt
from vyre import nn
from vyre.backends import get
from vyre.planning import plan_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Call = Callable[[], Any]

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")
paths: Any = import_module("torch.nn.attention")
SIZES = (4096, 8192, 1000, 1024, 1536, 2000, 2048, 3000, 1001, 2049, 2999)
ROWS, LENGTH = 1 << 13, 1 << 12
HEADS = (4, 16, 1024, 64)
ELEMENTS = {"torch.float32": np.float32, "torch.float16": np.float16, "torch.bfloat16": ml_dtypes.bfloat16}
PEAK_BYTES = 4.8e12
"""Bytes a second of the H200's memory, by its data sheet."""


@vt.function
def matmul(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return vt.matmul(a, b)


@vt.function
def softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.softmax(x)


@vt.function
def layer_norm(x: vt.Tensor, weight: vt.Tensor, bias: vt.Tensor) -> vt.Tensor:
    return nn.layer_norm(x, weight, bias)


@vt.function
def attention(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor) -> vt.Tensor:
    return nn.attention(q, k, v)


def best(call: Call, *, rounds: int = 5, seconds: float = 0.1) -> float:
    """Seconds of one call."""
    call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    batch = max(1, min(100, int(seconds / rounds / (time.perf_counter() - start))))
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / batch)
    return min(times)


def launches(function: Any, arrays: Sequence[Any], *, everywhere: bool) -> tuple[Call, Call]:
    """What launches the kernels of a plan, and what gives its result; the plan of every backend, or ours."""
    backend = get("cuda")
    shapes = [np.broadcast_to(ELEMENTS[str(array.dtype)](0), tuple(array.shape)) for array in arrays]
    plan = plan_graph(function.graph(*shapes))
    bound = plan.bind({}, frozenset() if everywhere else plan.hardware(backend))
    session = plan.session(bound, backend, on_device=True)
    inputs = {name: (of, array) for (name, of), array in zip(plan.graph.inputs.items(), arrays, strict=True)}
    return lambda: session.run(inputs), lambda: session.take(f"out_{plan.graph.outputs[0]}").copy()


def require_same_bits(function: Any, arrays: Sequence[Any], mine: Call, result: Call) -> None:
    slow, wanted = launches(function, arrays, everywhere=True)
    slow()
    mine()
    if result().tobytes() != wanted().tobytes():
        raise SystemExit(f"{function.__name__}: other bits than those of the plan of every backend")


def row(name: str, function: Any, arrays: Sequence[Any], peers: dict[str, Call], note: str) -> float:
    """One line of the table; gives the seconds of the kernels."""
    mine, result = launches(function, arrays, everywhere=False)
    require_same_bits(function, arrays, mine, result)
    kernels, call = best(mine), best(lambda: function(*arrays, backend="cuda"))
    parts = [f"{name:18} ours {kernels * 1e6:9.1f} us"]
    for peer, made in peers.items():
        taken = best(made)
        parts.append(f"{peer} {taken * 1e6:9.1f} us: kernels {taken / kernels:.2f}x call {taken / call:.2f}x")
    print("  ".join(parts), note, flush=True)
    return kernels


def matmul_row(size: int) -> None:
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    kernels, result = launches(matmul, (a, b), everywhere=False)
    kernels()
    same = result().tobytes() == (a @ b).cpu().numpy().tobytes()
    taken = row(f"matmul {size}", matmul, (a, b), {"cuBLAS": lambda: a @ b}, f"bits of cuBLAS: {same}")
    print(f"{'':18} {2e-12 * size**3 / taken:.1f} TFLOP/s")


def halves_row(size: int) -> None:
    for element in (torch.float16, torch.bfloat16):
        a, b = (torch.randn(size, size, device="cuda").to(element) for _ in range(2))
        taken = row(f"{element} {size}"[6:], matmul, (a, b), {"torch": functools.partial(torch.mm, a, b)}, "")
        print(f"{'':18} {2e-12 * size**3 / taken:.1f} TFLOP/s")


def row_kernels(name: str) -> None:
    x = torch.randn(ROWS, LENGTH, device="cuda")
    weight, bias = (torch.randn(LENGTH, device="cuda") for _ in range(2))
    if name == "softmax":
        taken = row(name, softmax, (x,), {"torch": lambda: torch.softmax(x, -1)}, "")
    else:
        peer = {"torch": lambda: functional.layer_norm(x, (LENGTH,), weight, bias)}
        taken = row(name, layer_norm, (x, weight, bias), peer, "")
    print(f"{'':18} {8 * x.numel() / taken / PEAK_BYTES:.2f} of the memory's peak")


def attention_row() -> None:
    q, k, v = (torch.randn(HEADS, device="cuda") for _ in range(3))

    def peer(kind: Any) -> Call:
        def call() -> Any:
            with paths.sdpa_kernel(kind):
                return functional.scaled_dot_product_attention(q, k, v)

        return call

    kinds = paths.SDPBackend
    peers = {"math": peer(kinds.MATH), "memory-efficient": peer(kinds.EFFICIENT_ATTENTION)}
    row("attention", attention, (q, k, v), peers, "")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="matmul,softmax,layer_norm,attention,halves")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    chosen = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    for name in chosen.only.split(","):
        if name == "matmul":
            for size in map(int, chosen.sizes.split(",")):
                matmul_row(size)
        elif name == "halves":
            halves_row(int(chosen.sizes.split(",")[0]))
        elif name == "attention":
            attention_row()
        else:
            row_kernels(name)


if __name__ == "__main__":
    main()
