"""Decoding token by token on an NVIDIA GPU beside torch, in one run: what a token takes.

    python benchmarks/decode_cuda.py [--sizes small,gpt2] [--tokens 32] [--products]

The network is that of `examples/transformer.py`. A step takes one token and its place, and caches as long as
the context; it is bound to its buffers once and replayed. The peer is torch in eager mode, with caches of the
same length, which are written in place. Everything is F32, TF32 off. Before anything is timed, the logits of
a few tokens are compared with those of the example, bit by bit. With `--products`, products with few rows
too, each replayed, with the bits of `cpu`.
"""

from __future__ import annotations

import argparse
import runpy
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import vyre
import vyre.tensor as vt
from vyre import nn

if TYPE_CHECKING:
    from collections.abc import Callable

example = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "transformer.py"))
Model = example["Model"]
SIZES = {
    **example["SIZES"],
    "gpt2": Model(layers=12, heads=12, width=768, vocabulary=50257, context=1024),
}


def stepping(heads: int) -> vt.TensorFunction:
    """A token and its place, with caches of a fixed length, to logits and the caches after it."""

    @vt.function
    def step(tokens: vt.Tensor, place: vt.Tensor, keys: list[Any], values: list[Any], params: Any) -> Any:
        x = nn.embedding(params["tokens"], tokens) + nn.embedding(params["places"], place)
        context = keys[0].shape[2]
        number = vt.arange(context).astype("u32")
        here = vt.reshape(number == place, (context, 1))
        seen = vt.reshape(number <= place, (1, 1, 1, context))
        kept: list[Any] = []
        for i, part in enumerate(params["blocks"]):
            mixed = example["linear"](nn.layer_norm(x, **part["first"]), part["mix"])
            query, key, value = (nn.split_heads(p, heads) for p in vt.split(mixed, 3, -1))
            key, value = vt.where(here, key, keys[i]), vt.where(here, value, values[i])
            mask = vt.broadcast_to(seen, (*query.shape[:-1], context))
            found = nn.merge_heads(nn.attention(query, key, value, mask=mask))
            x = x + example["linear"](found, part["out"])
            hidden = example["linear"](nn.layer_norm(x, **part["second"]), part["up"])
            x = x + example["linear"](nn.gelu(hidden, approximate="tanh"), part["down"])
            kept.append((key, value))
        logits = nn.layer_norm(x, **params["last"]) @ params["tokens"].T
        return logits, [k for k, _ in kept], [v for _, v in kept]

    return step


class Decoder:
    """The step on buffers of its own: two sets of caches, of which one is read while the other is written."""

    def __init__(self, model: Any, raw: Any, backend: str) -> None:
        width = model.width // model.heads
        empty = [np.zeros((1, model.heads, model.context, width), np.float32) for _ in range(model.layers)]
        self.token = vyre.device_zeros((1, 1), np.uint32, backend=backend)
        self.place = vyre.device_zeros(1, np.uint32, backend=backend)
        self.logits = vyre.device_zeros(model.vocabulary, np.float32, backend=backend)
        params = example["placed"](raw, backend)
        step = stepping(model.heads)
        first, second = ([example["placed"](empty, backend) for _ in range(2)] for _ in range(2))
        self._replays = [
            step.replayed(
                *(self.token, self.place, *before, params), into=(self.logits, *after), backend=backend
            )
            for before, after in ((first, second), (second, first))
        ]
        self.kernels = len(self._replays[0])

    def launch(self, place: int) -> None:
        self._replays[place % 2].replay()

    def __call__(self, token: int, place: int) -> None:
        """The logits of the next token, on the device."""
        self.token.copy_from(np.array([[token]], np.uint32))
        self.place.copy_from(np.array([place], np.uint32))
        self.launch(place)


