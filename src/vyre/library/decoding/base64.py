"""Base64 (RFC 4648) with its padding, both alphabets; an invocation four groups: 12 bytes, 16 characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32
from vyre.backends.device_buffer import DeviceBuffer
from vyre.errors import boundary
from vyre.library.decoding.result import Decoded, first_of, place_of
from vyre.library.messages import grid, words_of
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_PLAIN, _URL = ord("+") | ord("/") << 8, ord("-") | ord("_") << 8
_FOUR = tuple(range(4))


def character(six: u32, last: u32) -> u32:
    """Of six bits; `last` holds the two characters after the digits."""
    small = six + 71 if six > 25 else six + 65
    other = last & 255 if six == 62 else last >> 8
    return small if six < 52 else six - 4 if six < 62 else other


def six_bits(character: u32, last: u32) -> u32:
    """Of a character; 64 for what is none."""
    capital, small, digit = character - 65, character - 97, character - 48
    letter = capital if capital < 26 else small + 26 if small < 26 else u32(64)
    other = u32(62) if character == last & 255 else u32(63) if character == last >> 8 else letter
    return digit + 52 if digit < 10 else other


@vyre.kernel
def _encode(data: In[packed_bytes], out: Out[u32], size: u32, last: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    for k in _FOUR:
        place = 12 * i + 3 * k
        if place < size:
            bits = byte_at(data, place) << 16 | byte_at(data, place + 1) << 8 | byte_at(data, place + 2)
            word = character(bits >> 18, last) | character(bits >> 12 & 63, last) << 8
            third = character(bits >> 6 & 63, last) if place + 1 < size else u32(61)
            fourth = character(bits & 63, last) if place + 2 < size else u32(61)
            out[4 * i + k] = word | third << 16 | fourth << 24


@vyre.kernel
def _decode(text: In[packed_bytes], out: Out[u32], error: Out[u32, Literal[1]], size: u32, last: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    made = vyre.private(u32, 4)
    for k in _FOUR:
        group = 4 * i + k
        if group < size // 4:
            word = text[group]
            bits = u32(0)
            for j in _FOUR:
                byte = word >> (8 * j) & 255
                six = six_bits(byte, last)
                if six > 63:
                    padding = j == 3 or (j == 2 and word >> 24 == 61)
                    if byte != 61 or 4 * group + 4 != size or not padding:
                        vyre.atomic_max(error, 0, ~(4 * group + j))
                    six = 0
                bits = bits << 6 | six
            made[k] = (bits >> 16 & 255) | (bits & 0xFF00) | (bits & 255) << 16
    out[3 * i] = made[0] | made[1] << 24
    out[3 * i + 1] = made[1] >> 8 | made[2] << 16
    out[3 * i + 2] = made[2] >> 16 | made[3] << 8


def _padding(text: Any) -> int:
    flat: NDArray[np.uint8] = (text.numpy() if isinstance(text, DeviceBuffer) else text).reshape(-1)
    return int((flat[-2:] == ord("=")).sum())


@boundary
def encode_base64(data: Any, *, url: bool = False, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """Four characters for three bytes, with padding; `url` takes - and _ for + and /."""
    given, backend = words_of(data, "data", backend)
    groups = -(-given.size // 3)
    made = _encode(
        given, np.zeros(groups, np.uint32), given.size, _URL if url else _PLAIN,
        workgroups=grid(-(-groups // 4)), backend=backend,
    )  # fmt: skip
    return made.view(np.uint8)


@boundary
def decode_base64(text: Any, *, url: bool = False, backend: str | Backend | None = None) -> Decoded:
    """The bytes. Padding is needed, and nothing but the alphabet belongs; bits that padding leaves over are
    not looked at."""
    given, backend = words_of(text, "text", backend)
    groups = given.size // 4
    turns = -(-groups // 4)
    made, mark = _decode(
        given, np.zeros(3 * turns, np.uint32), size=given.size, last=_URL if url else _PLAIN,
        workgroups=grid(turns), backend=backend,
    )  # fmt: skip
    error = first_of(place_of(mark), 4 * groups if given.size % 4 else None)
    size = 3 * (groups if error is None else error // 4)
    if error is None and groups:
        size -= _padding(given)
    return Decoded(made.view(np.uint8)[:size], error)
