"""Random numbers by Philox4x32-10 (Salmon et al., 2011): a function of a seed, a stream and a place.

Element i is word i % 4 of the block whose counter is (i // 4, 0, stream) and whose key is the seed, each low
word first. Nothing is carried from one element to the next: any part of a stream can be made alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, Private, f32, u32
from vyre.backends.device_buffer import DeviceBuffer
from vyre.errors import DispatchError, boundary
from vyre.library.messages import grid

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_UNIT, _HALF = 2.0**-32, 2.0**-33
_STEP = float(np.float32(2 * np.pi)) * 2.0**-24
_LANES = tuple(range(4))


def block(v: Private[u32], low: u32, high: u32) -> None:
    """Ten rounds on the counter in `v`, with a key of two words."""
    key, other = low, high
    for _ in range(10):
        a, b, c, d = v[0], v[1], v[2], v[3]
        v[0] = vyre.mul_hi(c, u32(0xCD9E8D57)) ^ b ^ key
        v[1] = c * 0xCD9E8D57
        v[2] = vyre.mul_hi(a, u32(0xD2511F53)) ^ d ^ other
        v[3] = a * 0xD2511F53
        key += 0x9E3779B9
        other += 0xBB67AE85


@vyre.kernel
def _words(settings: In[u32, Literal[4]], out: Out[u32], first: u32) -> None:
    """Four elements an invocation; those before `first` and past the end have no place in `out`."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    v[0], v[1], v[2], v[3] = first // 4 + i, u32(0), settings[2], settings[3]
    block(v, settings[0], settings[1])
    for k in _LANES:
        out[4 * i + k - first % 4] = v[k]


@vyre.kernel
def _uniform(settings: In[u32, Literal[4]], out: Out[f32], first: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    v[0], v[1], v[2], v[3] = first // 4 + i, u32(0), settings[2], settings[3]
    block(v, settings[0], settings[1])
    for k in _LANES:
        out[4 * i + k - first % 4] = vyre.convert(v[k] >> 8, f32) * 2.0**-24


@vyre.kernel
def _normal(settings: In[u32, Literal[4]], out: Out[f32], first: u32) -> None:
    """Box and Muller: words 0 and 1 of a block make elements 0 and 1 of it, words 2 and 3 the others."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    v[0], v[1], v[2], v[3] = first // 4 + i, u32(0), settings[2], settings[3]
    block(v, settings[0], settings[1])
    for k in range(0, 4, 2):
        radius = vyre.sqrt(-2.0 * vyre.log(vyre.fma(vyre.convert(v[k], f32), f32(_UNIT), f32(_HALF))))
        angle = vyre.convert(v[k + 1] >> 8, f32) * _STEP
        place = 4 * i + k - first % 4
        out[place] = radius * vyre.cos(angle)
        out[place + 1] = radius * vyre.sin(angle)


def _made(
    kernel: Any, dtype: Any, out: Any, seed: int, stream: int, first: int, backend: str | Backend | None
) -> Any:
    for name, value in (("seed", seed), ("stream", stream)):
        if not 0 <= value < 1 << 64:
            raise DispatchError(f"the {name} {value} has more than 64 bits.", fix="pass 0 to 2^64 - 1.")
    alone = isinstance(out, int)
    count = out if alone else int(out.size)
    if first < 0 or count < 0 or first + count > 1 << 32:
        raise DispatchError(
            f"elements {first} to {first + count} are not all in a stream of 2^32.",
            fix="take another stream.",
        )
    settings = np.array([seed, stream], np.uint64).astype("<u8").view(np.uint32)
    if backend is None and isinstance(out, DeviceBuffer):
        backend = out.backend
    target = np.zeros(count, dtype) if alone else out
    return kernel(settings, target, first, workgroups=grid(count // 4 + 2), backend=backend)


@boundary
def philox_u32(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """Elements `first`, `first` + 1, … of a stream: `out` is their number, or the array of uint32 to fill."""
    return _made(_words, np.uint32, out, seed, stream, first, backend)


@boundary
def philox_uniform(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """The same as float32 from 0 to 1, without 1: the high 24 bits of each element, times 2^-24."""
    return _made(_uniform, np.float32, out, seed, stream, first, backend)


@boundary
def philox_normal(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """The same as float32 of the normal distribution, mean 0 and deviation 1, by Box and Muller."""
    return _made(_normal, np.float32, out, seed, stream, first, backend)
