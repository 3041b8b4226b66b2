"""Integers are parsed and printed as Python does it, on every backend; what is no integer says where."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.library import decoding

KINDS = (np.int64, np.uint64, np.int32, np.uint32)
rng = random.Random(17)


def numbers(kind: Any) -> list[int]:
    """The ends of the range, powers of two and of ten with their neighbours, and numbers of every length."""
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    near = [p + d for p in (*(2**k for k in range(65)), *(10**k for k in range(20))) for d in (-1, 0, 1)]
    drawn = [rng.getrandbits(k) for k in range(65) for _ in range(4)]
    found = [0, least, least + 1, most, *near, *drawn]
    return [n for m in found for n in (m, -m) if least <= n <= most]


def expected(text: bytes, kind: Any) -> tuple[int, int]:
    """Byte by byte: the number, and the place of the first byte that does not belong, or -1."""
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    start = 1 if text[:1] == b"+" or (text[:1] == b"-" and least < 0) else 0
    if start == len(text):
        return 0, start
    for end in range(start, len(text)):
        if text[end] not in b"0123456789" or not least <= int(text[: end + 1]) <= most:
            return 0, end
    return int(text), -1


@pytest.mark.parametrize("kind", KINDS)
def test_text_is_that_of_python_and_reads_back(kind: Any, backend: str) -> None:
    values = numbers(kind)
    text, offsets = decoding.print_integers(np.array(values, kind), backend=backend)
    texts = [text[a:b].tobytes() for a, b in pairwise(offsets.tolist())]
    assert texts == [str(n).encode() for n in values]
    found = decoding.parse_integers(text, offsets=offsets, dtype=kind, backend=backend)
    assert found.values.dtype == kind
    assert found.values.tolist() == values
    assert not (found.errors + 1).any()


def texts_of(kind: Any) -> list[bytes]:
    most = int(np.iinfo(kind).max)
    made = [
        b"",
        b"+",
        b"-",
        b"+-1",
        b"1 ",
        b" 1",
        b"-0",
        b"+7",
        b"007",
        b"1.5",
        b"12a",
        b"\xff",
        b"0" * 50 + b"9",
    ]
    made += [
        str(n).encode() for n in (most + 1, -most - 1, -most - 2, most * 10, 10 * most + 9, 2**64, 2**65)
    ]
    made += [str(rng.getrandbits(rng.randrange(90)) * rng.choice((1, -1))).encode() for _ in range(300)]
    return made + [bytes(rng.choice(b"0129+-x") for _ in range(rng.randrange(8))) for _ in range(300)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_place_of_what_does_not_belong(kind: Any, backend: str) -> None:
    texts = texts_of(kind)
    found = decoding.parse_integers(texts, dtype=kind, backend=backend)
    assert list(zip(found.values.tolist(), found.errors.tolist(), strict=True)) == [
        expected(text, kind) for text in texts
    ]


def test_the_reference_gives_the_same() -> None:
    found = decoding.parse_integers([b"-12", b"3x", b""], backend="reference")
    assert (found.values.tolist(), found.errors.tolist()) == ([-12, 0, 0], [-1, 1, 0])
    text, _ = decoding.print_integers(np.array([-7, 10], np.int32), backend="reference")
    assert text.tobytes() == b"-710"


def test_one_text_and_none() -> None:
    found = decoding.parse_integers(b"42", backend="cpu")
    assert (int(found.values), int(found.errors)) == (42, -1)
    text, offsets = decoding.print_integers(np.zeros(0, np.int64), backend="cpu")
    assert (text.tolist(), offsets.tolist()) == ([], [0])


def test_other_types_are_refused() -> None:
    with pytest.raises(DispatchError, match="integers of int16 are not parsed"):
        decoding.parse_integers(b"1", dtype=np.int16)
    with pytest.raises(DispatchError, match="float64 of 1 dimensions"):
        decoding.print_integers(np.zeros(2))
