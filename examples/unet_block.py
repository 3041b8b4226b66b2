"""A U-Net in small: down, across and up again with a skip, the same bytes on every backend.

    python examples/unet_block.py
    python examples/unet_block.py --backend opencl

Images are run alone and in a batch, which must give equal bytes, and beside the same network written
as loops in doubles, from which rounding alone may differ. The hash is printed.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Any

import numpy as np

from vyre import nn
from vyre import tensor as vt

CHANNELS, SIZE, IMAGES = 4, 8, 3
SHAPES = {
    "enter": (CHANNELS, 1, 3, 3),
    "down": (2 * CHANNELS, CHANNELS, 3, 3),
    "across": (CHANNELS, 2 * CHANNELS, 3, 3),
    "up": (CHANNELS, 2 * CHANNELS, 3, 3),
    "leave": (1, CHANNELS, 1, 1),
}


def upsampled(x: vt.Tensor) -> vt.Tensor:
    """Each element twice along both last axes: a broadcast and a reshape."""
    count, channels, high, wide = x.type.shape
    spread = vt.broadcast_to(
        vt.reshape(x, (count, channels, high, 1, wide, 1)), (count, channels, high, 2, wide, 2)
    )
    return vt.reshape(spread, (count, channels, high * 2, wide * 2))


@vt.function(image=("images", 1, SIZE, SIZE))
def unet(image: vt.Tensor, weights: dict[str, vt.Tensor]) -> vt.Tensor:
    """Images [images, 1, SIZE, SIZE] to images of the same shape."""
    first = nn.silu(nn.conv(image, weights["enter"], padding=1))
    low = nn.silu(nn.conv(nn.max_pool(first, 2), weights["down"], padding=1))
    low = nn.silu(nn.conv(low, weights["across"], padding=1))
    joined = vt.concat([first, upsampled(low)], 1)
    return nn.conv(nn.silu(nn.conv(joined, weights["up"], padding=1)), weights["leave"])


def looped(image: Any, weights: dict[str, Any]) -> Any:
    """The same in doubles, for one image [1, SIZE, SIZE]."""

    def conv(x: Any, weight: Any) -> Any:
        edge = weight.shape[2] // 2
        wide = np.pad(x, [(0, 0), (edge, edge), (edge, edge)])
        out = np.zeros((len(weight), *x.shape[1:]))
        for (o, i, r, c), value in np.ndenumerate(weight):
            out[o] += value * wide[i, r : r + x.shape[1], c : c + x.shape[2]]
        return out

    def silu(x: Any) -> Any:
        return x / (1 + np.exp(-x))

    first = silu(conv(image.astype(np.float64), weights["enter"]))
    pooled = first.reshape(CHANNELS, SIZE // 2, 2, SIZE // 2, 2).max((2, 4))
    low = silu(conv(silu(conv(pooled, weights["down"])), weights["across"]))
    joined = np.concatenate([first, low.repeat(2, 1).repeat(2, 2)])
    return conv(silu(conv(joined, weights["up"])), weights["leave"])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend")
    backend = parser.parse_args(arguments).backend
    source = np.random.Generator(np.random.PCG64(7))

    def made(*shape: int) -> Any:
        return (source.integers(-(1 << 20), 1 << 20, shape) / (1 << 21)).astype(np.float32)

    weights = {name: made(*shape) for name, shape in SHAPES.items()}
    images = made(IMAGES, 1, SIZE, SIZE)
    batch = unet(images, weights, backend=backend)
    alone = [unet(images[i : i + 1], weights, backend=backend) for i in range(IMAGES)]
    same = np.concatenate(alone).tobytes() == batch.tobytes()
    error = max(np.abs(looped(images[i], weights) - batch[i]).max() for i in range(IMAGES))
    print(f"alone and in a batch: {'equal' if same else 'DIFFERENT'}; off doubles by {error:.1e}")
    print(f"sha256 of the images  {hashlib.sha256(batch.tobytes()).hexdigest()}")
    if not same or error > 1e-5:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
