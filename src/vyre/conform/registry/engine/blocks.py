"""The spec of bytes packed as blocks of LZ4: `vyre.library.decoding.encode_lz4`, byte for byte.

The oracle is the same search in plain Python, over slices of bytes and with a dictionary of places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import CallSubject, letters, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.registry.engine.called import Array, Inputs

_PLACE = 1 << 40


def _draw(rng: np.random.Generator, index: int, count: int) -> Inputs:
    """Few letters, one letter, all bytes, or a text that comes again with some bytes changed."""
    match index % 4:
        case 0:
            return {"input": letters(rng, count, b"ab" if index % 8 else b"abcdefgh")}
        case 1:
            return {"input": np.full(count, 65 + index % 26, np.uint8)}
        case 2:
            return {"input": rng.integers(0, 256, count, dtype=np.uint8)}
        case _:
            data = np.resize(rng.integers(97, 123, 37, dtype=np.uint8), count)
            data[rng.integers(0, count, count // 40 if count else 0)] = 33
            return {"input": data}


def _texts(inputs: Inputs) -> list[bytes]:
    """All of the input and parts of it, some of which are too short for a match."""
    data = inputs["input"].tobytes()
    return [data, data[: len(data) // 2], data[-13:], data[:12], data[:1], data[len(data) // 3 :]]


def _call(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    values, offsets = library.decoding.encode_lz4(_texts(inputs), backend=backend)
    return {"output": values, "offsets": offsets}


def _told(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    ends = numbers(_PLACE + int(x) for x in outputs["offsets"])
    return np.concatenate([outputs["output"].astype(np.uint64), ends])


def _slot(text: bytes, at: int) -> int:
    word = int.from_bytes(text[at : at + 4], "little")
    return (word * 0x9E3779B1 + text[at + 4] * 0x85EBCA77) % (1 << 32) >> 19


def _more(length: int) -> bytes:
    """What comes after a token for a length of 15 or more."""
    return b"" if length < 15 else b"\xff" * ((length - 15) // 255) + bytes([(length - 15) % 255])


def _sequence(literals: bytes, back: int, length: int) -> bytes:
    token = bytes([min(len(literals), 15) << 4 | min(length - 4, 15)])
    return token + _more(len(literals)) + literals + back.to_bytes(2, "little") + _more(length - 4)


def _block(text: bytes) -> bytes:
    made, seen = b"", dict[int, int]()
    at, done, tries = 1, 0, 64
    while at <= len(text) - 12:
        was = seen.get(_slot(text, at), 0)
        seen[_slot(text, at)] = at
        if text[was : was + 4] != text[at : at + 4]:
            at, tries = at + (tries >> 6), tries + 1
            continue
        back = at - was
        while at > max(done, back) and text[at - 1] == text[at - back - 1]:
            at -= 1
        end = at + 4
        while end < len(text) - 5 and text[end] == text[end - back]:
            end += 1
        made += _sequence(text[done:at], back, end - at)
        at, done, tries = end, end, 64
        seen[_slot(text, at - 2)] = at - 2
    tail = text[done:]
    return made + bytes([min(len(tail), 15) << 4]) + _more(len(tail)) + tail


def _packed(inputs: Inputs, index: int) -> Array:
    made = [_block(text) for text in _texts(inputs)]
    ends = np.cumsum([0, *map(len, made)]).tolist()
    return numbers([*b"".join(made), *(_PLACE + end for end in ends)])


LZ4_PACKED = CallSubject("lz4_packed", "bytes packed as blocks of LZ4", _draw, _call, _packed, _told)

SPECS = (LZ4_PACKED.spec(),)
