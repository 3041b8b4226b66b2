"""Products of matrices by matrix instructions: their bits, then their speed beside kernels without them and
beside torch.

python benchmarks/matrices.py [--sizes 4096,1024,2048,8192] [--sweep] [--seconds 90]

Bits are compared with the kernel of one invocation an element, on odd shapes and special values, and at the
first size with torch: its product of doubles adds with k ascending too, and its product of bytes is exact.
Times are those of the device: the best of many launches between two events, arrays on the device.
`--sweep` tries other tiles.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from vyre import tensor
from vyre.backends.registry import get
from vyre.planning.kernels import matrices
from vyre.planning.kernels.warp_tile import Cut
from vyre.planning.plan import NOTHING

Kernel = tuple[Callable[[], None], Callable[[], Any], str]
SHAPES = ((13, 1, 12), (64, 64, 64), (65, 17, 130), (100, 333, 77), (200, 1000, 128), (1600, 40, 1540))
CUTS = {
    "FLOATS": ((64, 64, 32, 32, 32), (64, 64, 32, 32, 16), (128, 64, 64, 32, 16), (32, 64, 32, 32, 16)),
    "DOUBLES": ((128, 64, 64, 32, 8), (128, 128, 64, 32, 8), (64, 64, 32, 32, 8)),
    "BYTES": ((128, 128, 64, 64, 64), (256, 128, 64, 64, 64), (128, 256, 64, 64, 64), (128, 128, 64, 32, 64)),
}
PAUSE = 300_000
"""Cycles for which the device is kept busy while the host makes its launches."""
NAMES = {"float32": "FLOATS", "float64": "DOUBLES", "int8": "BYTES"}


def kernel(a: Any, b: Any, *, turned: bool, plain: bool = False) -> Kernel:
    """What launches the product, what takes its result, and which kernel it is; `plain` ones need nothing."""
    backend = get("cuda")

    @tensor.function
    def product(left: Any, right: Any) -> Any:
        within = "i32" if left.element.value == "I8" else "f64"
        return tensor.matmul(left, tensor.transpose(right) if turned else right, accumulator=within)

    plan = product.plan(a, b)
    bound = plan.bind({}, NOTHING if plain else plan.hardware(backend))
    session = plan.session(bound, backend, on_device=True)
    inputs = {name: (of, x) for (name, of), x in zip(plan.graph.inputs.items(), (a, b), strict=True)}
    label = (
        plan.explain(backend=None if plain else backend).splitlines()[2].split("matmul, ")[1].split("  ")[0]
    )
    return lambda: session.run(inputs), lambda: session.take(f"out_{plan.graph.outputs[0]}"), label


class Bench:
    """Operands and peers of torch, and how much time is left."""

    def __init__(self, seconds: float) -> None:
        self.torch: Any = import_module("torch")
        torch = self.torch
        torch.manual_seed(1)
        torch.backends.cuda.matmul.allow_tf32 = False
        self._end = time.monotonic() + seconds

    @property
    def over(self) -> bool:
        return time.monotonic() > self._end

    def made(self, kind: str, *shape: int) -> Any:
        torch = self.torch
        if kind == "int8":
            return torch.randint(-128, 128, shape, device="cuda", dtype=torch.int8)
        dtype = getattr(torch, kind)
        powers = torch.exp2(torch.randint(-12, 12, shape, device="cuda").to(dtype))
        return (torch.randn(*shape, device="cuda", dtype=dtype) * powers).contiguous()

    def peer(self, a: Any, b: Any) -> Callable[[], Any]:
        """torch's product of what the second operand is after it was turned."""
        torch = self.torch
        return (lambda: torch._int_mm(a, b.t())) if a.dtype is torch.int8 else lambda: torch.matmul(a, b)

    def truth(self, a: Any, b: Any) -> bytes:
        if a.dtype is self.torch.int8:
            return self.peer(a, b)().cpu().numpy().tobytes()
        return (a.double() @ b.double()).to(a.dtype).cpu().numpy().tobytes()

    def seconds(self, launch: Callable[[], Any], least: float = 0.3) -> float:
        """The best of launches in pairs, for at least so long."""
        torch = self.torch
        launch()
        torch.cuda.synchronize()
        best, end = float("inf"), time.monotonic() + least
        while time.monotonic() < end:
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda._sleep(PAUSE)
            start.record()
            launch()
            launch()
            stop.record()
            torch.cuda.synchronize()
            best = min(best, start.elapsed_time(stop) / 2e3)
        return best


