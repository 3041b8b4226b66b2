"""The calls of `calls.py` on an NVIDIA GPU: each beside its bar, and each on its own, so that one that fails
leaves the others.

A row says how many times as long ours takes as what it is measured by (the median over the rounds), and the
bar that it has to keep. Small calls are timed until they return, as torch's do before the work is done; large
ones until the device has finished. What gives a number to the host waits for the device by itself, and is
measured by both: the call that does not wait, and the one that fetches the number too.
"""

from __future__ import annotations

import gc
import statistics
import time
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

import call_peers
import numpy as np

import vyre
import vyre.tensor
from vyre import In, InOut, Out, f32, nn
from vyre.backends import get
from vyre.engines import reduce_tree

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Call = Callable[..., Any]
    Make = Callable[[], tuple[Any, ...]]

SMALL, CALLS = 1000, 200


@vyre.kernel(workgroup_size=256)
def added(a: In[f32], b: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] + b[i]


@vyre.kernel(workgroup_size=256)
def exponential(a: In[f32], out: Out[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = vyre.exp(a[i])


@vyre.kernel(workgroup_size=256)
def stepped(a: In[f32], out: InOut[f32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = out[i] + a[i]


def on_cuda(kernel: Any) -> Call:
    return lambda *arrays: kernel(*arrays, backend="cuda")


class Bench:
    """Times calls against each other and prints rows."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.missed: list[str] = []
        backend: Any = get("cuda")
        self.wait: Callable[[], None] = backend.synchronize

    def times(
        self, make: Make, calls: dict[str, Call], *, each: int, finish: bool = False
    ) -> dict[str, list[float]]:
        """Seconds of a call, by round; everybody takes a turn in every round, on arrays made beforehand."""
        found: dict[str, list[float]] = {name: [] for name in calls}
        for call in calls.values():
            for _ in range(3):
                call(*make())
        for _ in range(self.rounds):
            for name, call in calls.items():
                arrays = [make() for _ in range(each)]
                gc.collect()
                gc.disable()
                self.wait()
                start = time.perf_counter()
                for given in arrays:
                    call(*given)
                if finish:
                    self.wait()
                spent = time.perf_counter() - start
                self.wait()
                gc.enable()
                found[name].append(spent / each)
        return found

    def row(
        self, title: str, make: Make, measure: Call, ours: Call, *, bar: float, each: int = CALLS,
        finish: bool = False,
    ) -> None:  # fmt: skip
        times = self.times(make, {"measure": measure, "ours": ours}, each=each, finish=finish)
        pairs = list(zip(times["ours"], times["measure"], strict=True))
        ratio = statistics.median(ours / measure for ours, measure in pairs)
        holds = "holds" if ratio <= bar else "MISSED"
        shown = [1e6 * statistics.median(times[who]) for who in ("ours", "measure")]
        print(f"  {title:<58}{shown[0]:10.1f} µs {shown[1]:10.1f} µs  x{ratio:6.3f}  bar {bar:5.2f}  {holds}")
        if ratio > bar:
            self.missed.append(title)


def torch_calls(bench: Bench, options: argparse.Namespace) -> None:
    torch = call_peers.package("torch")
    device = [torch.from_numpy(x).cuda() for x in _host()]

    def make() -> tuple[Any, ...]:
        return tuple(x.clone() for x in device)

    def one() -> tuple[Any, ...]:
        return (device[0].clone(),)

    bench.row("torch tensors, a + b | torch", make, torch.add, on_cuda(added), bar=2.5)
    bench.row("torch tensors, exp | torch", one, torch.exp, on_cuda(exponential), bar=2.5)
    bench.row("torch tensors, out += a | torch add_", make, _torch_step, on_cuda(stepped), bar=2.5)


def _torch_step(a: Any, b: Any) -> Any:
    return b.add_(a)


def own_calls(bench: Bench, options: argparse.Namespace) -> None:
    torch = call_peers.package("torch")
    host = _host()
    device = [torch.from_numpy(x).cuda() for x in host]
    own = [vyre.to_device(x, backend="cuda") for x in host]
    added_on = on_cuda(added)
    bench.row(
        "device buffers, a + b, outputs made | torch",
        tuple,
        lambda: torch.add(*device),
        lambda: added_on(*own),
        bar=2.5,
    )
    out = vyre.device_zeros(SMALL, np.float32, backend="cuda")
    bench.row(
        "device buffers, a + b, output passed | torch",
        tuple,
        lambda: torch.add(*device),
        lambda: added_on(*own, out),
        bar=2.5,
    )


def cupy_calls(bench: Bench, options: argparse.Namespace) -> None:
    cupy, torch = call_peers.package("cupy"), call_peers.package("torch")
    there = [cupy.asarray(x) for x in _host()]
    device = [torch.from_numpy(x).cuda() for x in _host()]

    def make() -> tuple[Any, ...]:
        return tuple(x.copy() for x in there)

    bench.row("CuPy arrays, a + b | CuPy", make, cupy.add, on_cuda(added), bar=2.5)
    bench.row("CuPy arrays, a + b | torch", make, lambda *_: torch.add(*device), on_cuda(added), bar=2.5)


def engine_calls(bench: Bench, options: argparse.Namespace) -> None:
    torch = call_peers.package("torch")
    short = torch.ones(1024, device="cuda")

    def make() -> tuple[Any, ...]:
        return (short.clone(),)

    def item(x: Any) -> Any:
        return torch.sum(x).item()

    own = vyre.to_device(np.ones(1024, np.float32), backend="cuda")
    bench.row("reduce_tree of 1,024, torch | torch.sum", make, torch.sum, _tree, bar=3.0)
    bench.row("reduce_tree of 1,024, torch | torch.sum(x).item()", make, item, _tree, bar=3.0)
    row = "reduce_tree of 1,024, own | torch.sum"
    bench.row(row, tuple, partial(torch.sum, short), partial(_tree, own), bar=3.0)


def _tree(x: Any) -> Any:
    return reduce_tree(x, backend="cuda")


def engine_cupy(bench: Bench, options: argparse.Namespace) -> None:
    cupy = call_peers.package("cupy")
    short = cupy.ones(1024, cupy.float32)
    bench.row(
        "reduce_tree of 1,024, CuPy | cupy.sum",
        lambda: (short.copy(),),
        cupy.sum,
        _tree,
        bar=3.0,
    )


def tensor_calls(bench: Bench, options: argparse.Namespace) -> None:
    """Functions of tensors on torch's arrays: small ones until they return, long rows until they are done."""
    torch = call_peers.package("torch")
    square = [torch.rand(128, 128, device="cuda") for _ in range(2)]
    row = torch.rand(1 << 24, device="cuda")
    small: tuple[tuple[str, Any, Call, tuple[Any, ...]], ...] = (
        ("x @ y of 128 x 128", vyre.tensor.function(_product), torch.matmul, tuple(square)),
        ("softmax of 128 x 128", vyre.tensor.function(_softmax), _torch_softmax, (square[0],)),
    )
    for name, function, peer, given in small:
        ours = partial(function, *given, backend="cuda")
        bench.row(f"tensors, {name} | torch", tuple, partial(peer, *given), ours, bar=2.5)
    long: tuple[tuple[str, Any, Call, Any, float], ...] = (
        ("sum of 2^24", vyre.tensor.function(_sum), torch.sum, row, 2.0),
        ("cumsum of 2^20", vyre.tensor.function(_cumsum), partial(torch.cumsum, dim=0), row[: 1 << 20], 2.0),
    )
    for name, function, peer, given, bar in long:
        ours = partial(function, given, backend="cuda")
        title = f"tensors, {name} | torch"
        bench.row(title, tuple, partial(peer, given), ours, bar=bar, each=50, finish=True)


def _product(x: vyre.tensor.Tensor, y: vyre.tensor.Tensor) -> vyre.tensor.Tensor:
    return x @ y


def _softmax(x: vyre.tensor.Tensor) -> vyre.tensor.Tensor:
    return nn.softmax(x)


def _torch_softmax(x: Any) -> Any:
    return x.softmax(-1)


def _sum(x: vyre.tensor.Tensor) -> vyre.tensor.Tensor:
    return x.sum()


def _cumsum(x: vyre.tensor.Tensor) -> vyre.tensor.Tensor:
    return vyre.tensor.cumsum(x, axis=0)


def large_calls(bench: Bench, options: argparse.Namespace) -> None:
    """The call with its allocation beside the same kernel on buffers that were bound before.

    Operands are different arrays: one that is read twice comes from the caches the second time.
    """
    torch = call_peers.package("torch")
    count = 1 << options.log2_gpu
    wide = [torch.linspace(first, 80, count, device="cuda") for first in (-80, -40)]
    given = [vyre.to_device(x, backend="cuda", copy=False) for x in wide]
    out = vyre.device_zeros(count, np.float32, backend="cuda")
    for name, kernel, inputs in (("a + b", added, 2), ("exp", exponential, 1)):
        call = on_cuda(kernel)
        bench.row(
            f"2^{options.log2_gpu} floats, {name}, torch | the kernel alone",
            tuple,
            partial(call, *given[:inputs], out),
            partial(call, *wide[:inputs]),
            bar=1.01,
            each=10,
            finish=True,
        )
    bench.row(
        f"2^{options.log2_gpu} floats, a + b, torch | torch",
        tuple,
        lambda: torch.add(*wide),
        lambda: on_cuda(added)(*wide),
        bar=1.05,
        each=10,
        finish=True,
    )


def numpy_calls(bench: Bench, options: argparse.Namespace) -> None:
    torch = call_peers.package("torch")
    peer = call_peers.numpy_through_torch(torch)["torch, NumPy arrays"]

    def make() -> tuple[Any, ...]:
        return tuple(x.copy() for x in _host())

    bench.row("NumPy arrays, a + b | through torch", make, peer, on_cuda(added), bar=2.5)


def captured_calls(bench: Bench, options: argparse.Namespace) -> None:
    """Twenty small kernels in a row, replayed."""
    torch = call_peers.package("torch")
    x = vyre.to_device(np.ones(1024, np.float32), backend="cuda")
    y = vyre.device_zeros(1024, np.float32, backend="cuda")
    with vyre.capture("cuda") as plan:
        for _ in range(20):
            stepped(x, y, backend="cuda")
    before = y.numpy()
    plan.replay()
    if not np.array_equal(y.numpy(), before + 20):
        raise AssertionError("a replay did not run the twenty kernels")
    a, b = torch.ones(1024, device="cuda"), torch.zeros(1024, device="cuda")
    b.add_(a)
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(20):
            b.add_(a)
    row = "a replay of 20 kernels of 1,024"
    bench.row(f"{row}, queued | torch CUDA graph", tuple, graph.replay, plan.replay, bar=1.5)
    bench.row(f"{row}, done | torch CUDA graph", tuple, graph.replay, plan.replay, bar=1.5, finish=True)


PARTS: tuple[Callable[[Bench, argparse.Namespace], None], ...] = (
    torch_calls,
    own_calls,
    cupy_calls,
    engine_calls,
    engine_cupy,
    captured_calls,
    numpy_calls,
    tensor_calls,
    large_calls,
)


def show(options: argparse.Namespace) -> None:
    """Every row. A part that fails, or whose library is missing, says so and the next one goes on."""
    print("\nOurs, what it is measured by, how many times as long, and the bar")
    bench = Bench(options.rounds)
    broken: list[str] = []
    for part in PARTS:
        start = time.perf_counter()
        try:
            part(bench, options)
        except Exception:
            broken.append(part.__name__)
            print(f"  {part.__name__} failed:\n{traceback.format_exc(limit=-4)}")
        print(f"    ({part.__name__}: {time.perf_counter() - start:.1f} s)", flush=True)
    print(f"missed: {', '.join(bench.missed) or 'nothing'}; failed: {', '.join(broken) or 'nothing'}")


def _host() -> list[Any]:
    a = np.linspace(-80, 80, SMALL, dtype=np.float32)
    return [a, np.flip(a).copy()]
