"""A document from outside is checked field by field, and what is wrong is named by its path."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any

import pytest

from vyre.conform.records.documents import (
    MAX_NESTING,
    Among,
    Field,
    FieldError,
    Rule,
    Within,
    canonical,
    decode,
    parse,
    printable,
)


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    cases: int


@dataclass(frozen=True, slots=True)
class Whole:
    seed: Annotated[int, Within(0, 9)]
    status: Annotated[str, Among("passed", "failed")]
    shard: Annotated[tuple[int, int], Rule("i of n", lambda s: 1 <= s[0] <= s[1])]
    parts: tuple[Part, ...]
    note: str | None
    facts: dict[str, int]
    done: bool


WHOLE = Whole(9, "passed", (1, 2), (Part("a", 0), Part("b", 3)), None, {"x": 1}, done=True)


def record(**changed: Any) -> dict[str, Any]:
    return parse(canonical(asdict(WHOLE))) | changed


def test_a_value_comes_back() -> None:
    assert decode(Whole, record()) == WHOLE
    assert decode(Whole, record(note="text")).note == "text"


@pytest.mark.parametrize(
    ("changed", "path", "said"),
    [
        ({"seed": 10}, "seed", "a whole number from 0 to 9, found 10"),
        ({"seed": -1}, "seed", "found -1"),
        ({"seed": True}, "seed", "found true"),
        ({"seed": 1.0}, "seed", "found 1.0"),
        ({"seed": None}, "seed", "found null"),
        ({"seed": 1 << 4000}, "seed", "a number of 4001 bits"),
        ({"status": "PASSED"}, "status", "one of 'passed', 'failed', found 'PASSED'"),
        ({"status": []}, "status", "a string, found a list of 0"),
        ({"status": "\ud800"}, "status", "surrogate"),
        ({"shard": [2, 1]}, "shard", "i of n, found a list of 2"),
        ({"shard": [1, 2, 3]}, "shard", "a list of 2, found one of 3"),
        ({"shard": [1, -2]}, "shard[1]", "found -2"),
        ({"parts": [{"name": "a", "cases": 1}, {"name": "b"}]}, "parts[1].cases", "missing"),
        ({"parts": [{"name": "a", "cases": 1 << 63}]}, "parts[0].cases", "a whole number from 0 to"),
        ({"parts": [{"name": "a", "cases": 1, "x": 2}]}, "parts[0].x", "no field of this name"),
        ({"parts": {}}, "parts", "a list, found a record of 0 fields"),
        ({"note": 5}, "note", "a string, found 5"),
        ({"facts": {"x": "1"}}, "facts.x", "a whole number"),
        ({"facts": []}, "facts", "a record, found a list of 0"),
        ({"done": 1}, "done", "true or false, found 1"),
        ({"\x1b[31m": 1}, "\\u{1B}[31m", "no field of this name"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(changed: dict[str, Any], path: str, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        decode(Whole, record(**changed))
    assert caught.value.path == path
    assert said in caught.value.what
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff", "not UTF-8 at byte 0"),
        (b"{", "not JSON at byte 1"),
        ('{"ä": }'.encode(), "not JSON at byte 7"),
        (b"[NaN]", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"[1e400]", "1e400 is too large"),
        (b"[" + b"9" * 5000 + b"]", "a number of 5000 digits"),
        (b"[" * (MAX_NESTING + 1) + b"]" * (MAX_NESTING + 1), "nested more than"),
        (b"[" * 200_000, "nested more than"),
        (b'{"a":' * 200_000, "nested more than"),
    ],
)
def test_what_is_not_json_of_ours_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        parse(data)
    assert said in str(caught.value)


def test_the_deepest_allowed_document_is_read() -> None:
    assert parse(b"[" * MAX_NESTING + b"]" * MAX_NESTING)


def test_half_a_surrogate_pair_is_written_as_text_and_stays_so() -> None:
    data = canonical({"device": "GPU \ud800", "ä": "\U0001f600"})
    assert parse(data) == {"device": "GPU \\ud800", "ä": "\U0001f600"}
    assert canonical(parse(data)) == data


def test_a_name_becomes_printable() -> None:
    assert printable("GPU \x1b[31m\ud800\n é") == "GPU \\u{1B}[31m\\u{D800}\\u{A} é"


def test_a_field_is_asked_for_what_it_is() -> None:
    field = Field({"a": [1, 2]}, "top")
    assert [f.integer(high=2) for f in field.field("a").items()] == [1, 2]
    assert list(field.maybe("b")) == []
    with pytest.raises(FieldError, match=r"top\.b: this field is missing"):
        field.field("b")