def bits(bench: Bench) -> int:
    """How many products differ from those of one invocation an element."""
    wrong = count = 0
    for m, k, n in SHAPES:
        for kind in NAMES:
            for turned in (False, True):
                a, b = bench.made(kind, m, k), bench.made(kind, *((n, k) if turned else (k, n)))
                if kind != "int8" and m == 100:
                    a[3, 5], a[7, 2], a[9, :] = float("inf"), float("nan"), 0
                if kind == "float64" and m == 200:
                    a, b = a * 1e-160, b * 1e-160
                found: list[bytes] = []
                for plain in (False, True):
                    launch, take, label = kernel(a, b, turned=turned, plain=plain)
                    assert plain or "instructions" in label, label
                    launch()
                    found.append(np.asarray(take()).tobytes())
                count += 1
                wrong += found[0] != found[1]
    print(f"bits: {count} products compared, {wrong} differ", flush=True)
    return wrong


def speed(bench: Bench, kind: str, size: int, *, check: bool) -> None:
    turned = kind == "int8"
    a, b = bench.made(kind, size, size), bench.made(kind, size, size)
    work = 2 * size**3 / 1e12
    own, take, label = kernel(a, b, turned=turned)
    peer = bench.seconds(bench.peer(a, b))
    took = bench.seconds(own)
    own()
    same = ""
    if check:
        same = ", equal" if np.asarray(take()).tobytes() == bench.truth(a, b) else ", DIFFERENT"
    text = f"{kind} {size}: {work / took:.1f} Tops/s, torch {work / peer:.1f}, {peer / took:.2f}x"
    text += f" ({label}{same})"
    if check:
        plain, _, _ = kernel(a, b, turned=turned, plain=True)
        text += f"; without instructions {work / bench.seconds(plain):.1f}"
        if turned:
            other, _, _ = kernel(a, b, turned=False)
            text += f"; second operand row by row {work / bench.seconds(other):.1f}"
    print(text, flush=True)


def sweep(bench: Bench, kind: str, size: int) -> None:
    turned = kind == "int8"
    a, b = bench.made(kind, size, size), bench.made(kind, size, size)
    kept = getattr(matrices, NAMES[kind])
    for cut in CUTS[NAMES[kind]]:
        if bench.over:
            break
        setattr(matrices, NAMES[kind], (Cut(*cut), kept[1]))
        launch, take, _ = kernel(a, b, turned=turned)
        took = bench.seconds(launch)
        launch()
        equal = "equal" if np.asarray(take()).tobytes() == bench.truth(a, b) else "DIFFERENT"
        print(
            f"{kind} {size} {cut}: {2 * size**3 / took / 1e12:.1f} Tops/s, {equal}",
            flush=True,
        )
    setattr(matrices, NAMES[kind], kept)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="4096,1024,2048,8192")
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--seconds", type=float, default=90.0)
    asked = parser.parse_args()
    info = get("cuda").describe()
    print(info.device, info.toolchain, sorted(h for h in info.hardware if h.startswith("mma_")))
    bench = Bench(asked.seconds)
    bits(bench)
    first, *others = map(int, asked.sizes.split(","))
    for kind in NAMES:
        speed(bench, kind, first, check=True)
    if asked.sweep:
        for kind in NAMES:
            sweep(bench, kind, first)
    for size in others:
        for kind in ("float32", "int8"):
            if not bench.over:
                speed(bench, kind, size, check=False)


if __name__ == "__main__":
    main()
