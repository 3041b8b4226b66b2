"""Tables are filtered, sorted, grouped and joined as plain Python does it, on every backend, to the bit."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.errors import DispatchError
from vyre.library import tables
from vyre.library.tables import Column, Table
from vyre.library.tables.columns import valid_bits

if TYPE_CHECKING:
    from collections.abc import Callable

ALL = {"n": ("v", "count"), "s": ("v", "sum"), "a": ("v", "min"), "b": ("v", "max"), "m": ("v", "mean")}
WORDS = ["", "a", "ab", "a\0", "b", "é", "longer than eight", "longer than eighty", "longer than", "\0"]


def keys_of(kind: str, rows: int, rng: np.random.Generator) -> Column:
    """A random column with few values, a part of them missing."""
    values: Any
    match kind:
        case "utf8":
            values = [WORDS[k] for k in rng.integers(0, len(WORDS), rows)]
        case "bool":
            values = rng.integers(0, 2, rows).astype(np.bool_)
        case "float32" | "float64":
            some = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, -np.nan, 5e-324], kind)
            values = some[rng.integers(0, len(some), rows)]
        case _:
            least, most = (0, 9) if kind.startswith("u") else (-4, 5)
            values = rng.integers(least, most, rows).astype(kind)
    made = Column.of(values) if rows else Column.of(np.zeros(0, "int64" if kind == "utf8" else kind))
    flags = rng.random(rows) < 0.8
    return Column(made.kind, made.length, made.data, valid_bits(flags), made.offsets)


def ordered(value: Any) -> tuple[Any, ...]:
    """What a key is compared by: missing last, NaN greatest, -0 as 0, texts by their bytes."""
    if value is None:
        return (1,)
    if isinstance(value, str):
        return (0, value.encode())
    return (0, math.isnan(value), 0 if math.isnan(value) else value)


def shown(value: Any) -> Any:
    """A value that equals another one only if its bits do."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else (math.copysign(1, value), value)
    return (type(value).__name__, value)


def extreme(values: list[Any], greatest: bool) -> Any:
    """-0 comes before 0, NaN is greatest."""
    key: Callable[[Any], Any] = lambda x: (math.isnan(x), x if not math.isnan(x) else 0, math.copysign(1, x))  # noqa: E731
    return (max if greatest else min)(values, key=key) if values else None


def exact(values: list[float], kind: str) -> float:
    """The sum, rounded once."""
    if any(math.isnan(x) for x in values) or {math.inf, -math.inf} <= set(values):
        return math.nan
    found = math.fsum(values)
    return (float(np.float32(found)) if kind == "float32" else found) + 0.0


@pytest.mark.parametrize("kind", ["int8", "int64", "uint32", "uint64", "float32", "float64", "bool", "utf8"])
@pytest.mark.parametrize("rows", [0, 1, 60])
def test_groups_are_those_of_a_dictionary(kind: str, rows: int, backend: str) -> None:
    rng = np.random.default_rng(rows + len(kind))
    table = {"k": keys_of(kind, rows, rng), "v": keys_of("float64", rows, rng)}
    lists = Table(table).to_dict()
    expected: dict[Any, list[float]] = {}
    for key, value in zip(lists["k"], lists["v"], strict=True):
        expected.setdefault(ordered(key), []).extend([] if value is None else [value])
    found = tables.group_by(table, "k", ALL, backend=backend).to_dict()
    assert [ordered(key) for key in found["k"]] == sorted(expected)
    for row, key in enumerate(sorted(expected)):
        values = expected[key]
        assert found["n"][row] == len(values)
        assert shown(found["s"][row]) == shown(exact(values, "float64"))
        assert shown(found["a"][row]) == shown(extreme(values, False))
        assert shown(found["b"][row]) == shown(extreme(values, True))
        assert shown(found["m"][row]) == shown(exact(values, "float64") / len(values) if values else None)


