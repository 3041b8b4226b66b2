"""Tables go to pyarrow, Polars and pandas and come back, where they lie, and come out as there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.library import tables
from vyre.library.tables import Table, columns

pa: Any = pytest.importorskip("pyarrow")
pl: Any = pytest.importorskip("polars")
pd: Any = pytest.importorskip("pandas")

MIXED: dict[str, list[Any]] = {
    "whole": [3, None, -7, 3, 0, 5, 6, 7, 8, 9],
    "real": [0.5, -0.0, None, 1e300, 0.25, 1.0, 2.0, 3.0, 4.0, 5.0],
    "truth": [True, False, None, True, False, True, True, False, None, True],
    "text": ["a", "", None, "née", "b", "a", "long enough to be no view inline", "c", "a", "b"],
}


def made(rows: int, groups: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    words = np.array([f"key {k * k}" for k in range(groups)], object)
    return {
        "k": [int(x) if x % 5 else None for x in rng.integers(0, groups, rows)],
        "t": words[rng.integers(0, groups, rows)].tolist(),
        "v": [float(x) if x < 1.5 else None for x in rng.standard_normal(rows)],
        "w": rng.integers(-100, 100, rows).tolist(),
    }


def test_numbers_and_texts_are_not_copied_in_or_out() -> None:
    given = pa.table(MIXED)
    table = Table(given)
    back = pa.table(table)
    assert back.to_pydict() == table.to_dict() == MIXED
    for name in MIXED:
        before, after = given.column(name).chunk(0).buffers(), back.column(name).chunk(0).buffers()
        assert [b and b.address for b in after] == [b and b.address for b in before]


@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_every_integer_goes_through(kind: str) -> None:
    limits = np.iinfo(kind)
    given = pa.table({"x": pa.array([limits.min, None, limits.max], kind)})
    assert pa.table(Table(given)).equals(given)
    assert pl.DataFrame(Table(given)).schema["x"] == pl.from_arrow(given).schema["x"]


def test_polars_in_and_out() -> None:
    frame = pl.DataFrame(MIXED)
    table = Table(frame)
    assert table.to_dict() == MIXED
    assert pl.DataFrame(table).equals(frame)
    whole = pl.DataFrame({"x": [1, 2, 3]})
    assert Table(whole)["x"].data.ctypes.data == whole["x"].to_numpy(allow_copy=False).ctypes.data


def test_pandas_in() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "a"]})
    found = tables.group_by(frame, "y", {"s": ("x", "sum")})
    assert found.to_dict() == {"y": ["a", "b"], "s": [4, 2]}


@pytest.mark.parametrize("part", [(0, 0), (3, 4), (8, 2), (1, 9)])
def test_a_part_of_a_table_is_that_part(part: tuple[int, int]) -> None:
    given = pa.table(MIXED).slice(*part)
    assert Table(given).to_dict() == given.to_pydict()
    found = tables.sort(given, "text")
    assert found["text"].to_list() == given.sort_by("text")["text"].to_pylist()


def test_chunks_and_dictionaries_become_one() -> None:
    one = pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode(), "y": pa.array([1, None, 3])})
    both = pa.concat_tables([one, one])
    assert Table(both).to_dict() == {"x": ["a", "b", "a"] * 2, "y": [1, None, 3] * 2}
    assert Table(pa.table({"z": pa.nulls(2)})).to_dict() == {"z": [None, None]}
    assert Table(pa.record_batch({"x": [1]})).to_dict() == {"x": [1]}
    assert Table(pa.table({"x": pa.chunked_array([], pa.string())})).rows == 0


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (500, 7), (6000, 300)])
def test_groups_are_those_of_polars(rows: int, groups: int) -> None:
    given = made(rows, groups, rows)
    frame = pl.DataFrame(given, schema_overrides={"k": pl.Int64, "v": pl.Float64})
    for by in (["k"], ["t"], ["t", "k"]):
        found = tables.group_by(
            frame, by, {"n": ("v", "count"), "a": ("v", "min"), "b": ("w", "max"), "s": ("w", "sum")}
        )
        v, w = pl.col("v"), pl.col("w")
        expected = frame.group_by(by).agg(
            v.count().alias("n"), v.min().alias("a"), w.max().alias("b"), w.sum().alias("s")
        )
        assert pl.DataFrame(found).to_dict(as_series=False) == expected.sort(by, nulls_last=True).to_dict(
            as_series=False
        )


def test_means_are_near_those_of_pandas() -> None:
    given = made(3000, 20, 4)
    found = tables.group_by(pd.DataFrame(given), "t", {"m": ("v", "mean")})
    expected = pd.DataFrame(given).groupby("t").v.mean()
    assert found["t"].to_list() == list(expected.index)
    assert np.allclose(found["m"].data, expected.to_numpy(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_joins_are_those_of_polars(how: Any) -> None:
    left, right = (pl.DataFrame(made(rows, 40, rows)) for rows in (300, 200))
    for on in (["k"], ["t"], ["k", "t"]):
        found = pl.DataFrame(tables.join(left, right, on, how=how))
        expected = left.join(right, on=on, how=how, maintain_order="left_right")
        assert found.select(expected.columns).equals(expected)


@pytest.mark.parametrize("down", [False, True])
def test_sorting_is_that_of_polars(down: bool) -> None:
    frame = pl.DataFrame(made(700, 30, 9))
    found = tables.sort(frame, ["t", "k", "w"], descending=down)
    expected = frame.sort(["t", "k", "w"], descending=down, nulls_last=True, maintain_order=True)
    assert pl.DataFrame(found).equals(expected)


def test_another_type_is_refused_by_name() -> None:
    with pytest.raises(DispatchError, match=r"'day' is date32") as raised:
        Table(pa.table({"day": pa.array([1], pa.date32())}))
    assert "cast" in raised.value.fix


def test_empty_chunks_are_left_out() -> None:
    """pyarrow does not join some empty slices, nor what is left of them when they are cast."""
    whole = pa.array([1, None, 3, 4, 5, 6, None, 8, 9])
    given = pa.chunked_array([whole.slice(5, 0), whole.slice(5, 4), whole.slice(9, 0)])
    words = pa.array(["a", None, "c"]).slice(1)
    assert Table(pa.table({"x": given})).to_dict() == {"x": [6, None, 8, 9]}
    assert Table({"x": pa.chunked_array([words.slice(0, 0), words])}).to_dict() == {"x": [None, "c"]}
    for kind in (pa.string(), pa.string_view(), pa.large_string(), pa.int8(), pa.bool_()):
        none = pa.array([None, None], kind).slice(1, 0)
        assert Table(pa.table({"x": pa.chunked_array([none, none])})).to_dict() == {"x": []}


def test_categories_of_polars_are_texts() -> None:
    words = ["x", None, "y", "long enough to be no view inline"]
    for kind in (pl.Categorical, pl.Enum([w for w in words if w])):
        assert Table(pl.DataFrame({"a": pl.Series(words, dtype=kind)})).to_dict() == {"a": words}


@pytest.mark.parametrize(
    "column", [pl.Series([1, None]), pa.array([1, None]), pa.chunked_array([[1], [None]])]
)
def test_a_column_of_arrow_is_a_column(column: Any) -> None:
    assert Table({"a": column, "b": [5, 6]}).to_dict() == {"a": [1, None], "b": [5, 6]}


def test_flags_may_be_what_a_data_frame_compares() -> None:
    frame = pl.DataFrame({"a": [1, 5, None, 7]})
    assert tables.filter(frame, frame["a"] > 4).to_dict() == {"a": [5, 7]}
    assert tables.filter(pd.DataFrame({"a": [1, 5]}), pd.Series([True, False])).to_dict() == {"a": [1]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "two columns are called 'a'"),
        (pl.Series("a", [1]), "Series is not a table"),
        (pa.array([1]), "Int64Array is not a table"),
    ],
)
def test_what_is_not_a_table_is_refused(given: Any, said: str) -> None:
    with pytest.raises(DispatchError, match=said) as raised:
        Table(given)
    assert raised.value.fix


def test_a_part_of_a_long_column_has_its_own_texts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"word {k % 37}" for k in range(5000)]
    table = pa.table({"t": words})
    monkeypatch.setattr(columns, "MOST_TEXT", 4096)
    with pytest.raises(DispatchError, match="take the table in parts"):
        tables.sort(table, "t")
    for part in (slice(4900, 5000), slice(13, 200), slice(0, 400)):
        found = tables.sort(table.slice(part.start, part.stop - part.start), "t")
        assert found["t"].to_list() == sorted(words[part])


def test_what_arrow_does_not_take_is_refused_with_its_reason() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    mixed = pd.DataFrame({"a": [1, "x"]})
    for frame, why in ((twice, "Duplicate column names"), (mixed, "Conversion failed for column a")):
        with pytest.raises(DispatchError, match=why):
            Table(frame)


def test_bytes_that_are_no_text_are_refused_where_they_are_read() -> None:
    buffers = [None, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff")]
    column = Table({"a": pa.Array.from_buffers(pa.string(), 1, buffers)})["a"]
    with pytest.raises(DispatchError, match="not text in UTF-8"):
        column.to_list()
