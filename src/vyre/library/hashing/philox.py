"""Random numbers by Philox4x32-10 (Salmon et al., 2011): a function of a seed, a stream and a place.

Element i is word i % 4 of the block whose counter is (i // 4, 0, stream) and whose key is the seed, each low
word first. Nothing is carried from one element to the next: any part of a stream can be made alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import Out, Private, f32, u32, u64, vec4
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.host_memory import HostMemory
from vyre.errors import DispatchError, boundary, whole
from vyre.library.messages import grid

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_UNIT, _HALF = 2.0**-32, 2.0**-33
_STEP = float(np.float32(2 * np.pi)) * 2.0**-24
_LANES = tuple(range(4))


def block(v: Private[u32], place: u32, seed: u64, stream: u64) -> None:
    """The four elements of a block: ten rounds on its counter."""
    v[0], v[1], v[2], v[3] = place, u32(0), stream[0], stream[1]
    key, other = seed[0], seed[1]
    for _ in range(10):
        a, b, c, d = v[0], v[1], v[2], v[3]
        v[0] = vyre.mul_hi(c, u32(0xCD9E8D57)) ^ b ^ key
        v[1] = c * 0xCD9E8D57
        v[2] = vyre.mul_hi(a, u32(0xD2511F53)) ^ d ^ other
        v[3] = a * 0xD2511F53
        key += 0x9E3779B9
        other += 0xBB67AE85


def uniform(word: u32) -> f32:
    return vyre.convert(word >> 8, f32) * 2.0**-24


def normals(v: Private[u32]) -> None:
    """Box and Muller: words 0 and 1 make elements 0 and 1, as their bits; words 2 and 3 make the others."""
    for k in (0, 2):
        radius = vyre.sqrt(-2.0 * vyre.log(vyre.fma(vyre.convert(v[k], f32), f32(_UNIT), f32(_HALF))))
        angle = vyre.convert(v[k + 1] >> 8, f32) * _STEP
        v[k] = vyre.bitcast(radius * vyre.cos(angle), u32)
        v[k + 1] = vyre.bitcast(radius * vyre.sin(angle), u32)


@vyre.kernel
def _words(out: Out[u32], seed: u64, stream: u64, first: u32) -> None:
    """Four elements an invocation; those before `first` and past the end have no place in `out`."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    for k in _LANES:
        out[4 * i + k - first % 4] = v[k]


@vyre.kernel(workgroup_size=256)
def _even_words(out: Out[vec4], seed: u64, stream: u64, first: u32) -> None:
    """The same from a `first` that begins a block, to the end of one; so are the others."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    out[i] = vec4(v[0], v[1], v[2], v[3])


@vyre.kernel
def _uniform(out: Out[f32], seed: u64, stream: u64, first: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    for k in _LANES:
        out[4 * i + k - first % 4] = uniform(v[k])


@vyre.kernel(workgroup_size=256)
def _even_uniform(out: Out[vec4], seed: u64, stream: u64, first: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    for k in _LANES:
        v[k] = vyre.bitcast(uniform(v[k]), u32)
    out[i] = vec4(v[0], v[1], v[2], v[3])


@vyre.kernel
def _normal(out: Out[f32], seed: u64, stream: u64, first: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    normals(v)
    for k in _LANES:
        out[4 * i + k - first % 4] = vyre.bitcast(v[k], f32)


@vyre.kernel(workgroup_size=256)
def _even_normal(out: Out[vec4], seed: u64, stream: u64, first: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    v = vyre.private(u32, 4)
    block(v, first // 4 + i, seed, stream)
    normals(v)
    out[i] = vec4(v[0], v[1], v[2], v[3])


def _made(
    kernel: Any, even: Any, dtype: Any, out: Any, seed: int, stream: int, first: int,
    backend: str | Backend | None,
) -> Any:  # fmt: skip
    seed, stream, first = whole("seed", seed), whole("stream", stream), whole("first", first)
    for name, value in (("seed", seed), ("stream", stream)):
        if not 0 <= value < 1 << 64:
            raise DispatchError(f"the {name} {value} has more than 64 bits.", fix="pass 0 to 2^64 - 1.")
    alone = _is_number(out)
    count = whole("out", out) if alone else int(out.size)
    if first < 0 or count < 0:
        raise DispatchError(
            f"a stream does not have {count} elements from element {first} on.", fix="pass 0 or more."
        )
    if first + count > 1 << 32:
        raise DispatchError(
            f"elements {first} to {first + count} reach beyond a stream of 2^32.",
            fix="take another stream.",
        )
    if backend is None and isinstance(out, DeviceBuffer):
        backend = out.backend
    if isinstance(out, DeviceBuffer) and out.dtype == dtype and _in_fours(out, first):
        four = out.seen_as(np.dtype(np.uint32), lanes=4)
        even(four, seed, stream, first, workgroups=grid(-(-count // 16)), backend=backend)
        return out
    if not count:  # `first` may be the end of the stream, which the kernel has no number for
        return np.zeros(0, dtype) if alone else out
    if not alone and issubclass(type(out), np.ndarray):
        _refuse_unfit(out, np.dtype(dtype))
    target = np.zeros(count, dtype) if alone else out
    return kernel(target, seed, stream, first, workgroups=grid(count // 4 + 2), backend=backend)


def _refuse_unfit(out: Any, dtype: np.dtype[Any]) -> None:
    """What is on a device is looked at where it is bound."""
    fits = out.dtype == dtype and out.flags.c_contiguous and out.flags.writeable
    if not fits:
        raise DispatchError(
            f"an array of {out.dtype} cannot be filled with {dtype}, or is read-only or not contiguous.",
            fix=f"pass np.empty(count, np.{dtype}), or the count alone.",
        )


def _is_number(out: Any) -> bool:
    """Whether it can only be how many; numbers of NumPy have a size, too."""
    return isinstance(out, np.integer) or not hasattr(out, "size")


def _in_fours(out: DeviceBuffer, first: int) -> bool:
    """Whether four elements can be stored at once, in the memory of a device of its own."""
    memory = out.memory
    return not (
        isinstance(memory, HostMemory) or first % 4 or not out.size or out.size % 4 or memory.span[1] % 16
    )


@boundary
def philox_u32(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """Elements `first`, `first` + 1, … of a stream: `out` is their number, or the array of uint32 to fill."""
    return _made(_words, _even_words, np.uint32, out, seed, stream, first, backend)


@boundary
def philox_uniform(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """The same as float32 from 0 to 1, without 1: the high 24 bits of each element, times 2^-24."""
    return _made(_uniform, _even_uniform, np.float32, out, seed, stream, first, backend)


@boundary
def philox_normal(
    out: Any, *, seed: int, stream: int = 0, first: int = 0, backend: str | Backend | None = None
) -> Any:
    """The same as float32 of the normal distribution, mean 0 and deviation 1, by Box and Muller."""
    return _made(_normal, _even_normal, np.float32, out, seed, stream, first, backend)