SPREAD: dict[str, Callable[[Any, int], Any]] = {
    "near": lambda rng, n: rng.standard_normal(n),
    "far": lambda rng, n: rng.standard_normal(n) * 10.0 ** rng.integers(-320, 300, n),
    "small": lambda rng, n: rng.integers(-3, 4, n) * 5e-324,
    "cancelling": lambda rng, n: np.tile([1e300, 1.0, -1e300, -0.0], n)[:n],
    "halves": lambda rng, n: np.tile([1.0, 2.0**-53, 2.0**-53, 2.0**-106, -1.0 + 2.0**-53], n)[:n],
    "single": lambda rng, n: (rng.standard_normal(n) * 10.0 ** rng.integers(-44, 30, n)).astype(np.float32),
}


@pytest.mark.parametrize("spread", SPREAD)
def test_sums_of_floats_are_those_of_fsum_in_any_order(spread: str, backend: str) -> None:
    rng = np.random.default_rng(5)
    for rows, groups in ((300, 9), (5000, 40)):
        keys = rng.integers(0, groups, rows)
        values: Any = SPREAD[spread](rng, rows)
        expected = [exact(values[keys == k].tolist(), values.dtype.name) for k in range(groups)]
        turned = rng.permutation(rows)
        for order in (np.arange(rows), turned):
            found = tables.group_by(
                {"k": keys[order], "v": values[order]}, "k", {"s": ("v", "sum")}, backend=backend
            )
            assert found["s"].data.tobytes() == np.array(expected, values.dtype).tobytes()


def test_a_sum_past_the_greatest_float_is_infinite_only_at_its_end(backend: str) -> None:
    most = float(np.finfo(np.float64).max)
    table = {"k": [0, 0, 0, 1, 1], "v": [most, most, -most, most, most]}
    found = tables.group_by(table, "k", {"s": ("v", "sum")}, backend=backend)
    assert found["s"].to_list() == [most, math.inf]


@pytest.mark.parametrize("kind", ["int8", "int32", "int64", "uint16", "uint64"])
def test_sums_of_integers_wrap_at_64_bits(kind: str, backend: str) -> None:
    rng = np.random.default_rng(11)
    limits = np.iinfo(kind)
    values = rng.integers(limits.min, limits.max, 5000, dtype=kind, endpoint=True)
    keys = rng.integers(0, 7, 5000)
    found = tables.group_by({"k": keys - 3, "v": values}, "k", ALL, backend=backend)
    assert found["k"].to_list() == [*range(-3, 4)]
    wide = np.int64 if kind.startswith("i") else np.uint64
    for key in range(7):
        mine = values[keys == key]
        assert found["s"].data[key] == mine.astype(wide).sum()
        assert (found["a"].data[key], found["b"].data[key]) == (mine.min(), mine.max())
    assert found["a"].kind == kind


@pytest.mark.parametrize("rows", [0, 1, 50, 5000])
def test_several_keys_group_in_their_order(rows: int, backend: str) -> None:
    rng = np.random.default_rng(rows)
    table = {"a": keys_of("utf8", rows, rng), "b": keys_of("int32", rows, rng)}
    table["c"] = Column.of(rng.integers(0, 1 << 62, rows) * rng.integers(0, 2, rows))
    lists = Table(table).to_dict()
    expected: dict[Any, int] = {}
    for row in zip(*lists.values(), strict=True):
        key = tuple(ordered(x) for x in row)
        expected[key] = expected.get(key, 0) + 1
    found = tables.group_by(table, ["a", "b", "c"], {"n": ("c", "count")}, backend=backend).to_dict()
    got = [tuple(ordered(x) for x in row) for row in zip(found["a"], found["b"], found["c"], strict=True)]
    assert got == sorted(expected)
    assert found["n"] == [expected[key] for key in got]


@pytest.mark.parametrize("kind", ["uint64", "int64"])
def test_codes_far_apart_and_many(kind: str, backend: str) -> None:
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 1 << 64, 9000, dtype=np.uint64).view(kind)
    keys = np.concatenate([keys, keys[:5000]])
    values = rng.integers(0, 1 << 40, len(keys))
    asked = {"n": ("v", "count"), "s": ("v", "sum")}
    found = tables.group_by({"k": keys, "v": values}, "k", asked, backend=backend)
    expected, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    sums = np.zeros(len(expected), np.int64)
    np.add.at(sums, places, values)
    assert (found["k"].data == expected).all()
    assert (found["n"].data == counts).all()
    assert (found["s"].data == sums).all()


