"""An index that was taken apart into a row and a column and put together again is the index."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre.optimize import optimize

TEXT = """vyre 1
workgroup 64 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
entry {{
  let i = invocation.x
  {before}
  let row = {row}
  let column = {column}
  out[i] = a[{index}]
}}
"""


def index_of(row: str, column: str, index: str, before: str = "") -> str:
    """The index that is left, as text."""
    program = vyre.Program.from_text(TEXT.format(row=row, column=column, index=index, before=before))
    (line,) = [x for x in optimize(program).to_text().splitlines() if "out[" in x]
    return line.partition("a[")[2][:-1]


@pytest.mark.parametrize(
    "index", ["row * 64 + column", "column + row * 64", "row << 6 | column", "column ^ (row << 6)"]
)
@pytest.mark.parametrize(("row", "column"), [("i / 64", "i % 64"), ("i >> 6", "i & 63")])
def test_the_whole_is_found_again(row: str, column: str, index: str) -> None:
    assert index_of(row, column, index) == "i"
    assert index_of(row, column, f"({index}) + 1") == "i + 1"


@pytest.mark.parametrize(
    ("row", "column", "index"),
    [
        ("i / 32", "i % 64", "row * 64 + column"),
        ("i / 64", "i % 64", "row * 32 + column"),
        ("i / 64", "(i + 1) % 64", "row * 64 + column"),
        ("a[i] / 64", "a[i] % 64", "row * 64 + column"),
    ],
)
def test_parts_of_other_numbers_stay(row: str, column: str, index: str) -> None:
    assert "row" in index_of(row, column, index)


def test_what_was_left_out_is_left_out() -> None:
    assert index_of("i / 64", "i % 32", "row * 64 + column") == f"i & {0xFFFFFFFF - 32}"


def test_a_number_that_changes_is_not_put_together() -> None:
    changed = "let x = i\n  x := x + 1"
    assert "row" in index_of("x / 64", "x % 64", "row * 64 + column", before=changed)


def test_elements_are_read_where_they_are() -> None:
    program = vyre.Program.from_text(
        TEXT.format(row="i / 64", column="i % 64", index="row * 64 + column", before="")
    )
    a = np.arange(200, dtype=np.uint32) * 7
    for name in ("reference", "cpu"):
        out = vyre.dispatch(program, {"a": a, "out": np.zeros(200, np.uint32)}, backend=name)["out"]
        assert out.tolist() == a.tolist()
