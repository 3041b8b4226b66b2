"""Specs of decoding and encoding: `vyre.library.decoding`. Even variants encode, odd ones decode.

Text that is to be decoded is spoiled at one place in half of the cases: what is wrong has its place.
"""

from __future__ import annotations

import base64
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import CallSubject, letters, numbers, place, with_place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.registry.engine.called import Array, Inputs

_WIDTH = 13
_LARGEST = 0x10FFFF


def _text(inputs: Inputs) -> bytes:
    return inputs["input"].tobytes()


def _spoiled(rng: np.random.Generator, data: Array) -> Array:
    """One byte changed in every other case."""
    changed = data.copy()
    if changed.size and rng.integers(2):
        changed[rng.integers(changed.size)] = rng.integers(256)
    return changed


def decoded(found: Any) -> Mapping[str, Any]:
    """What a decoder gives, as outputs."""
    return {"output": found.values, "error": np.array([place(found.error)], np.uint64)}


def encoded(values: Array) -> Mapping[str, Any]:
    return {"output": values, "error": np.array([place(None)], np.uint64)}


def _told(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    return with_place(outputs["output"], outputs["error"])


def _any_bytes(rng: np.random.Generator, count: int) -> Array:
    return rng.integers(0, 256, count, dtype=np.uint8)


def _draw_hex(rng: np.random.Generator, index: int, count: int) -> Inputs:
    if index % 2 == 0:
        return {"input": _any_bytes(rng, count)}
    return {"input": _spoiled(rng, letters(rng, count, b"0123456789abcdefABCDEF"))}


def _call_hex(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    if index % 2 == 0:
        return encoded(found.encode_hex(data, backend=backend))
    return decoded(found.decode_hex(data, backend=backend))


def _hex(inputs: Inputs, index: int) -> Array:
    text = _text(inputs)
    if index % 2 == 0:
        return numbers([*text.hex().encode(), place(None)])
    error = next((k for k, c in enumerate(text) if c not in b"0123456789abcdefABCDEF"), None)
    if len(text) % 2 and (error is None or error == len(text) - 1):
        error = len(text) - 1
    good = text if error is None else text[: error // 2 * 2]
    return numbers([*bytes.fromhex(good.decode()), place(error)])


HEX = CallSubject("hex", "bytes as hexadecimal digits, or back", _draw_hex, _call_hex, _hex, _told)


def _draw_base64(rng: np.random.Generator, index: int, count: int) -> Inputs:
    data = _any_bytes(rng, count)
    if index % 2 == 0:
        return {"input": data}
    return {"input": _spoiled(rng, np.frombuffer(base64.b64encode(data.tobytes()), np.uint8))}


def _call_base64(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    if index % 2 == 0:
        return encoded(found.encode_base64(data, backend=backend))
    return decoded(found.decode_base64(data, backend=backend))


def _base64(inputs: Inputs, index: int) -> Array:
    text = _text(inputs)
    if index % 2 == 0:
        return numbers([*base64.b64encode(text), place(None)])
    groups = len(text) // 4
    error = next((k for k in range(4 * groups) if not _belongs(text, k, groups)), None)
    if error is None and len(text) % 4:
        error = 4 * groups
    good = text if error is None else text[: error // 4 * 4]
    return numbers([*base64.b64decode(good), place(error)])


def _belongs(text: bytes, k: int, groups: int) -> bool:
    """Whether a character may stand there: one of the alphabet, or padding at the end of the last group."""
    if (chr(text[k]).isalnum() and text[k] < 128) or text[k] in b"+/":
        return True
    last = k // 4 == groups - 1
    return text[k] == ord("=") and last and (k % 4 == 3 or (k % 4 == 2 and text[k + 1] == ord("=")))


BASE64 = CallSubject("base64", "bytes as base64, or back", _draw_base64, _call_base64, _base64, _told)


def _varints(values: Array) -> bytes:
    made = bytearray()
    for value in values.tolist():
        while value > 127:
            made.append(value & 127 | 128)
            value >>= 7
        made.append(value)
    return bytes(made)


def _draw_varint(rng: np.random.Generator, index: int, count: int) -> Inputs:
    wide = rng.integers(0, 1 << 63, count, dtype=np.uint64) >> rng.integers(0, 63, count, dtype=np.uint64)
    if index % 2 == 0:
        return {"input": wide}
    text = np.frombuffer(_varints(wide), np.uint8)[:count]
    return {"input": _spoiled(rng, text)}


def _call_varint(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    if index % 2 == 0:
        return encoded(found.encode_varint(data, backend=backend))
    return decoded(found.decode_varint(data, backend=backend))


def _varint(inputs: Inputs, index: int) -> Array:
    if index % 2 == 0:
        return numbers([*_varints(inputs["input"]), place(None)])
    found: list[int] = []
    value, size = 0, 0
    for at, byte in enumerate(_text(inputs)):
        value |= (byte & 127) << 7 * size
        size += 1
        if size == 10 and byte > 1:
            return numbers([*found, place(at)])
        if byte < 128:
            found.append(value)
            value, size = 0, 0
    return numbers([*found, place(len(_text(inputs)) - size if size else None)])


VARINT = CallSubject(
    "varint", "numbers of seven bits a byte, or back", _draw_varint, _call_varint, _varint, _told, growth=16
)


def _draw_utf8(rng: np.random.Generator, index: int, count: int) -> Inputs:
    top = np.array([0x7F, 0x7FF, 0xFFFF, _LARGEST])[rng.integers(0, 4, count)]
    points = (rng.integers(0, 1 << 31, count) % (top + 1)).astype(np.uint32)
    points[(points >= 0xD800) & (points < 0xE000)] -= np.uint32(0x3000)
    if index % 2:
        text = "".join(map(chr, points.tolist())).encode()[:count]
        return {"input": _spoiled(rng, np.frombuffer(text, np.uint8))}
    if count and rng.integers(2):
        points[rng.integers(count)] = (0xD800, 0xDFFF, _LARGEST + 1, 0xFFFF_FFFF)[int(rng.integers(4))]
    return {"input": points}


def _call_utf8(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    called = (library.decoding.encode_utf8, library.decoding.decode_utf8)[index % 2]
    return decoded(called(inputs["input"], backend=backend))


def _utf8(inputs: Inputs, index: int) -> Array:
    if index % 2 == 0:
        points = inputs["input"].tolist()
        error = next((k for k, p in enumerate(points) if 0xD800 <= p < 0xE000 or p > _LARGEST), None)
        return numbers([*"".join(map(chr, points[:error])).encode(), place(error)])
    text = _text(inputs)
    try:
        return numbers([*map(ord, text.decode()), place(None)])
    except UnicodeDecodeError as wrong:
        return numbers([*map(ord, text[: wrong.start].decode()), place(wrong.start)])


UTF8 = CallSubject("utf8", "code points as UTF-8, or back", _draw_utf8, _call_utf8, _utf8, _told, growth=8)


def _draw_runs(rng: np.random.Generator, index: int, count: int) -> Inputs:
    values = rng.integers(0, 3, count, dtype=np.uint32)
    return {"input": values, "lengths": rng.integers(0, 6, count, dtype=np.uint32)}


def _call_runs(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    if index % 2:
        return {"output": found.decode_runs(data, inputs["lengths"], backend=backend), "lengths": _none()}
    values, lengths = found.encode_runs(data, backend=backend)
    return {"output": values, "lengths": lengths}


def _none() -> Array:
    return np.zeros(0, np.uint32)


def _runs(inputs: Inputs, index: int) -> Array:
    if index % 2:
        return np.repeat(inputs["input"], inputs["lengths"]).astype(np.uint64)
    return numbers(len(list(run)) << 32 | value for value, run in groupby(inputs["input"].tolist()))


def _paired(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    values, lengths = outputs["output"].astype(np.uint64), outputs["lengths"].astype(np.uint64)
    return lengths << np.uint64(32) | values if lengths.size else values


def _short_runs(inputs: Inputs) -> bool:
    """Lengths that a case is cut to may count up, and its room is for short ones."""
    return not inputs["lengths"].size or int(inputs["lengths"].max()) < 6


RUNS = CallSubject(
    "runs",
    "the runs of equal numbers and their lengths, or back",
    _draw_runs,
    _call_runs,
    _runs,
    _paired,
    elements=("input", "lengths"),
    lawful=_short_runs,
)


def _draw_words(rng: np.random.Generator, index: int, count: int) -> Inputs:
    return {"input": rng.integers(0, 1 << 32, count, dtype=np.uint32)}


def _call_steps(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    match index % 4:
        case 0:
            return {"output": found.encode_zigzag(data.view(np.int32), backend=backend)}
        case 1:
            return {"output": found.decode_zigzag(data, backend=backend)}
        case 2:
            return {"output": found.encode_delta(data, backend=backend)}
        case _:
            return {"output": found.decode_delta(data, backend=backend)}


def _steps(inputs: Inputs, index: int) -> Array:
    data = inputs["input"].tolist()
    signed = inputs["input"].view(np.int32).tolist()
    match index % 4:
        case 0:
            return numbers(2 * x if x >= 0 else -2 * x - 1 for x in signed)
        case 1:
            return numbers((x // 2 if x % 2 == 0 else -(x + 1) // 2) % (1 << 32) for x in data)
        case 2:
            return numbers((b - a) % (1 << 32) for a, b in zip([0, *data], data, strict=False))
        case _:
            return numbers(sum(data[: k + 1]) % (1 << 32) for k in range(len(data)))


STEPS = CallSubject(
    "zigzag_and_delta",
    "numbers made small by sign or by difference, or back",
    _draw_words,
    _call_steps,
    _steps,
)


def _draw_bits(rng: np.random.Generator, index: int, count: int) -> Inputs:
    words = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    if index % 2:
        return {"input": words}
    small = words & np.uint32((1 << _WIDTH) - 1)
    if count and rng.integers(2):
        small[rng.integers(count)] |= np.uint32(1 << _WIDTH)
    return {"input": small}


def _call_bits(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, found = inputs["input"], library.decoding
    if index % 2 == 0:
        return decoded(found.pack_bits(data, _WIDTH, backend=backend))
    return decoded(found.unpack_bits(data, 2 * len(data) + 1, _WIDTH, backend=backend))


def _bits(inputs: Inputs, index: int) -> Array:
    data = inputs["input"].tolist()
    if index % 2 == 0:
        error = next((k for k, x in enumerate(data) if x >> _WIDTH), None)
        whole = sum(x << _WIDTH * k for k, x in enumerate(data[:error]))
        count = -(-len(data[:error]) * _WIDTH // 32)
        return numbers([*(whole >> 32 * k & 0xFFFF_FFFF for k in range(count)), place(error)])
    whole = int.from_bytes(inputs["input"].tobytes(), "little")
    wanted, there = 2 * len(data) + 1, len(data) * 32 // _WIDTH
    found = [whole >> _WIDTH * k & (1 << _WIDTH) - 1 for k in range(min(wanted, there))]
    return numbers([*found, place(None if there >= wanted else there)])


BITS = CallSubject("bits", "numbers of 13 bits packed, or back", _draw_bits, _call_bits, _bits, _told)

SPECS = tuple(s.spec() for s in (HEX, BASE64, VARINT, UTF8, RUNS, STEPS, BITS))
