"""Philox gives the stream that Random123 publishes, and its floats are what their definitions say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError
from vyre.library import hashing

SEED, STREAM = 0x0123456789ABCDEF, 0xFEDCBA9876543210
WORD = 0xFFFFFFFF


def block(counter: list[int], key: list[int]) -> list[int]:
    """In Python's integers; the keys are bumped after every round."""
    a, b, c, d = counter
    k, other = key
    for _ in range(10):
        x, y = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (y >> 32) ^ b ^ k, y & WORD, (x >> 32) ^ d ^ other, x & WORD
        k, other = (k + 0x9E3779B9) & WORD, (other + 0xBB67AE85) & WORD
    return [a, b, c, d]


def elements(count: int) -> list[int]:
    key, stream = [SEED & WORD, SEED >> 32], [STREAM & WORD, STREAM >> 32]
    return [word for i in range(count // 4 + 1) for word in block([i, 0, *stream], key)][:count]


def test_the_model_has_the_published_answers() -> None:
    assert block([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert block([WORD] * 4, [WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    digits = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert block(*digits) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


@pytest.mark.parametrize(("first", "count"), [(0, 399), (1, 5), (7, 300), (5, 0), (6, 1)])
def test_any_part_of_a_stream_is_that_part(first: int, count: int, backend: str) -> None:
    expected = elements(first + count)[first:]
    options: dict[str, Any] = {"seed": SEED, "stream": STREAM, "first": first, "backend": backend}
    assert hashing.philox_u32(count, **options).tolist() == expected
    uniform = hashing.philox_uniform(count, **options)
    assert uniform.dtype == np.float32
    assert uniform.tolist() == [(word >> 8) / 2**24 for word in expected]


def normals(words: list[int]) -> list[float]:
    """In doubles, rounded to float32 after every step."""
    single = np.float32
    found: list[float] = []
    for x, y in zip(words[::2], words[1::2], strict=True):
        chance = single(float(single(x)) * 2.0**-32 + 2.0**-33)
        radius = single(math.sqrt(single(-2.0) * single(math.log(chance))))
        angle = single(y >> 8) * single(float(single(2 * math.pi)) * 2.0**-24)
        found += [float(radius * single(math.cos(angle))), float(radius * single(math.sin(angle)))]
    return found


def test_normals_are_what_doubles_say(backend: str) -> None:
    found = hashing.philox_normal(8000, seed=SEED, stream=STREAM, backend=backend)
    assert found.tolist() == normals(elements(8000))
    part = hashing.philox_normal(33, seed=SEED, stream=STREAM, first=3, backend=backend)
    assert part.tolist() == found[3:36].tolist()


def test_many_normals_have_the_moments_of_the_distribution() -> None:
    found = hashing.philox_normal(1 << 18, seed=5).astype(np.float64)
    assert abs(found.mean()) < 0.01
    assert abs(found.std() - 1) < 0.01
    assert abs((found**4).mean() - 3) < 0.1


def test_a_device_buffer_is_filled_where_it_is() -> None:
    target = vyre.device_zeros(9, np.uint32, backend="cpu")
    assert hashing.philox_u32(target, seed=SEED, stream=STREAM) is target
    assert target.numpy().tolist() == elements(9)


def test_what_is_outside_a_stream_is_refused() -> None:
    with pytest.raises(DispatchError, match="the seed -1"):
        hashing.philox_u32(1, seed=-1)
    with pytest.raises(DispatchError, match="beyond a stream"):
        hashing.philox_u32(2, seed=0, first=(1 << 32) - 1)
    with pytest.raises(DispatchError, match="does not have -1 elements from element 0 on"):
        hashing.philox_u32(-1, seed=0)
    with pytest.raises(DispatchError, match="out is 'x', a value of str"):
        hashing.philox_u32("x", seed=0)


def test_how_many_may_be_a_number_of_numpy() -> None:
    assert hashing.philox_u32(np.int64(600), seed=SEED, stream=STREAM).tolist() == elements(600)
