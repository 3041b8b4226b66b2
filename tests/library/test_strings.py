"""Text is cut, found and changed as Python does it, on every backend."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from typing import Any

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError
from vyre.library import strings


def parts(data: bytes, spans: Any) -> list[bytes]:
    return [data[begin:end] for begin, end in spans.tolist()]


def test_every_byte_changes_as_in_python(backend: str) -> None:
    every = bytes(range(256)) + b"tail"
    for data in (every, every[:7], b"aZ", b""):
        assert bytes(strings.upper(data, backend=backend)) == data.upper()
        assert bytes(strings.lower(data, backend=backend)) == data.lower()
        table = bytes(reversed(range(256)))
        assert bytes(strings.translate(data, table, backend=backend)) == data.translate(table)
        digits = strings.is_any(data, b"0123456789", backend=backend)
        assert digits.tolist() == [int(b in b"0123456789") for b in data]


def test_words_are_found_as_by_bytes(backend: str) -> None:
    dice = random.Random(3)
    for turn in range(120 if backend == "cpu" else 15):
        data = bytes(dice.choices(b"ab.", k=(turn * 37) % 700))
        word = bytes(dice.choices(b"ab.", k=dice.randint(1, 4)))
        new = bytes(dice.choices(b"xyz", k=dice.randint(0, 6)))
        assert strings.find(data, word, backend=backend) == data.find(word)
        assert strings.count(data, word, backend=backend) == data.count(word)
        places = strings.find_all(data, word, backend=backend).tolist()
        assert places == [m.start() for m in re.finditer(re.escape(word), data)]
        assert bytes(strings.replace(data, word, new, backend=backend)) == data.replace(word, new)
        assert parts(data, strings.split(data, word, backend=backend)) == data.split(word)


@pytest.mark.parametrize("size", [63, 64, 65, 300, 5000])
def test_long_words_that_overlap_themselves_are_found_apart(size: int) -> None:
    dice = random.Random(size)
    for period in (b"a", b"ab", dice.randbytes(20)):
        word = (period * size)[:size]
        data = b"".join(dice.choice([period, word, word[:-1], b"-", word * 2]) for _ in range(30))
        same: Any = bytearray(word)
        places = [m.start() for m in re.finditer(re.escape(word), data)]
        assert strings.find_all(data, same).tolist() == places
        assert bytes(strings.replace(data, word, b"+")) == data.replace(word, b"+")


def test_all_that_is_replaced_may_vanish() -> None:
    assert bytes(strings.replace(b"ababab", b"ab", b"")) == b""
    assert bytes(strings.replace(b"", b"ab", b"c")) == b""


def test_lines_are_those_of_splitlines(backend: str) -> None:
    dice = random.Random(4)
    for turn in range(120 if backend == "cpu" else 15):
        data = bytes(dice.choices(b"a\r\n", k=(turn * 13) % 600))
        assert parts(data, strings.lines(data, backend=backend)) == data.splitlines()


def plain(field: bytes) -> str:
    """What the module `csv` makes of a field: up to the closing quote doubled ones count once."""
    if not field.startswith(b'"'):
        return field.decode("latin-1")
    inner = field[1:]
    quoted = re.match(rb'(?:[^"]|"")*', inner)
    assert quoted is not None
    return (quoted[0].replace(b'""', b'"') + inner[quoted.end() + 1 :]).decode("latin-1")


def csv_rows(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("latin-1"), newline="")))


def cut(found: strings.Rows, data: bytes) -> list[list[bytes]]:
    return [parts(data, found.spans[a:b]) for a, b in zip(found.rows[:-1], found.rows[1:], strict=True)]


def test_fields_are_those_of_the_csv_module(backend: str) -> None:
    dice = random.Random(9)
    for turn in range(400 if backend == "cpu" else 20):
        data = bytes(dice.choices(b'ab,,""\r\n', k=turn % 40))
        rows = cut(strings.csv_fields(data, backend=backend), data)
        assert [[plain(field) for field in row] for row in rows] == csv_rows(data), data


def test_a_table_that_was_written_comes_back(backend: str) -> None:
    dice = random.Random(10)
    table = [["".join(dice.choices('xy ,"\n', k=dice.randint(0, 9))) for _ in range(5)] for _ in range(300)]
    file = io.StringIO(newline="")
    csv.writer(file).writerows(table)
    data = file.getvalue().encode()
    rows = cut(strings.csv_fields(data, backend=backend), data)
    assert [[plain(field) for field in row] for row in rows] == table
    tabs = data.replace(b",", b";")
    assert len(strings.csv_fields(tabs, delimiter=b";", backend=backend)) == 300


TOKEN = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*(?:"|\\?(?=\n|\Z))|[{}\[\]:,]|[^\s"{}\[\]:,]+')


def test_tokens_are_those_of_an_expression(backend: str) -> None:
    dice = random.Random(11)
    for turn in range(300 if backend == "cpu" else 20):
        data = bytes(dice.choices(b'a1"" \\{}:,\n', k=turn % 50))
        rows = cut(strings.json_tokens(data, backend=backend), data)
        expected = data.split(b"\n")
        expected = expected[:-1] if not expected[-1] else expected
        assert rows == [TOKEN.findall(line) for line in expected], data


def test_records_that_were_written_have_their_tokens(backend: str) -> None:
    records = [{"id": k, 'a "b"\\\n': [True, None, -1.5e3, {"é": "{[,:]}"}]} for k in range(200)]
    data = b"".join(json.dumps(r).encode() + b"\n" for r in records)
    rows = cut(strings.json_tokens(data, backend=backend), data)
    assert [json.loads(b" ".join(row)) for row in rows] == records
    assert {len(row) for row in rows} == {len(rows[0])}


def test_the_reference_gives_the_same() -> None:
    data = b'a,"b,""c"\nd'
    assert cut(strings.csv_fields(data, backend="reference"), data) == [[b"a", b'"b,""c"'], [b"d"]]
    assert bytes(strings.replace(b"abcab", b"ab", b"x", backend="reference")) == b"xcx"
    assert bytes(strings.upper(b"abc", backend="reference")) == b"ABC"


def test_a_text_may_be_on_a_device(backend: str) -> None:
    data = b"one, two, three!" * 30
    there = vyre.to_device(np.frombuffer(data, np.uint8), backend=backend)
    assert bytes(strings.upper(there)) == data.upper()
    assert bytes(strings.replace(there, b", ", b";")) == data.replace(b", ", b";")
    assert bytes(strings.replace(there, b"none", b";")) == data
    assert parts(data, strings.split(there, b"!")) == data.split(b"!")
    assert cut(strings.csv_fields(there), data) == [data.split(b",")]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: strings.find(b"a", b""), "the word is empty"),
        (lambda: strings.count(b"a", "a"), "str, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.translate(b"a", b"abc"), "the table has 3 bytes"),
        (lambda: strings.csv_fields(b"a", delimiter=b'"'), "cannot separate and quote fields"),
        (lambda: strings.csv_fields(b"a", delimiter=b"\n"), "cannot separate and quote fields"),
        (lambda: strings.lines("a"), "text, not bytes"),
        (lambda: strings.csv_fields(b"a", delimiter=","), "delimiter is str, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.csv_fields(b"a", quote=None), "quote is NoneType, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.replace(b"a", b"a", "x"), "new is str, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.replace(b"a", b"b", None), "new is NoneType, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.is_any(b"a", "a"), "members is str, not bytes"),  # pyright: ignore[reportArgumentType]
        (lambda: strings.is_any(b"a", 97), "members is int, not bytes"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_what_cannot_be_taken_is_refused(call: Any, said: str) -> None:
    with pytest.raises(DispatchError, match=said) as raised:
        call()
    assert raised.value.fix