def test_texts_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    from vyre.library.tables import codes

    def same(data: Any, *, offsets: Any, backend: Any) -> Any:
        del data, backend
        return np.zeros(len(offsets) - 1, np.uint64)

    monkeypatch.setattr(codes.hashing, "xxh64", same)
    found = tables.group_by({"k": [*WORDS, *WORDS[:3]]}, "k", {"n": ("k", "count")}, backend=backend)
    assert found["k"].to_list() == sorted(WORDS, key=str.encode)
    assert sum(found["n"].to_list()) == 13


@pytest.mark.parametrize("nulls", ["last", "first"])
@pytest.mark.parametrize("down", [(False, False), (True, False), (False, True)])
def test_rows_are_sorted_as_lists_are(nulls: Any, down: tuple[bool, bool], backend: str) -> None:
    for rows in (0, 1, 200):
        rng = np.random.default_rng(rows)
        table = {"a": keys_of("float64", rows, rng), "b": keys_of("utf8", rows, rng)}
        table["row"] = Column.of(np.arange(rows))
        expected = list(range(rows))
        lists = Table(table).to_dict()
        for name, turned in (("b", down[1]), ("a", down[0])):
            column = lists[name]
            there = [r for r in expected if column[r] is not None]
            there.sort(key=lambda r, column=column: ordered(column[r]), reverse=turned)
            missing = [r for r in expected if column[r] is None]
            expected = there + missing if nulls == "last" else missing + there
        found = tables.sort(table, ["a", "b"], descending=down, nulls=nulls, backend=backend)
        assert found["row"].to_list() == expected
        assert [shown(x) for x in found["a"].to_list()] == [shown(lists["a"][r]) for r in expected]
        assert found["b"].to_list() == [lists["b"][r] for r in expected]


def test_a_filter_keeps_rows_of_every_type(backend: str) -> None:
    for rows in (0, 1, 100):
        rng = np.random.default_rng(rows)
        kinds = ["int8", "uint16", "int64", "float32", "bool", "utf8"]
        table = {kind: keys_of(kind, rows, rng) for kind in kinds}
        flags = keys_of("bool", rows, rng)
        found = tables.filter(table, flags, backend=backend).to_dict()
        kept = [row for row, flag in enumerate(flags.to_list()) if flag]
        for kind, column in table.items():
            values = column.to_list()
            assert [shown(x) for x in found[kind]] == [shown(values[row]) for row in kept]


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("kind", ["int32", "float64", "utf8"])
def test_joins_are_those_of_two_loops(how: Any, kind: str, backend: str) -> None:
    for left, right in ((0, 5), (5, 0), (1, 1), (40, 30)):
        rng = np.random.default_rng(left)
        ours = {"k": keys_of(kind, left, rng), "v": Column.of(np.arange(left))}
        theirs = {"k": keys_of(kind, right, rng), "v": keys_of("utf8", right, rng)}
        if not left or not right:
            theirs["k"] = Column.of(np.arange(right)) if left else theirs["k"]
            ours["k"] = (
                Column.of(np.arange(left))
                if left
                else Column(
                    theirs["k"].kind,
                    0,
                    theirs["k"].data[:0],
                    None,
                    None if kind != "utf8" else np.zeros(1, np.int64),
                )
            )
        a, b = Table(ours).to_dict(), Table(theirs).to_dict()
        expected: list[tuple[Any, ...]] = []
        for row, key in enumerate(a["k"]):
            mine = [x for x in range(right) if key is not None and ordered(b["k"][x]) == ordered(key)]
            expected += [(shown(key), row, b["v"][x]) for x in mine]
            expected += [(shown(key), row, None)] if how == "left" and not mine else []
        found = tables.join(ours, theirs, "k", how=how, backend=backend).to_dict()
        assert list(found) == ["k", "v", "v_right"]
        assert list(zip(map(shown, found["k"]), found["v"], found["v_right"], strict=True)) == expected


