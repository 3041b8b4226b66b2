"""What is passed by mistake is refused in a sentence, and never taken for something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.errors import VyreError
from vyre.library import decoding, graphs, hashing, matching, strings, tables

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG: Any = [[1], [0]]
NONE: Any = None
CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "bfs of a list": (lambda: graphs.bfs(WRONG, 0), "not a Graph"),
    "paths of a list": (lambda: graphs.shortest_paths(WRONG, [1], 0), "not a Graph"),
    "components of a list": (lambda: graphs.components(WRONG), "not a Graph"),
    "levels of a list": (lambda: graphs.levels(WRONG), "not a Graph"),
    "transpose of a list": (lambda: graphs.transpose(WRONG), "not a Graph"),
    "ranks of a list": (lambda: graphs.pagerank(WRONG), "not a Graph"),
    "product of a list": (lambda: graphs.spmv(WRONG, [1.0], [1.0]), "not a Graph"),
    "masked targets": (lambda: graphs.Graph([0, 1], np.ma.array([0], mask=[True])), "masked"),
    "masked weights of a matrix": (
        lambda: graphs.spmv(graphs.Graph([0, 1], [0]), np.ma.ones(1, np.float32), np.ones(1, np.float32)),
        "masked",
    ),
    "ragged offsets": (lambda: graphs.Graph([0, [1]], [0]), "one-dimensional"),
    "a masked column": (
        lambda: tables.Table({"a": np.ma.array([1, 2, 3], mask=[False, True, False])}),
        "masked",
    ),
    "names that are one as text": (lambda: tables.Table({1: [1], "1": [2]}), "one name as text"),
    "a direction of None": (lambda: tables.sort({"a": [1]}, "a", descending=NONE), "descending"),
    "a suffix that is no text": (lambda: tables.join({"a": [1]}, {"a": [1]}, "a", suffix=WRONG), "suffix"),
    "a table of text": (lambda: strings.translate(b"a", "x" * 256), "the table is text"),  # pyright: ignore[reportArgumentType]
    "a table of wide numbers": (lambda: strings.translate(b"a", np.arange(256)), "not uint8"),  # pyright: ignore[reportArgumentType]
    "members that are words": (lambda: strings.is_any(b"ab", [b"a"]), "members is list"),  # pyright: ignore[reportArgumentType]
    "rows of several lengths": (lambda: decoding.encode_delta([[1], [2, 3]]), "does not make an array"),
    "floats of no dtype": (lambda: decoding.parse_floats(b"1", dtype="flaot64"), "not a dtype"),
    "integers of no dtype": (lambda: decoding.parse_integers(b"1", dtype=64), "not a dtype"),
    "a backend that is a list": (lambda: hashing.crc32(b"a", backend=WRONG), "is not a backend"),
    "flags that are text": (lambda: matching.Regex(b"a", "i"), "whole number"),  # pyright: ignore[reportArgumentType]
    "words that are none": (lambda: matching.Words(5), "not a list"),  # pyright: ignore[reportArgumentType]
    "words that are one": (lambda: matching.Words(b"ab"), "not a list"),  # pyright: ignore[reportArgumentType]
    "random numbers into a slice": (
        lambda: hashing.philox_u32(np.zeros(10, np.uint32)[::2], seed=0),
        "Fix: pass np.empty",
    ),
    "random numbers into another type": (
        lambda: hashing.philox_u32(np.zeros(5, np.int32), seed=0),
        "Fix: pass np.empty",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_explained(name: str) -> None:
    call, said = CASES[name]
    with pytest.raises(VyreError, match=said):
        call()


def test_a_table_of_bytes_may_be_an_array() -> None:
    turned = np.arange(256, dtype=np.uint8)[::-1]
    assert bytes(strings.translate(b"\x00\x01", turned)) == b"\xff\xfe"  # pyright: ignore[reportArgumentType]


def test_flags_that_are_all_missing_keep_nothing() -> None:
    assert tables.filter({"a": [1, 2]}, [None, None])["a"].to_list() == []


def test_no_random_numbers_may_stand_at_the_end_of_a_stream() -> None:
    assert hashing.philox_u32(0, seed=0, first=1 << 32).shape == (0,)
