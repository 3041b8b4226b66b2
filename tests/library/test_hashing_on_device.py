"""Messages on a device are hashed there: those of one size without bounds, the others as on the host."""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre.backends.device_buffer import DeviceBuffer
from vyre.library import hashing
from vyre.library.messages import taken

if TYPE_CHECKING:
    from collections.abc import Callable

rng = np.random.default_rng(23)
SHAPES = [(130, 16), (3, 32), (2, 48), (66, 64), (5, 80), (1, 1024), (3, 1040), (2, 4096), (7, 20), (3, 33)]
WORDS: list[Callable[..., Any]] = [
    hashing.crc32c, hashing.xxh32, hashing.xxh64, hashing.fnv1a_32, hashing.fnv1a_64,
]  # fmt: skip


def rows(shape: tuple[int, ...]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return rng.integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_have_the_digests_of_hashlib_and_zlib(shape: tuple[int, int], backend: str) -> None:
    given = rows(shape)
    device = vyre.to_device(given, backend=backend)
    digests, sums = hashing.sha256(device), hashing.crc32(device)
    assert isinstance(digests, DeviceBuffer)
    assert isinstance(sums, DeviceBuffer)
    assert [bytes(row) for row in digests.numpy()] == [hashlib.sha256(row).digest() for row in given]
    assert sums.numpy().tolist() == [zlib.crc32(row) for row in given]


def test_rows_have_the_values_of_the_same_messages_in_a_list(backend: str) -> None:
    for shape in ((70, 20), (3, 5000), (2, 31)):
        given = rows(shape)
        device = vyre.to_device(given, backend=backend)
        for function in WORDS:
            assert function(device).numpy().tolist() == function([bytes(row) for row in given]).tolist()


@pytest.mark.parametrize("chunks", [1, 2, 3, 5, 64, 127, 128, 129, 300])
@pytest.mark.parametrize("count", [1, 3])
def test_trees_of_any_width_are_those_of_blake3(chunks: int, count: int, backend: str) -> None:
    """Up to 128 nodes become one in a dispatch; 129 and more need several."""
    theirs: Any = pytest.importorskip("blake3")
    for size in (1024 * chunks, 1024 * chunks - 1008):
        given = rows((count, size))
        found = hashing.blake3(vyre.to_device(given, backend=backend), key=bytes(range(32))).numpy()
        expected = [theirs.blake3(row.tobytes(), key=bytes(range(32))).digest() for row in given]
        assert [bytes(row) for row in found] == expected


@pytest.mark.parametrize("size", [1, 15, 17, 63, 65, 1023, 1025, 1036, 2047, 5000, 131_073])
def test_one_message_of_any_size_is_that_of_blake3(size: int, backend: str) -> None:
    theirs: Any = pytest.importorskip("blake3")
    given = rows((size,))
    found = hashing.blake3(vyre.to_device(given, backend=backend))
    assert isinstance(found, DeviceBuffer)
    assert bytes(found.numpy()) == theirs.blake3(given.tobytes()).digest()


def test_many_short_trees_share_workgroups(backend: str) -> None:
    theirs: Any = pytest.importorskip("blake3")
    given = rows((75, 3 * 1024))
    found = hashing.blake3(vyre.to_device(given, backend=backend)).numpy()
    assert [bytes(row) for row in found] == [theirs.blake3(row.tobytes()).digest() for row in given]


def test_only_whole_sixteens_on_a_device_of_its_own_are_loaded_at_once(backend: str) -> None:
    wide = taken(vyre.to_device(rows((3, 32)), backend=backend), None, None).quads
    assert (wide is None) == (backend == "cpu")  # the memory of `cpu` is the host's
    assert taken(vyre.to_device(rows((4, 20)), backend=backend), None, None).quads is None
    assert taken(rows((3, 32)), None, backend).quads is None


def test_bytes_on_a_device_are_not_brought_to_the_host(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even those that are not whole words."""
    given = [rows(shape) for shape in ((64,), (4097,), (5, 33), (4, 64))]
    devices = [vyre.to_device(one, backend=backend) for one in given]

    def refused(_: DeviceBuffer) -> Any:
        raise AssertionError("read back")

    with monkeypatch.context() as patched:
        patched.setattr(DeviceBuffer, "numpy", refused)
        found = [hashing.crc32(device) for device in devices]
    expected = [[zlib.crc32(row) for row in np.atleast_2d(one)] for one in given]
    assert [np.atleast_1d(one.numpy()).tolist() for one in found] == expected


def test_rows_without_bytes_and_no_rows(backend: str) -> None:
    assert hashing.crc32(rows((3, 0)), backend=backend).tolist() == [0, 0, 0]
    assert hashing.sha256(rows((0, 16)), backend=backend).shape == (0, 32)
    assert hashing.xxh32(rows((0, 16)), backend=backend).shape == (0,)


@pytest.mark.parametrize(("first", "count"), [(0, 400), (8, 404), (4, 4), (3, 13), (2, 100), (4, 7)])
def test_random_numbers_fill_a_buffer_where_it_lies(first: int, count: int, backend: str) -> None:
    kinds: list[tuple[Callable[..., Any], Any]] = [
        (hashing.philox_u32, np.uint32),
        (hashing.philox_uniform, np.float32),
        (hashing.philox_normal, np.float32),
    ]
    for function, dtype in kinds:
        options = {"seed": 0x0123456789ABCDEF, "stream": 1 << 40, "first": first}
        buffer = vyre.device_zeros(count, dtype, backend=backend)
        assert function(buffer, **options) is buffer
        assert buffer.numpy().tobytes() == function(count, **options).tobytes()
