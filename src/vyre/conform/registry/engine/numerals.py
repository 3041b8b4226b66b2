"""Specs of numbers as text and of blocks of LZ4: `vyre.library.decoding`. Even variants print, odd parse.

The texts of a case are the lines of its input, so that any cut of it is a case, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import CallSubject, letters, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.registry.engine.called import Array, Inputs

_FLOAT = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FEW = 40
"""Texts of a case: a number takes an invocation thousands of turns."""
_WRONG = 1 << 40


def _texts(inputs: Inputs) -> list[bytes]:
    return inputs["input"].tobytes().split(b"\n")[:_FEW]


def _values(inputs: Inputs, kind: Any) -> Array:
    """The input's own bytes as numbers."""
    data = inputs["input"]
    return np.frombuffer(data.tobytes()[: data.size // 8 * 8], kind)[:_FEW]


def _printed(found: tuple[Array, Array]) -> Mapping[str, Any]:
    return {"output": found[0], "offsets": found[1]}


def _parsed(found: Any) -> Mapping[str, Any]:
    return {"output": found.values, "offsets": found.errors.astype(np.int64)}


def _told(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    values = outputs["output"].view(f"<u{outputs['output'].itemsize}").astype(np.uint64)
    return np.concatenate([values, numbers(_WRONG + int(x) + 1 for x in outputs["offsets"])])


def _of_texts(texts: Sequence[str]) -> Array:
    """All bytes, and where each text begins."""
    ends = np.cumsum([0, *map(len, texts)]).tolist()
    return numbers([*"".join(texts).encode(), *(_WRONG + end + 1 for end in ends)])


def _draw_integers(rng: np.random.Generator, index: int, count: int) -> Inputs:
    if index % 2 == 0:
        return {"input": rng.integers(0, 256, count, dtype=np.uint8)}
    data = letters(rng, count, b"0123456789012345678901234567890123456789+--x\n\n\n\n").copy()
    edge = np.frombuffer(b"\n9223372036854775807\n-9223372036854775808\n9223372036854775808\n", np.uint8)
    if count > edge.size:
        data[: edge.size] = edge
    return {"input": data}


def _call_integers(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = library.decoding
    if index % 2 == 0:
        return _printed(found.print_integers(_values(inputs, np.int64), backend=backend))
    return _parsed(found.parse_integers(_texts(inputs), backend=backend))


def _integer(text: bytes) -> tuple[int, int]:
    """The number, or 0, and the place of what does not belong, or -1."""
    signed = text[:1] in (b"+", b"-")
    value = 0
    for at in range(signed, len(text)):
        if not 48 <= text[at] <= 57:
            return 0, at
        value = 10 * value + text[at] - 48
        if value > (1 << 63) - (text[:1] != b"-"):
            return 0, at
    if len(text) == signed:
        return 0, len(text)
    return (-value if text[:1] == b"-" else value) % (1 << 64), -1


def _integers(inputs: Inputs, index: int) -> Array:
    if index % 2 == 0:
        return _of_texts([str(x) for x in _values(inputs, np.int64).tolist()])
    found = [_integer(text) for text in _texts(inputs)]
    return numbers([*(value for value, _ in found), *(_WRONG + error + 1 for _, error in found)])


INTEGERS = CallSubject(
    "integers_as_text",
    "integers of 64 bits as decimal text, or back",
    _draw_integers,
    _call_integers,
    _integers,
    _told,
)


def _draw_floats(rng: np.random.Generator, index: int, count: int) -> Inputs:
    if index % 2 == 0:
        return {"input": rng.integers(0, 256, count, dtype=np.uint8)}
    return {"input": letters(rng, count, b"01234567890123456789..-ee\n\n\n")}


def _call_floats(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = library.decoding
    if index % 2 == 0:
        return _printed(found.print_floats(_values(inputs, np.float64), backend=backend))
    made = found.parse_floats(_texts(inputs), backend=backend)
    return {"output": made.values, "offsets": np.minimum(made.errors.astype(np.int64), 0)}


def _floats(inputs: Inputs, index: int) -> Array:
    if index % 2 == 0:
        return _of_texts([repr(x) for x in _values(inputs, np.float64).tolist()])
    found = [float(text) if _FLOAT.fullmatch(text) else None for text in _texts(inputs)]
    bits = np.array([x or (0.0 if x is None else x) for x in found], np.float64).view(np.uint64)
    return numbers([*bits.tolist(), *(_WRONG + (x is None) for x in found)])


FLOATS = CallSubject(
    "floats_as_text",
    "floats of 64 bits as the shortest decimal text, or the nearest one back",
    _draw_floats,
    _call_floats,
    _floats,
    _told,
    effort=1 << 12,
)


def _draw_block(rng: np.random.Generator, index: int, count: int) -> Inputs:
    """Sequences of literals and of copies from up to 9 bytes before; in some cases with a byte changed."""
    made = bytearray()
    while len(made) < count:
        literals, length = int(rng.integers(0, 20)), int(rng.integers(0, 40))
        made.append(min(literals, 15) << 4 | min(length, 15))
        made += bytes([literals - 15]) if literals >= 15 else b""
        made += rng.integers(97, 101, literals, dtype=np.uint8).tobytes()
        made += bytes([int(rng.integers(1, min(9, max(2, literals)))), 0])
        made += bytes([length - 15]) if length >= 15 else b""
    block = np.frombuffer(bytes(made[:count]), np.uint8).copy()
    if count and index % 3 == 2:
        block[rng.integers(count)] = rng.integers(256)
    return {"input": block}


def _blocks(inputs: Inputs) -> list[bytes]:
    """Parts of the input, most of which end in the middle of a sequence."""
    data = inputs["input"].tobytes()
    return [data, data[: len(data) // 2], data[len(data) // 3 :], data[:1], data]


def _call_lz4(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = library.decoding.decode_lz4(_blocks(inputs), backend=backend)
    return {"output": found.values, "offsets": np.concatenate([found.offsets, found.errors])}


def _unpacked(block: bytes) -> tuple[bytes, int]:
    """What a block unpacks to, up to its error, and the place of that, or -1."""
    made, at = bytearray(), 0
    while True:
        begin = at
        if at >= len(block):
            return bytes(made), begin
        token = block[at]
        literals, at = _length(block, at + 1, token >> 4)
        if literals is None or literals > len(block) - at:
            return bytes(made), begin
        tail = block[at : at + literals]
        at += literals
        if at == len(block):
            return bytes(made) + tail, -1
        if len(block) - at < 2:
            return bytes(made), begin
        offset, where = block[at] | block[at + 1] << 8, at
        length, at = _length(block, at + 2, token & 15)
        if offset == 0 or offset > len(made) + literals:
            return bytes(made), where
        if length is None:
            return bytes(made), begin
        made += tail
        for _ in range(length + 4):
            made.append(made[-offset])


def _length(block: bytes, at: int, low: int) -> tuple[int | None, int]:
    """A length that goes on while bytes are 255, and where it ends; None where it is cut short."""
    if low < 15:
        return low, at
    while at < len(block):
        low += block[at]
        at += 1
        if block[at - 1] < 255:
            return low, at
    return None, at


def _lz4(inputs: Inputs, index: int) -> Array:
    found = [_unpacked(block) for block in _blocks(inputs)]
    ends = np.cumsum([0, *(len(made) for made, _ in found)]).tolist()
    told = [*ends, *(error for _, error in found)]
    return numbers([*b"".join(made for made, _ in found), *(_WRONG + x + 1 for x in told)])


LZ4 = CallSubject(
    "lz4", "what blocks of LZ4 unpack to", _draw_block, _call_lz4, _lz4, _told, growth=64, effort=256
)

SPECS = tuple(s.spec() for s in (INTEGERS, FLOATS, LZ4))
