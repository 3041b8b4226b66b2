"""Arrays that are larger than a buffer of the device may be give the bits that they give in one piece."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.engines.small_device import ROOM, Small
from vyre import DataType, engines
from vyre.engines import pieces
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

LENGTHS = [ROOM // 4 + 1, ROOM // 2, ROOM // 2 + 1, 5 * ROOM // 4 + 77]


@pytest.fixture(scope="module")
def small() -> Small:
    return Small(threads=2)


def words(length: int, kind: Any = np.uint32, most: int = 1 << 32) -> NDArray[Any]:
    return np.random.default_rng(length).integers(0, most, length, np.uint64).astype(kind)


def mixed_floats(length: int, kind: Any = np.float32) -> NDArray[Any]:
    """Of many sizes, with zeros of both signs, infinities and NaNs among them."""
    rng = np.random.default_rng(length)
    found: NDArray[Any] = (rng.standard_normal(length) * 10.0 ** rng.integers(-3, 4, length)).astype(kind)
    found[rng.integers(0, length, 40)] = np.array([0.0, -0.0, np.inf, -np.inf] * 10, kind)
    return found


def same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def same_pair(found: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    for place in range(2):
        same(found[place], expected[place])


@pytest.mark.parametrize("length", LENGTHS)
def test_reductions(small: Small, length: int) -> None:
    x = words(length)
    for op in ("add", "mul", "xor", "max"):
        same(engines.reduce(x, op=op, backend=small), engines.reduce(x, op=op, backend="cpu"))
    for kind in (np.float32, np.float16):
        x = mixed_floats(2 * length, kind)
        for op in ("add", "max"):
            same(engines.reduce_tree(x, op=op, backend=small), engines.reduce_tree(x, op=op, backend="cpu"))
            finite = x.copy()
            finite[~np.isfinite(x)] = 1
            found = engines.reduce_tree(finite, op=op, backend=small)
            same(found, engines.reduce_tree(finite, op=op, backend="cpu"))
    bits = (mixed_floats(2 * length).view(np.uint32) >> 16).astype(np.uint16)
    found = engines.reduce_tree(bits, op="min", element=DataType.BF16, backend=small)
    same(found, engines.reduce_tree(bits, op="min", element=DataType.BF16, backend="cpu"))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("inclusive", [True, False])
def test_scans(small: Small, length: int, inclusive: bool) -> None:
    heads = (words(length) % 700 == 0).astype(np.uint32)
    for kind in (np.uint32, np.int64):
        x = words(length, kind)
        for op in ("add", "min"):
            for marks in (None, heads, heads.astype(np.bool_)):
                given: dict[str, Any] = {"op": op, "heads": marks, "inclusive": inclusive}
                same(engines.scan(x, **given, backend=small), engines.scan(x, **given, backend="cpu"))
    x, out = words(length), np.empty(length, np.uint32)
    assert engines.scan(x, out=out, inclusive=inclusive, backend=small) is out
    same(out, engines.scan(x, inclusive=inclusive, backend="cpu"))
    with pytest.raises(DispatchError, match="may not be written"):
        engines.scan(x, out=x, backend=small)


@pytest.mark.parametrize("length", LENGTHS)
def test_what_is_kept_and_counted(small: Small, length: int) -> None:
    x = words(length)
    flags = x % 3 == 0
    same(engines.compact(x, flags, backend=small), x[flags])
    same(engines.compact(x.astype(np.uint64), flags, backend=small), x[flags].astype(np.uint64))
    data = words(4 * length + 3, np.uint8, 256)
    for given in (data, data.tobytes()):
        same(engines.histogram(given, backend=small), np.bincount(data, minlength=256).astype(np.uint32))
    few = x % 19
    same(
        engines.histogram(few, bins=10, backend=small), np.bincount(few, minlength=19)[:10].astype(np.uint32)
    )


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", [np.uint32, np.int32, np.float32, np.uint64, np.int64, np.float64])
def test_sorts(small: Small, length: int, descending: bool, kind: Any) -> None:
    wide = mixed_floats(length, kind) if np.issubdtype(kind, np.floating) else words(length, kind)
    for x in (wide, words(length, kind, 5), np.zeros(length, kind)):
        for function in (engines.sort, engines.argsort):
            whole = function(x, descending=descending, backend="cpu")
            same(function(x, descending=descending, backend=small), whole)
        values = np.arange(length, dtype=np.uint64)
        found = engines.sort_pairs(x, values, descending=descending, backend=small)
        same_pair(found, engines.sort_pairs(x, values, descending=descending, backend="cpu"))
    out = np.empty_like(wide)
    assert engines.sort(wide, descending=descending, out=out, backend=small) is out
    same(out, engines.sort(wide, descending=descending, backend="cpu"))


@pytest.mark.parametrize("length", LENGTHS)
def test_keys_of_several_pieces(small: Small, length: int) -> None:
    for most in (3, 900, 1 << 32):
        x = words(length, np.uint32, most)
        same(engines.unique(x, backend=small), np.unique(x))
        runs, values = np.sort(x), words(length, np.uint64)
        for op in ("add", "max"):
            found = engines.reduce_by_key(runs, values, op=op, backend=small)
            same_pair(found, engines.reduce_by_key(runs, values, op=op, backend="cpu"))
    inputs: list[NDArray[Any]] = [mixed_floats(length), words(length, np.float32, 9)]
    for x in inputs:
        for k in (0, 1, 50, ROOM // 8):
            same_pair(engines.top_k(x, k, backend=small), engines.top_k(x, k, backend="cpu"))


def test_rows_are_taken_flat(small: Small) -> None:
    x = words(ROOM // 2).reshape(4, -1)
    same(engines.reduce(x, backend=small), engines.reduce(x, backend="cpu"))
    same(engines.scan(x, backend=small), engines.scan(x, backend="cpu"))
    same(engines.sort(x, backend=small), np.sort(x, axis=None))
    same(engines.argsort(x, backend=small), engines.argsort(x, backend="cpu"))
    same(engines.compact(x, x & 1, backend=small), x[(x & 1) == 1])
    same_pair(engines.top_k(x, 7, backend=small), engines.top_k(x, 7, backend="cpu"))
    same(engines.unique(x, backend=small), np.unique(x))


def test_files_that_are_mapped_to_memory_are_cut(small: Small, tmp_path: Path) -> None:
    x = words(ROOM)
    held = np.memmap(tmp_path / "x", np.uint32, "w+", shape=(2, ROOM // 2))
    held[:] = x.reshape(2, -1)
    flags, data = x & 1, x.view(np.uint8)
    for found, whole in (
        (engines.reduce(held, backend=small), engines.reduce(x, backend="cpu")),
        (engines.scan(held, backend=small), engines.scan(x, backend="cpu")),
        (engines.sort(held, backend=small), np.sort(x)),
        (engines.compact(held, flags, backend=small), x[flags == 1]),
        (engines.histogram(held.view(np.uint8), backend=small), engines.histogram(data, backend="cpu")),
    ):
        same(found, whole)
        assert not isinstance(found, np.memmap)
    with pytest.raises(DispatchError, match="masked"):
        engines.sort(np.ma.masked_array(x, x > 5), backend=small)


def test_heads_are_an_input_as_well(small: Small) -> None:
    heads = np.zeros(ROOM, np.uint32)
    with pytest.raises(DispatchError, match="may not be written"):
        engines.scan(words(ROOM), heads=heads, out=heads, backend=small)


def test_more_elements_than_a_result_can_count_are_refused(small: Small) -> None:
    """They are all one element in memory."""
    many: list[NDArray[Any]] = [np.broadcast_to(kind(0), (1 << 32,)) for kind in (np.uint8, np.uint32)]
    with pytest.raises(DispatchError, match=r"more than a uint32 can number.*Fix: pass parts"):
        engines.histogram(many[0], backend=small)
    with pytest.raises(DispatchError, match="more than a uint32 can number"):
        engines.argsort(many[1], backend=small)
    with pytest.raises(DispatchError, match="more than a uint32 can number"):
        engines.top_k(many[1], 3, backend=small)


def test_what_does_not_fit_and_is_not_cut_is_refused_by_name(small: Small) -> None:
    x = words(ROOM)
    with pytest.raises(DispatchError, match=str(ROOM)):
        engines.gather(x, x, backend=small)
    with pytest.raises(DispatchError, match=str(ROOM)):
        engines.top_k(x, ROOM // 2, backend=small)


def test_the_tree_is_cut_at_powers_of_two(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    """With pieces of another length the bits would differ."""
    inputs = [np.random.default_rng(seed).standard_normal(ROOM).astype(np.float32) for seed in range(5)]
    wholes = [engines.reduce_tree(x, backend="cpu").tobytes() for x in inputs]
    assert [engines.reduce_tree(x, backend=small).tobytes() for x in inputs] == wholes

    def shorter(*given: Any) -> int:
        return max(pieces.piece_of(*given) - 24, 0)

    monkeypatch.setattr("vyre.engines.api.piece_of", shorter)
    assert [engines.reduce_tree(x, backend=small).tobytes() for x in inputs] != wholes
