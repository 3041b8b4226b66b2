"""Bytes as hexadecimal digits and back, either case; an invocation a word of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32
from vyre.errors import boundary
from vyre.library.decoding.result import Decoded, first_of, place_of
from vyre.library.messages import grid, words_of
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend


def digits(pair: u32) -> u32:
    """The four digits of two bytes, the high digit of the lower byte lowest, all at once."""
    x = (pair & 0xF0) >> 4 | (pair & 0x0F) << 8 | (pair & 0xF000) << 4 | (pair & 0x0F00) << 16
    return x + 0x30303030 + ((x + 0x06060606) >> 4 & 0x01010101) * 39


def value(digit: u32) -> u32:
    """Of a digit; 16 for what is none."""
    letter = (digit | 32) - 97
    number = digit - 48
    return number if number < 10 else letter + 10 if letter < 6 else u32(16)


@vyre.kernel
def _encode(data: In[packed_bytes], out: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    word = data[i]
    out[2 * i] = digits(word & 0xFFFF)
    out[2 * i + 1] = digits(word >> 16)


@vyre.kernel
def _decode(text: In[packed_bytes], out: Out[u32], error: Out[u32, Literal[1]], pairs: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    word = u32(0)
    for k in range(4):
        if i * 4 + k < pairs:
            place = i * 8 + 2 * k
            high, low = value(byte_at(text, place)), value(byte_at(text, place + 1))
            if high > 15:
                vyre.atomic_max(error, 0, ~place)
            elif low > 15:
                vyre.atomic_max(error, 0, ~(place + 1))
            word |= ((high << 4 | low) & 255) << (8 * k)
    out[i] = word


@boundary
def encode_hex(data: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """Two small digits a byte."""
    given, backend = words_of(data, "data", backend)
    words = -(-given.size // 4)
    made = _encode(given, np.zeros(2 * words, np.uint32), workgroups=grid(words), backend=backend)
    return made.view(np.uint8)[: 2 * given.size]


@boundary
def decode_hex(text: Any, *, backend: str | Backend | None = None) -> Decoded:
    """The bytes; a digit without its second one is cut short."""
    given, backend = words_of(text, "text", backend)
    pairs = given.size // 2
    words = -(-pairs // 4)
    made, mark = _decode(
        given, np.zeros(words, np.uint32), pairs=pairs, workgroups=grid(words), backend=backend
    )
    error = first_of(place_of(mark), given.size - 1 if given.size % 2 else None)
    return Decoded(made.view(np.uint8)[: pairs if error is None else error // 2], error)
