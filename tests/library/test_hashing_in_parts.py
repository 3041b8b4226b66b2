"""Messages that together are larger than a buffer of the device have the hashes of one call."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.engines.small_device import Small
from vyre.errors import DispatchError
from vyre.library import hashing

if TYPE_CHECKING:
    from collections.abc import Callable

FUNCTIONS = ("blake3", "crc32", "crc32c", "fnv1a_32", "fnv1a_64", "sha256", "xxh32", "xxh64")


@pytest.fixture(scope="module")
def small() -> Small:
    return Small(threads=2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_messages(small: Small, name: str) -> None:
    function: Callable[..., Any] = getattr(hashing, name)
    rng = np.random.default_rng(1)
    listed = [rng.bytes(int(n)) for n in (*rng.integers(0, 700, 900), 65_000, 0, 1)]
    data, ends = b"".join(listed), np.cumsum([0, *map(len, listed)])
    rows = rng.integers(0, 256, (5000, 48), np.uint8)
    given: list[tuple[Any, dict[str, Any]]] = [
        (listed, {}),
        (data, {"offsets": ends}),
        (rows, {}),
        ([b""] * 5000, {}),
    ]
    for messages, named in given:
        found, whole = (function(messages, **named, backend=on) for on in (small, "cpu"))
        assert found.dtype == whole.dtype
        assert found.shape == whole.shape
        assert found.tobytes() == whole.tobytes()


def test_they_are_those_of_other_libraries(small: Small) -> None:
    rows = np.random.default_rng(2).integers(0, 256, (3000, 64), np.uint8)
    assert [bytes(x) for x in hashing.sha256(rows, backend=small)] == [
        hashlib.sha256(bytes(row)).digest() for row in rows
    ]
    assert list(hashing.crc32(rows, backend=small)) == [zlib.crc32(bytes(row)) for row in rows]


def test_a_message_that_does_not_fit_is_refused_by_name(small: Small) -> None:
    with pytest.raises(DispatchError, match="65536"):
        hashing.sha256([b"", bytes(70_000)], backend=small)
    with pytest.raises(DispatchError, match="not bytes"):
        hashing.sha256([b"x" * 40_000, "y" * 40_000], backend=small)


@pytest.mark.parametrize("offsets", [5, np.array(5), iter([0, 1])], ids=["number", "array", "iterator"])
def test_offsets_without_a_length_are_refused(small: Small, offsets: Any) -> None:
    with pytest.raises(DispatchError, match="one-dimensional"):
        hashing.crc32(b"abc", offsets=offsets, backend=small)
