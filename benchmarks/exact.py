"""Exact products of F32 (`accumulator="exact"`) beside products that round at every step.

    python benchmarks/exact.py [--backend cpu] [--sizes 1024,2048] [--kinds normal,…] [--before] [--parts]

On `cuda` the peer is cuBLAS fp32 through torch (TF32 off), times are those of the device, the best of many
public calls between two events. On `cpu` the peer is NumPy and times are by the clock. Kinds of inputs:

normal    normally distributed
spread    the same, magnitudes spread over 2^40
cancel    normally distributed, every sum is 0
both      spread over 2^40, and every sum is 0
nearly    as `cancel`, but for one number in every row
far       spread over 2^120, and every sum is 0: only numbers that keep every bit tell

Some elements of every result are compared with exact rational numbers. `--before` times the same without the
sums of doubles that come first; `--parts` times each kernel by itself.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import vyre.tensor as vt
from vyre.backends import get
from vyre.planning import certain

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

KINDS = ("normal", "spread", "cancel", "both", "nearly", "far")
SAMPLES = 48
PAUSE = 300_000
"""Cycles for which the device is kept busy while the host makes its launches."""
UNIT = 298
"""Every product of two F32 is a multiple of 2^-298."""


def inputs(kind: str, size: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    rng = np.random.default_rng(size)
    reach = {"spread": 20, "both": 20, "far": 60}.get(kind, 0)

    def made(*shape: int) -> NDArray[np.float32]:
        powers = 2.0 ** rng.integers(-reach, reach + 1, shape)
        return (rng.standard_normal(shape, np.float32) * powers).astype(np.float32)

    if kind in ("normal", "spread"):
        return made(size, size), made(size, size)
    half, other = made(size, size // 2), made(size // 2, size)
    a, b = np.concatenate([half, -half], axis=1), np.concatenate([other, other])
    if kind == "nearly":
        a[:, 3] = np.nextafter(a[:, 3], np.float32(9))
    return a, b


def nearest(total: int) -> np.float32:
    """So many times 2^-298, rounded to F32; ties to even. Sums here are far from overflow."""
    guess = np.float32(float(total) * 2.0**-UNIT) if abs(total) < 1 << 900 else np.float32(0)
    around: list[Any] = [np.nextafter(guess, np.float32(end)) for end in ("-inf", "inf")]

    def key(x: Any) -> tuple[int, int]:
        top, bottom = float(x).as_integer_ratio()
        return abs(top * (1 << UNIT) // bottom - total), int(x.view(np.uint32)) & 1

    found = min((guess, *around), key=key)
    return np.float32(np.copysign(found, -1 if total < 0 else 1)) if total else np.float32(0)


def wrong_samples(a: NDArray[Any], b: NDArray[Any], y: NDArray[Any]) -> int:
    rng, wrong = np.random.default_rng(1), 0
    for _ in range(SAMPLES):
        i, j = int(rng.integers(len(y))), int(rng.integers(len(y)))
        products = a[i].astype(np.float64) * b[:, j].astype(np.float64)
        total = 0
        for x in products.tolist():
            top, bottom = float(x).as_integer_ratio()
            total += top * (1 << UNIT) // bottom
        wrong += nearest(total).view(np.uint32) != y[i, j].view(np.uint32)
    return wrong


class Cuda:
    """Calls on torch arrays of the device, timed there."""

    peer = "cuBLAS fp32"

    def __init__(self) -> None:
        self.torch: Any = import_module("torch")
        self.torch.backends.cuda.matmul.allow_tf32 = False

    def placed(self, array: NDArray[Any]) -> Any:
        return self.torch.from_numpy(array).cuda()

    def back(self, array: Any) -> NDArray[Any]:
        return array.cpu().numpy()

    def seconds(self, call: Callable[[], Any], least: float = 0.3) -> float:
        torch = self.torch
        call()
        torch.cuda.synchronize()
        best, end = float("inf"), time.monotonic() + least
        while time.monotonic() < end:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(PAUSE)
            start.record()
            call()
            stop.record()
            torch.cuda.synchronize()
            best = min(best, start.elapsed_time(stop) / 1e3)
        return best


class Cpu:
    peer = "NumPy"

    def placed(self, array: NDArray[Any]) -> NDArray[Any]:
        return array

    def back(self, array: NDArray[Any]) -> NDArray[Any]:
        return array

    def seconds(self, call: Callable[[], Any], least: float = 0.5) -> float:
        best, end = float("inf"), time.monotonic() + least
        while True:
            start = time.perf_counter()
            call()
            best = min(best, time.perf_counter() - start)
            if time.monotonic() > end:
                return best


def exact_product() -> Any:
    @vt.function
    def product(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
        return vt.matmul(a, b, accumulator="exact")

    return product


def parts(bench: Cuda | Cpu, name: str, a: Any, b: Any) -> None:
    """Each kernel of the plan by itself, on what those before it left."""
    backend = get(name)
    plan = exact_product().plan(a, b)
    session = plan.session(plan.bind({}, plan.hardware(backend)), backend, on_device=name != "cpu")
    session.run({n: (of, x) for (n, of), x in zip(plan.graph.inputs.items(), (a, b), strict=True)})
    labels = [
        kernel.variant({}, session.bound.hardware).label for kernel in plan.chosen(session.bound.hardware)
    ]
    for label, step in zip(labels, session._steps, strict=True):
        took = bench.seconds(step.bound(session._memory), 0.1)
        print(f"    {took * 1e3:9.3f} ms  {label}", flush=True)


def compared(bench: Cuda | Cpu, name: str, kind: str, size: int, asked: argparse.Namespace) -> None:
    host = inputs(kind, size)
    a, b = map(bench.placed, host)
    product = exact_product()
    found = bench.back(product(a, b, backend=name))
    wrong = wrong_samples(*host, found)
    peer = bench.seconds(lambda: a @ b)
    took = bench.seconds(lambda: product(a, b, backend=name))
    text = f"{kind:7} {size:5}: {took * 1e3:9.3f} ms, {bench.peer} {peer * 1e3:8.3f}, {peer / took:.3f}x, "
    text += f"{wrong} of {SAMPLES} samples wrong"
    if asked.before:
        kept, certain.LEAST = certain.LEAST, 1 << 62
        whole = exact_product()
        same = bench.back(whole(a, b, backend=name)).tobytes() == found.tobytes()
        before = bench.seconds(lambda: whole(a, b, backend=name))
        certain.LEAST = kept
        text += f"; before {before * 1e3:.3f} ms, {before / took:.1f}x, {'equal' if same else 'DIFFERENT'}"
    print(text, flush=True)
    if asked.parts:
        parts(bench, name, a, b)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--backend", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--sizes", default="1024,2048,4096")
    parser.add_argument("--kinds", default=",".join(KINDS[:-1]))
    parser.add_argument("--before", action="store_true")
    parser.add_argument("--parts", action="store_true")
    asked = parser.parse_args()
    info = get(asked.backend).describe()
    print(info.device, info.toolchain)
    bench = Cuda() if asked.backend == "cuda" else Cpu()
    for size in map(int, asked.sizes.split(",")):
        for kind in asked.kinds.split(","):
            compared(bench, asked.backend, kind, size, asked)


if __name__ == "__main__":
    main()
