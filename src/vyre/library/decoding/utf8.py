"""UTF-8 (RFC 3629): validated, decoded to code points and encoded, all bytes at once.

Whether a byte begins a valid sequence, or belongs to one, is seen from the three bytes on either side of it;
the first place where neither is so is the one at which a decoder from left to right stops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, engines, packed_bytes, u8, u32
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import Decoded, place_of
from vyre.library.messages import grid, native, words_of
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend


def length_of(lead: u32) -> u32:
    """How many bytes a sequence with this first byte has; 0 where none begins with it."""
    several = u32(2) if lead < 0xE0 else u32(3) if lead < 0xF0 else u32(4)
    many = several if lead - 0xC2 < 0x33 else u32(0)
    return u32(1) if lead < 0x80 else many


def continues(byte: u32) -> u32:
    return u32(1) if byte & 0xC0 == 0x80 else u32(0)


def is_whole(a: u32, b: u32, c: u32, d: u32) -> u32:
    """1 where a first byte and the three after it hold a valid sequence."""
    size = length_of(a)
    least = u32(0xA0) if a == 0xE0 else u32(0x90) if a == 0xF0 else u32(0x80)
    most = u32(0x9F) if a == 0xED else u32(0x8F) if a == 0xF4 else u32(0xBF)
    two = b >= least and b <= most
    three = two and continues(c)
    four = three and continues(d)
    wide = two if size == 2 else three if size == 3 else four
    return u32(1) if size == 1 or (size > 1 and wide) else u32(0)


@vyre.kernel
def _sequences(data: In[packed_bytes], begins: Out[u32], error: Out[u32, Literal[1]], size: u32) -> None:
    """1 where a valid sequence begins; the first byte that is in none is marked."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= size:
        return
    byte = byte_at(data, i)
    if continues(byte) == 1:
        before, second, third = byte_at(data, i - 1), byte_at(data, i - 2), byte_at(data, i - 3)
        inside = i > 0 and length_of(before) > 1
        inside = inside or (i > 1 and continues(before) and length_of(second) > 2)
        inside = inside or (i > 2 and continues(before) and continues(second) and length_of(third) > 3)
        if not inside:
            vyre.atomic_max(error, 0, ~i)
    else:
        second, third, fourth = byte_at(data, i + 1), byte_at(data, i + 2), byte_at(data, i + 3)
        if is_whole(byte, second, third, fourth) == 1:
            begins[i] = 1
        else:
            vyre.atomic_max(error, 0, ~i)


@vyre.kernel
def _points(data: In[packed_bytes], begins: In[u32], places: In[u32], out: Out[u32], size: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < size and begins[i] == 1:
        a, b, c, d = byte_at(data, i), byte_at(data, i + 1), byte_at(data, i + 2), byte_at(data, i + 3)
        two = (a & 0x1F) << 6 | (b & 0x3F)
        three = (a & 0x0F) << 12 | (b & 0x3F) << 6 | (c & 0x3F)
        four = (a & 0x07) << 18 | (b & 0x3F) << 12 | (c & 0x3F) << 6 | (d & 0x3F)
        out[places[i] - 1] = a if a < 0x80 else two if a < 0xE0 else three if a < 0xF0 else four


@vyre.kernel
def _sizes(points: In[u32], out: Out[u32], error: Out[u32, Literal[1]]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(points):
        return
    point = points[i]
    if point > 0x10FFFF or point - 0xD800 < 0x800:
        vyre.atomic_max(error, 0, ~i)
    out[i] = u32(1) if point < 0x80 else u32(2) if point < 0x800 else u32(3) if point < 0x10000 else u32(4)


@vyre.kernel
def _bytes(points: In[u32], ends: In[u32], out: Out[u8], count: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= count:
        return
    point, end = points[i], ends[i]
    if point < 0x80:
        out[end - 1] = point
    else:
        out[end - 1] = 0x80 | (point & 0x3F)
        if point < 0x800:
            out[end - 2] = 0xC0 | point >> 6
        else:
            out[end - 2] = 0x80 | (point >> 6 & 0x3F)
            if point < 0x10000:
                out[end - 3] = 0xE0 | point >> 12
            else:
                out[end - 3] = 0x80 | (point >> 12 & 0x3F)
                out[end - 4] = 0xF0 | point >> 18


@boundary
def validate_utf8(text: Any, *, backend: str | Backend | None = None) -> int | None:
    """The place at which decoding stops, as `UnicodeDecodeError.start`; None for valid text."""
    given, backend = words_of(text, "text", backend)
    size = given.size
    _, mark = _sequences(given, np.zeros(size, np.uint32), size=size, workgroups=grid(size), backend=backend)
    return place_of(mark)


@boundary
def decode_utf8(text: Any, *, backend: str | Backend | None = None) -> Decoded:
    """The code points, as uint32."""
    given, backend = words_of(text, "text", backend)
    size = given.size
    begins, mark = _sequences(
        given, np.zeros(size, np.uint32), size=size, workgroups=grid(size), backend=backend
    )
    error = place_of(mark)
    valid = size if error is None else error
    if not valid:
        return Decoded(np.zeros(0, np.uint32), error)
    places = engines.scan(begins, backend=backend)
    points = np.zeros(int(places[valid - 1]), np.uint32)
    _points(given, begins, places, points, valid, workgroups=grid(valid), backend=backend)
    return Decoded(points, error)


@boundary
def encode_utf8(points: Any, *, backend: str | Backend | None = None) -> Decoded:
    """The bytes of code points, an array of uint32. Surrogates, and what is past 0x10FFFF, do not belong."""
    given = native("points", points)
    if given.dtype != np.uint32 or given.ndim != 1:
        raise DispatchError(
            f"points have the type {given.dtype} and the shape {given.shape}.",
            fix="pass vyre.array(points, vyre.u32).",
        )
    if not len(given):
        return Decoded(np.zeros(0, np.uint8), None)
    sizes, mark = _sizes(given, np.zeros(len(given), np.uint32), workgroups=grid(len(given)), backend=backend)
    error = place_of(mark)
    count = len(given) if error is None else error
    if not count:
        return Decoded(np.zeros(0, np.uint8), error)
    ends = engines.scan(sizes, backend=backend)
    out = np.zeros(int(ends[count - 1]), np.uint8)
    _bytes(given, ends, out, count, workgroups=grid(count), backend=backend)
    return Decoded(out, error)
