"""Products of matrices, softmax, layer norm and a transformer on this processor beside NumPy and torch.

    python benchmarks/tensors_cpu.py [--cores 1] [--only matmul,softmax,layer_norm,transformer] [--at-hand]

The process and all peers are pinned to so many cores. With `--at-hand` the C library keeps what is freed, so
that NumPy finds the memory of its intermediate arrays at hand instead of asking the system for cleared pages.
Everything is F32 and goes through the public call. Before anything is timed the bits are compared with those
of the kernels that run on every backend. Ours and the peers are called in turns; what is printed is the best
of the turns, in milliseconds of the processor and by the clock, and how many times as fast as each peer ours
is by either.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Call = Callable[[], Any]

CORES = int(sys.argv[sys.argv.index("--cores") + 1]) if "--cores" in sys.argv else 1
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(CORES)  # read when NumPy and torch are loaded
if "--at-hand" in sys.argv:
    for parameter in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        ctypes.CDLL(None).mallopt(parameter, 1 << 30)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-CORES:])

import numpy as np  # noqa: E402 - reads the variables above

import vyre.tensor as vt  # noqa: E402 - as NumPy
from vyre import nn  # noqa: E402 - as NumPy
from vyre.backends import get  # noqa: E402 - as NumPy
from vyre.planning import plan_graph  # noqa: E402 - as NumPy

SIZES = (256, 512, 1000, 1024, 1536)
ROWS, LENGTH = 1024, 1024
PROMPT = 64


@vt.function
def matmul(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return vt.matmul(a, b)


@vt.function
def softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.softmax(x)


@vt.function
def layer_norm(x: vt.Tensor, weight: vt.Tensor, bias: vt.Tensor) -> vt.Tensor:
    return nn.layer_norm(x, weight, bias)


def torch_or_none() -> Any:
    try:
        torch = import_module("torch")
    except ImportError:
        return None
    torch.set_num_threads(CORES)
    torch.set_grad_enabled(False)
    return torch


TORCH = torch_or_none()


def require_same_bits(function: Any, arrays: Sequence[Any]) -> None:
    plan = plan_graph(function.graph(*arrays))
    session = plan.session(plan.bind({}), get("cpu"), on_device=False)
    session.run({name: (of, a) for (name, of), a in zip(plan.graph.inputs.items(), arrays, strict=True)})
    wanted = np.array(session.take(f"out_{plan.graph.outputs[0]}")).view(np.uint32)
    if not np.array_equal(function(*arrays, backend="cpu").view(np.uint32).ravel(), wanted.ravel()):
        raise SystemExit(f"{function.__name__}: other bits than those of the kernels of every backend")


def turns(calls: dict[str, Call], *, seconds: float = 3.0) -> dict[str, tuple[float, float]]:
    """The best processor time and the best wall time of each, in milliseconds."""
    found = dict.fromkeys(calls, (1e9, 1e9))
    for call in calls.values():
        call()
    until, number = time.perf_counter() + seconds, 0
    while time.perf_counter() < until or number < 5:
        for name, call in calls.items():
            wall, own = time.perf_counter(), time.process_time()
            call()
            taken = 1e3 * (time.process_time() - own), 1e3 * (time.perf_counter() - wall)
            found[name] = min(found[name][0], taken[0]), min(found[name][1], taken[1])
        number += 1
    return found


def row(name: str, calls: dict[str, Call], note: str = "") -> None:
    found = turns(calls)
    own, wall = found.pop("ours")
    parts = [f"{name:16} ours {own:8.2f} ms of processor, {wall:8.2f} by the clock"]
    for peer, (other, clock) in found.items():
        parts.append(f"{peer} {other:.2f}, {clock:.2f}: {other / own:.2f}x, {clock / wall:.2f}x")
    print("  ".join(parts), note, flush=True)


def matmul_row(size: int) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    require_same_bits(matmul, (a, b))
    calls: dict[str, Call] = {"ours": lambda: matmul(a, b, backend="cpu"), "NumPy": lambda: a @ b}
    if TORCH is not None:
        x, y = TORCH.from_numpy(a), TORCH.from_numpy(b)
        calls["torch"] = lambda: x @ y
    row(f"matmul {size}", calls)


def numpy_softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def numpy_layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    centred = x - x.mean(-1, keepdims=True)
    spread = (centred * centred).mean(-1, keepdims=True)
    return centred / np.sqrt(spread + np.float32(1e-5)) * weight + bias


def rows_row(name: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, LENGTH), dtype=np.float32)
    weight, bias = (rng.standard_normal(LENGTH, dtype=np.float32) for _ in range(2))
    function, arrays = (softmax, (x,)) if name == "softmax" else (layer_norm, (x, weight, bias))
    peer = numpy_softmax if name == "softmax" else numpy_layer_norm
    require_same_bits(function, arrays)
    calls: dict[str, Call] = {
        "ours": lambda: function(*arrays, backend="cpu"),
        "NumPy": lambda: peer(*arrays),
    }
    if TORCH is not None:
        of = [TORCH.from_numpy(array) for array in arrays]
        of_torch = TORCH.nn.functional
        calls["torch"] = (
            (lambda: of_torch.softmax(of[0], -1))
            if name == "softmax"
            else (lambda: of_torch.layer_norm(of[0], (LENGTH,), of[1], of[2]))
        )
    row(f"{name} {ROWS}x{LENGTH}", calls)


def transformer_rows() -> None:
    """The small model of `examples/transformer.py`: a prompt at once, and one more token behind it."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    example = import_module("transformer")
    model = example.SIZES["small"]
    params, forward = example.weights(model), example.network(model.heads)
    placed = example.placed(params, "cpu")
    words = example.seeded((1, PROMPT), 999, 1.0).view(np.uint32) % model.vocabulary
    tokens = words.astype(np.uint32)
    empty = example.caches(model, 1, "cpu")
    _, keys, values = forward(tokens, empty, empty, placed, backend="cpu")
    prompt: dict[str, Call] = {"ours": lambda: forward(tokens, empty, empty, placed, backend="cpu")}
    decode: dict[str, Call] = {"ours": lambda: forward(tokens[:, :1], keys, values, placed, backend="cpu")}
    if TORCH is not None:
        peer = TorchTransformer(params, model)
        given = TORCH.from_numpy(tokens.astype(np.int64))
        none = TORCH.zeros(1, model.heads, 0, model.width // model.heads)
        logits, kept = peer(given, [(none, none)] * model.layers)
        ours, _, _ = forward(tokens, empty, empty, placed, backend="cpu")
        print(
            "greatest distance of the logits from torch's", float(np.abs(ours.numpy() - logits.numpy()).max())
        )
        prompt["torch"] = lambda: peer(given, [(none, none)] * model.layers)
        decode["torch"] = lambda: peer(given[:, :1], kept)
    row(f"prompt of {PROMPT}", prompt)
    row(f"token {PROMPT + 1}", decode)


class TorchTransformer:
    """The same network, eager."""

    def __init__(self, params: Any, model: Any) -> None:
        self.model = model
        self.params = self._converted(params)

    def _converted(self, part: Any) -> Any:
        if isinstance(part, dict):
            named = cast("dict[str, Any]", part)
            return {name: self._converted(value) for name, value in named.items()}
        if isinstance(part, list):
            return [self._converted(x) for x in cast("list[Any]", part)]
        return TORCH.from_numpy(part)

    def __call__(self, tokens: Any, caches: Any) -> tuple[Any, Any]:
        of, params, model = TORCH.nn.functional, self.params, self.model
        past, new = caches[0][0].shape[2], tokens.shape[1]
        x = of.embedding(tokens, params["tokens"]) + params["places"][past : past + new]
        mask = TORCH.ones(new, past + new, dtype=TORCH.bool).tril(past)
        kept: list[Any] = []
        for part, (keys, values) in zip(params["blocks"], caches, strict=True):
            y = of.layer_norm(x, (model.width,), part["first"]["weight"], part["first"]["bias"])
            mixed = TORCH.addmm(part["mix"]["bias"], y[0], part["mix"]["weight"])
            heads = (p.view(1, new, model.heads, -1).transpose(1, 2) for p in mixed.chunk(3, -1))
            query, key, value = heads
            keys, values = TORCH.cat([keys, key], 2), TORCH.cat([values, value], 2)
            kept.append((keys, values))
            seen = of.scaled_dot_product_attention(query, keys, values, attn_mask=mask)
            seen = seen.transpose(1, 2).reshape(new, model.width)
            x = x + TORCH.addmm(part["out"]["bias"], seen, part["out"]["weight"])
            y = of.layer_norm(x, (model.width,), part["second"]["weight"], part["second"]["bias"])
            hidden = of.gelu(TORCH.addmm(part["up"]["bias"], y[0], part["up"]["weight"]), approximate="tanh")
            x = x + TORCH.addmm(part["down"]["bias"], hidden, part["down"]["weight"])
        last = of.layer_norm(x, (model.width,), params["last"]["weight"], params["last"]["bias"])
        return last @ params["tokens"].T, kept


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="matmul,softmax,layer_norm,transformer")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--at-hand", action="store_true")
    chosen = parser.parse_args()
    peers = f"NumPy {np.__version__}" + (f", torch {TORCH.__version__}" if TORCH is not None else "")
    print(get("cpu").describe().device, f"on {CORES} cores, {peers}, load {os.getloadavg()[0]:.1f}")
    for name in chosen.only.split(","):
        if name == "matmul":
            for size in map(int, chosen.sizes.split(",")):
                matmul_row(size)
        elif name == "transformer":
            transformer_rows()
        else:
            rows_row(name)


if __name__ == "__main__":
    main()