def torch_step(model: Any, raw: Any) -> Any:
    """The same network by torch, eager: logits of a token at a place, with caches written in place."""
    torch, functional = import_module("torch"), import_module("torch.nn.functional")

    def placed(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: placed(p) for name, p in cast("dict[str, Any]", part).items()}
        if isinstance(part, list):
            return [placed(p) for p in cast("list[Any]", part)]
        return torch.from_numpy(part).cuda()

    params, width = placed(raw), model.width
    shape = (1, model.heads, model.context, width // model.heads)
    caches = [[torch.zeros(shape, device="cuda") for _ in range(2)] for _ in range(model.layers)]

    def step(token: Any, place: int) -> Any:
        x = params["tokens"][token] + params["places"][place]
        for part, (keys, values) in zip(params["blocks"], caches, strict=True):
            normal = functional.layer_norm(x, (width,), **part["first"])
            mixed = torch.addmm(part["mix"]["bias"], normal, part["mix"]["weight"])
            query, key, value = (p.view(1, 1, model.heads, -1).transpose(1, 2) for p in mixed.chunk(3, -1))
            keys[:, :, place : place + 1], values[:, :, place : place + 1] = key, value
            seen = functional.scaled_dot_product_attention(
                query, keys[:, :, : place + 1], values[:, :, : place + 1]
            )
            merged = seen.transpose(1, 2).reshape(1, width)
            x = x + torch.addmm(part["out"]["bias"], merged, part["out"]["weight"])
            normal = functional.layer_norm(x, (width,), **part["second"])
            hidden = torch.addmm(part["up"]["bias"], normal, part["up"]["weight"])
            x = x + torch.addmm(
                part["down"]["bias"], functional.gelu(hidden, approximate="tanh"), part["down"]["weight"]
            )
        return functional.layer_norm(x, (width,), **params["last"]) @ params["tokens"].T

    return step


def require_bits_of_the_example(model: Any, raw: Any, decoder: Decoder, backend: str, count: int = 4) -> None:
    tokens = (np.arange(count, dtype=np.uint32) * 37 % model.vocabulary)[None]
    params = example["placed"](raw, backend)
    wanted = example["by_token"](example["network"](model.heads), model, params, tokens, backend)
    for place in range(count):
        decoder(int(tokens[0, place]), place)
        if decoder.logits.numpy().tobytes() != wanted[0, place].tobytes():
            raise SystemExit(f"token {place}: other bits than those of the example")


def best(call: Callable[[int], object], count: int, rounds: int = 3) -> float:
    """Seconds a token, the best of several runs of `count` places."""
    torch = import_module("torch")
    times: list[float] = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for place in range(count):
            call(place)
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def compare(name: str, count: int) -> None:
    torch = import_module("torch")
    model = SIZES[name]
    raw = example["weights"](model)
    decoder = Decoder(model, raw, "cuda")
    require_bits_of_the_example(model, raw, decoder, "cuda")
    peer = torch_step(model, raw)
    token = torch.zeros(1, dtype=torch.long, device="cuda")
    with torch.inference_mode():
        theirs = best(lambda place: peer(token, place), count)
    ours, launches = best(lambda place: decoder(0, place), count), best(decoder.launch, count)
    print(
        f"{name}: a token {ours * 1e6:.0f} us, its launches alone {launches * 1e6:.0f} us "
        f"({decoder.kernels} kernels); "
        f"torch eager {theirs * 1e6:.0f} us: {theirs / ours:.2f}x",
        flush=True,
    )


@vt.function
def product(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return a @ b


@vt.function
def product_turned(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return a @ b.T


PRODUCTS = (
    (1, 4096, 4096, False),
    (1, 4096, 4096, True),
    (1, 768, 3072, False),
    (1, 3072, 768, False),
    (8, 4096, 4096, False),
    (16, 4096, 4096, False),
    (1, 768, 50257, True),
)
"""Rows, depth, columns, and whether the right side lies along k."""


def compare_product(rows: int, depth: int, columns: int, *, turned: bool) -> None:
    torch = import_module("torch")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((rows, depth), dtype=np.float32)
    b = rng.standard_normal((columns, depth) if turned else (depth, columns), dtype=np.float32)
    call = product_turned if turned else product
    into = vyre.device_zeros(rows * columns, np.float32, backend="cuda")
    placed = [vyre.to_device(array, backend="cuda") for array in (a, b)]
    again = call.replayed(*placed, into=into, backend="cuda")
    if into.numpy().tobytes() != call(a, b, backend="cpu").tobytes():
        raise SystemExit(f"{rows} x {depth} x {columns}: other bits than on cpu")
    left, right = (torch.from_numpy(array).cuda() for array in (a, b))
    right = right.T if turned else right
    ours, theirs = best(lambda _: again.replay(), 200), best(lambda _: left @ right, 200)
    name = f"{rows} x {depth} x {columns}{' turned' if turned else ''}"
    print(f"{name}: {ours * 1e6:.1f} us, torch {theirs * 1e6:.1f} us: {theirs / ours:.2f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="small,gpt2")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--products", action="store_true")
    chosen = parser.parse_args()
    torch = import_module("torch")
    torch.backends.cuda.matmul.allow_tf32 = False
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    if chosen.products:
        for rows, depth, columns, turned in PRODUCTS:
            compare_product(rows, depth, columns, turned=turned)
    for name in chosen.sizes.split(","):
        compare(name, chosen.tokens)


if __name__ == "__main__":
    main()