def test_texts_are_those_at_their_spans(backend: str) -> None:
    rng = np.random.default_rng(8)
    data = bytes(rng.integers(32, 127, 501).astype(np.uint8))
    for count in (0, 1, 90):
        spans = np.sort(rng.integers(0, 502, (count, 2)), axis=1)
        expected = [data[a:b].decode() for a, b in spans.tolist()]
        assert tables.texts(data, spans, backend=backend).to_list() == expected
    words = "né à".encode()
    assert tables.texts(words, [[1, 3], [3, 3], [0, 6]], backend=backend).to_list() == ["é", "", "né à"]


def test_what_has_no_text_no_value_or_no_row_is_a_table_too(backend: str) -> None:
    asked = {"s": ("v", "sum"), "n": ("v", "count"), "m": ("v", "mean"), "x": ("v", "max")}
    blank = tables.group_by({"k": ["", "", None], "v": [1, None, 3]}, "k", asked, backend=backend)
    assert blank.to_dict() == {"k": ["", None], "s": [1, 3], "n": [1, 1], "m": [1.0, 3.0], "x": [1, 3]}
    none = tables.group_by({"k": [1, 1], "v": [None, None]}, "k", asked, backend=backend)
    assert none.to_dict() == {"k": [1], "s": [0], "n": [0], "m": [None], "x": [None]}
    assert tables.sort({"k": ["", None]}, "k", nulls="first", backend=backend)["k"].to_list() == [None, ""]
    assert tables.filter({"k": np.zeros(0)}, [], backend=backend).to_dict() == {"k": []}
    paired = tables.join({"k": ["", None]}, {"k": ["", ""], "w": ["", ""]}, "k", how="left", backend=backend)
    assert paired.to_dict() == {"k": ["", "", None], "w": ["", "", None]}
    truths = {"k": np.array([True, False, True]), "v": np.ones(3, np.bool_)}
    assert tables.group_by(truths, "k", {"s": ("v", "sum")}, backend=backend)["s"].to_list() == [1, 2]


def test_the_reference_gives_the_same() -> None:
    table = {"k": ["b", "a", None, "b"], "v": [1.5, None, 2.5, 1e300]}
    other = {"k": ["b", "b", "c"], "w": [True, None, False]}
    asked: list[Callable[[str], Table]] = [
        lambda on: tables.group_by(table, "k", ALL, backend=on),
        lambda on: tables.sort(table, ["k", "v"], backend=on),
        lambda on: tables.filter(table, [True, None, True, False], backend=on),
        lambda on: tables.join(table, other, "k", how="left", backend=on),
    ]
    for ask in asked:
        assert ask("reference").to_dict() == ask("cpu").to_dict()


def test_numbers_of_numpy_and_its_texts_are_taken() -> None:
    one: list[Any] = [np.int32(3), None, np.int64(-1)]
    assert Table({"a": one})["a"].to_list() == [3, None, -1]
    assert Table({"a": [np.float32(0.5), 2.0]})["a"].to_list() == [0.5, 2.0]
    assert Table({"a": [np.bool_(True), False]})["a"].kind == "bool"
    texts = np.array(["a", "bc", None], np.dtypes.StringDType(na_object=None))  # pyright: ignore[reportArgumentType]
    assert Table({"a": texts})["a"].to_list() == ["a", "bc", None]


