"""A GPT-2-shaped transformer whose logits have the same SHA-256 on every backend.

    python examples/transformer.py                          # the tiny model on the default backend
    python examples/transformer.py --backend opencl --size small --batch 8

The weights are made from a seed, by integers alone. The prompt is run at once and token by
token, alone and inside a batch; all four must give equal bytes, and the hash is printed. Weights and caches
stay on the device: what goes in is tokens, and what comes out are logits.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import vyre
from vyre import nn
from vyre import tensor as vt


@dataclass(frozen=True)
class Model:
    """Sizes of a model; `heads` must divide `width`."""

    layers: int
    heads: int
    width: int
    vocabulary: int
    context: int


SIZES = {
    "tiny": Model(layers=2, heads=2, width=32, vocabulary=64, context=32),
    "small": Model(layers=4, heads=4, width=256, vocabulary=1024, context=128),
}


def seeded(shape: tuple[int, ...], stream: int, scale: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Numbers between -scale and scale from a counter and integer mixing, so every machine makes the same."""
    counter = np.arange(int(np.prod(shape)), dtype=np.uint64) + np.uint64(stream << 40)
    mixed = (counter + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    top = (mixed ^ (mixed >> np.uint64(31))) >> np.uint64(40)
    signed = top.astype(np.int64) - (1 << 23)
    return (signed.astype(np.float32) * np.float32(2.0**-23) * np.float32(scale)).reshape(shape)


def weights(model: Model, seed: int = 0) -> dict[str, Any]:
    """Parameters of a model, from a seed."""
    stream = iter(range(seed * 1024, (seed + 1) * 1024))
    d = model.width

    def made(*shape: int, scale: float = 0.125) -> np.ndarray[Any, np.dtype[np.float32]]:
        return seeded(shape, next(stream), scale)

    def norm() -> dict[str, Any]:
        return {"weight": 1 + made(d), "bias": made(d)}

    return {
        "tokens": made(model.vocabulary, d, scale=0.5),
        "places": made(model.context, d, scale=0.25),
        "blocks": [
            {
                "first": norm(),
                "mix": {"weight": made(d, 3 * d), "bias": made(3 * d)},
                "out": {"weight": made(d, d), "bias": made(d)},
                "second": norm(),
                "up": {"weight": made(d, 4 * d), "bias": made(4 * d)},
                "down": {"weight": made(4 * d, d), "bias": made(d)},
            }
            for _ in range(model.layers)
        ],
        "last": norm(),
    }


def linear(x: vt.Tensor, part: dict[str, vt.Tensor]) -> vt.Tensor:
    return x @ part["weight"] + part["bias"]


def block(
    x: vt.Tensor, part: dict[str, Any], heads: int, keys: vt.Tensor, values: vt.Tensor
) -> tuple[vt.Tensor, ...]:
    """One layer: attention over what was seen before and what is new, then two linear maps."""
    mixed = linear(nn.layer_norm(x, **part["first"]), part["mix"])
    query, key, value = (nn.split_heads(p, heads) for p in vt.split(mixed, 3, -1))
    past = keys.shape[2]
    keys, values = vt.concat([keys, key], 2), vt.concat([values, value], 2)
    seen = nn.attention(query, keys, values, causal=True, past=past)
    x = x + linear(nn.merge_heads(seen), part["out"])
    hidden = nn.gelu(linear(nn.layer_norm(x, **part["second"]), part["up"]), approximate="tanh")
    return x + linear(hidden, part["down"]), keys, values


def network(heads: int) -> vt.TensorFunction:
    """Tokens [batch, new] and caches [layers][batch, heads, past, d] to logits and longer caches."""

    @vt.function(
        tokens=("batch", "new"), keys=("batch", None, "past", None), values=("batch", None, "past", None)
    )
    def forward(tokens: vt.Tensor, keys: list[Any], values: list[Any], params: dict[str, Any]) -> Any:
        past = keys[0].type.shape[2]
        new = tokens.type.shape[1]
        places = vt.slice_axis(params["places"], 0, past, past + new)
        x = nn.embedding(params["tokens"], tokens) + places
        kept: list[Any] = []
        for i, part in enumerate(params["blocks"]):
            x, key, value = block(x, part, heads, keys[i], values[i])
            kept.append((key, value))
        logits = nn.layer_norm(x, **params["last"]) @ params["tokens"].T
        return logits, [k for k, _ in kept], [v for _, v in kept]

    return forward


def placed(part: Any, backend: str | None) -> Any:
    """Arrays in dicts and lists, on the device."""
    if isinstance(part, dict):
        return {name: placed(p, backend) for name, p in part.items()}
    if isinstance(part, list):
        return [placed(p, backend) for p in part]
    return vyre.to_device(part, backend=backend)


def caches(model: Model, batch: int, backend: str | None) -> list[Any]:
    """Empty ones."""
    shape = (batch, model.heads, 0, model.width // model.heads)
    return placed([np.zeros(shape, np.float32) for _ in range(model.layers)], backend)


def at_once(forward: vt.TensorFunction, model: Model, params: Any, tokens: Any, backend: str | None) -> Any:
    keys, values = caches(model, len(tokens), backend), caches(model, len(tokens), backend)
    logits, _, _ = forward(tokens, keys, values, params, backend=backend)
    return logits.numpy()


def by_token(forward: vt.TensorFunction, model: Model, params: Any, tokens: Any, backend: str | None) -> Any:
    keys, values = caches(model, len(tokens), backend), caches(model, len(tokens), backend)
    rows: list[Any] = []
    for i in range(tokens.shape[1]):
        logits, keys, values = forward(tokens[:, i : i + 1], keys, values, params, backend=backend)
        rows.append(logits)
    return np.concatenate([row.numpy() for row in rows], axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--length", type=int, default=16, help="tokens of the prompt")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = SIZES[options.size]
    params = placed(weights(model, options.seed), options.backend)
    count = sum(a.size for a in _arrays(params))
    tokens = (seeded((options.batch, options.length), 999, 1.0).view(np.uint32) % model.vocabulary).astype(
        np.uint32
    )
    forward = network(model.heads)
    started = time.perf_counter()
    whole = at_once(forward, model, params, tokens, options.backend)
    took = time.perf_counter() - started
    alone = np.concatenate(
        [at_once(forward, model, params, tokens[i : i + 1], options.backend) for i in range(2)]
    )
    single = by_token(forward, model, params, tokens[:2], options.backend)
    same = alone.tobytes() == whole[:2].tobytes() == single.tobytes()
    print(
        f"{count:,} parameters, {options.batch} prompts of {options.length} tokens, first call {took:.2f} s"
    )
    print(f"alone, in a batch, at once and token by token: {'equal' if same else 'DIFFERENT'}")
    print(f"sha256 of the logits  {hashlib.sha256(whole.tobytes()).hexdigest()}")
    if not same:
        raise SystemExit(1)


def _arrays(part: Any) -> list[Any]:
    if isinstance(part, dict):
        return [a for p in part.values() for a in _arrays(p)]
    return [a for p in part for a in _arrays(p)] if isinstance(part, list) else [part]


if __name__ == "__main__":
    main()