def test_directions_may_be_an_array() -> None:
    table = {"a": [1, 1, 2], "b": [5, 6, 7]}
    assert tables.sort(table, ["a", "b"], descending=np.array([False, True]))["b"].to_list() == [6, 5, 7]  # pyright: ignore[reportArgumentType]
    assert tables.sort(table, "b", descending=np.bool_(True))["b"].to_list() == [7, 6, 5]  # pyright: ignore[reportArgumentType]


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: Table({"a": [1], "b": [1, 2]}), "'a': 1, 'b': 2"),
    (lambda: Table({"a": np.zeros((2, 2))}), "2 dimensions"),
    (lambda: Table({"a": np.zeros(2, np.complex128)}), "cannot hold complex128"),
    (lambda: Table({"a": [1, "x"]}), "elements of int, str"),
    (lambda: Table({"a": [1 << 70]}), "past 64 bits"),
    (lambda: Table({"a": [np.timedelta64(5, "ns")]}), "elements of timedelta64"),
    (lambda: Table({"a": [1 << 63]}), "past 64 bits with a sign"),
    (lambda: Table({"a": [0.5, (1 << 53) + 1]}), "9007199254740993, which a float64 cannot hold"),
    (lambda: Table({"a": [1]})[["a"]], "no column ['a']"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.sort({"a": [1]}, "a", descending="no"), "'no', which is not a bool"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.sort({"a": [1]}, ["a"], descending=["no"]), "'no', which is not a bool"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.texts(b"abc", [[0, 1], [2]]), "the list of spans is not an array"),
    (lambda: Table({"a": 3}), "cannot be made of int"),
    (lambda: Table(3), "int is not a table"),
    (lambda: Table({"a": [1]})["b"], "no column 'b'"),
    (lambda: tables.group_by({"a": [1]}, [], {}), "no column is named"),
    (lambda: tables.group_by({"a": [1]}, "a", {"x": ("a", "median")}), "not an aggregate"),
    (lambda: tables.group_by({"a": ["x"]}, "a", {"x": ("a", "sum")}), "the sum of text"),
    (lambda: tables.group_by({"a": [1]}, "a", {"a": ("a", "sum")}), "names a key"),
    (lambda: tables.texts(b"abc", [[0, 4]]), "not within the 3 bytes"),
    (lambda: tables.texts(b"abc", [[2, 1]]), "not within the 3 bytes"),
    (lambda: tables.texts(b"abc", [0, 1]), "of shape (2,)"),
    (lambda: tables.texts(b"ok\xff", [[0, 2], [2, 3]]), "text 1 is not UTF-8"),
    (lambda: tables.texts("é".encode() * 2, [[0, 0], [1, 4]]), "text 1 is not UTF-8"),
    (lambda: tables.texts("é".encode() * 2, [[0, 1], [1, 4]]), "text 1 is not UTF-8"),
    (lambda: Table({"a": ["\ud800"]}), "is not text that UTF-8 can hold"),
    (lambda: tables.group_by({"a": [1]}, "a", {"x": "a"}), "not a column and an aggregate"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.group_by({"a": [1]}, "a", [("x", "a")]), "list, not a mapping"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.sort({"a": [1]}, 0), "named by 0"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.join({"a": [1]}, {"a": [1]}, [None]), "named by None"),  # pyright: ignore[reportArgumentType]
    (lambda: tables.filter({"a": [1]}, [1]), "1 int64 for 1 rows"),
    (lambda: tables.filter({"a": [1]}, [True, False]), "2 bool for 1 rows"),
    (lambda: tables.sort({"a": [1]}, []), "0 keys"),
    (lambda: tables.sort({"a": [1]}, "a", descending=[True, False]), "2 directions"),
    (lambda: tables.join({"a": [1]}, {"a": ["x"]}, "a"), "int64 on the left and utf8"),
    (lambda: tables.join({"a": [1]}, {"a": [1]}, []), "0 keys"),
    (lambda: tables.join({"a": [1], "b": [1], "b_right": [1]}, {"a": [1], "b": [1]}, "a"), "'b_right'"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_cannot_be_taken_is_refused(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(DispatchError) as raised:
        call()
    assert said in str(raised.value)
    assert raised.value.fix


def test_a_missing_pyarrow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Frame:
        def __arrow_c_stream__(self) -> None: ...

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DispatchError, match="need the package pyarrow") as raised:
        Table(Frame())
    assert "vyre[tables]" in raised.value.fix
