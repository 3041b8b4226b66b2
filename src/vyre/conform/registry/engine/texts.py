"""Specs of searching and cutting text: `vyre.library.strings` and `vyre.library.matching`."""

from __future__ import annotations

import csv
import io
import re
import zlib
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import CallSubject, letters, numbers, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.registry.engine.called import Array, Inputs

_WORDS = (b"ab", b"aa", b"aba", b"a", b"abcabcab", b"\n")
_OTHERS = (b"", b"x", b"xyz", b"abab")
_PATTERNS = (rb"a+b", rb"(?:ab|a)*", rb"[^a]b?", rb"^a.*$", rb"b{2,3}c", rb"\ba", rb"a*?b")
_MANY = ((b"a", b"ab", b"bab"), (b"abc", b"bc", b"c", b"bc"), (b"cab", b"aaaaaaaaab"), (b"b",))
_ROW = 1 << 32
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*(?:"|\\?(?=\n|\Z))|[{}\[\]:,]|[^ \t\r\n"{}\[\]:,]+')


def _of(alphabet: bytes) -> Callable[[np.random.Generator, int, int], Inputs]:
    def draw(rng: np.random.Generator, index: int, count: int) -> Inputs:
        return {"input": letters(rng, count, alphabet)}

    return draw


def _text(inputs: Inputs) -> bytes:
    return inputs["input"].tobytes()


def _array(*values: int) -> Array:
    return np.array(values, np.int64)


def _find(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    data, word = inputs["input"], _WORDS[index % len(_WORDS)]
    first = library.strings.find(data, word, backend=backend)
    number = library.strings.count(data, word, backend=backend)
    return {
        "output": library.strings.find_all(data, word, backend=backend),
        "first": _array(first + 1),
        "number": _array(number),
    }


def _found(inputs: Inputs, index: int) -> Array:
    text, word = _text(inputs), _WORDS[index % len(_WORDS)]
    starts: list[int] = []
    at = text.find(word)
    while at >= 0:
        starts.append(at)
        at = text.find(word, at + len(word))
    return numbers([*starts, _ROW + text.find(word) + 1, 2 * _ROW + text.count(word)])


def _places(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    return numbers(
        [*outputs["output"].tolist(), _ROW + int(outputs["first"][0]), 2 * _ROW + int(outputs["number"][0])]
    )


FIND = CallSubject(
    "find",
    "where a word begins, its first place, and how often it is there without overlaps",
    _of(b"aaabbc\n"),
    _find,
    _found,
    _places,
)


def _replace(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    old, new = _WORDS[index % len(_WORDS)], _OTHERS[index % len(_OTHERS)]
    return {"output": library.strings.replace(inputs["input"], old, new, backend=backend)}


def _replaced(inputs: Inputs, index: int) -> Array:
    return numbers(_text(inputs).replace(_WORDS[index % len(_WORDS)], _OTHERS[index % len(_OTHERS)]))


REPLACE = CallSubject(
    "replace",
    "a text with another word for each occurrence of one",
    _of(b"aaabbc\n"),
    _replace,
    _replaced,
)


def _translate(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    called = (library.strings.upper, library.strings.lower)[index % 2]
    return {"output": called(inputs["input"], backend=backend)}


def _translated(inputs: Inputs, index: int) -> Array:
    text = _text(inputs)
    return numbers(text.lower() if index % 2 else text.upper())


TRANSLATE = CallSubject(
    "translate",
    "each byte by a table of its own: letters in capitals, or in small ones",
    _of(bytes(range(256))),
    _translate,
    _translated,
)


def _spans(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    return spans(outputs["output"])


def _split(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = library.strings.split(inputs["input"], _WORDS[index % len(_WORDS)], backend=backend)
    return {"output": found.reshape(-1)}


def _parts(inputs: Inputs, index: int) -> Array:
    word, at = _WORDS[index % len(_WORDS)], 0
    found: list[int] = []
    for part in _text(inputs).split(word):
        found.append(at << 32 | at + len(part))
        at += len(part) + len(word)
    return numbers(found)


SPLIT = CallSubject(
    "split", "the parts between separators, as spans", _of(b"aaabbc\n"), _split, _parts, _spans
)


def _lines(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return {"output": library.strings.lines(inputs["input"], backend=backend).reshape(-1)}


def _lined(inputs: Inputs, index: int) -> Array:
    at = 0
    found: list[int] = []
    for line in _text(inputs).splitlines(keepends=True):
        found.append(at << 32 | at + len(line.rstrip(b"\r\n")))
        at += len(line)
    return numbers(found)


LINES = CallSubject(
    "lines", "the lines of a text without their breaks, as spans", _of(b"ab\r\n"), _lines, _lined, _spans
)


def _rows(found: Any) -> Mapping[str, Any]:
    return {"output": found.spans.reshape(-1), "rows": found.rows}


def _cut(inputs: Inputs, outputs: Mapping[str, Any], edges: bytes = b"") -> list[list[bytes]]:
    """The bytes of each part; of one that does not end after it begins, or has none of the edges beside it,
    its place, which is nothing that a row could have."""
    text, parts = _text(inputs), outputs["output"].reshape(-1, 2).tolist()

    def part(a: int, b: int) -> bytes:
        beside = text[max(a - 1, 0) : a] + text[b : b + 1]
        fits = a <= b and (not edges or all(byte in edges for byte in beside))
        return text[a:b] if fits else b"%d:%d" % (a, b)

    cut = [part(a, b) for a, b in parts]
    return [cut[low:high] for low, high in pairwise(outputs["rows"].tolist())]


def _told(rows: list[list[bytes]]) -> Array:
    """A number for each part, with the row in which it is, and one for the end of each row."""
    found = ([*(zlib.crc32(part) for part in row), _ROW - 1] for row in rows)
    return numbers(number * _ROW + item for number, row in enumerate(found) for item in row)


def _csv(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return _rows(library.strings.csv_fields(inputs["input"], backend=backend))


def _unquoted(part: bytes) -> bytes:
    """Up to the closing quote doubled ones count once; what follows it belongs to the field."""
    if not part.startswith(b'"'):
        return part
    quoted = re.match(rb'(?:[^"]|"")*', part[1:])
    assert quoted is not None
    return quoted[0].replace(b'""', b'"') + part[quoted.end() + 2 :]


def _fields(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    return _told([[_unquoted(part) for part in row] for row in _cut(inputs, outputs, b",\r\n")])


def _read(inputs: Inputs, index: int) -> Array:
    rows = csv.reader(io.StringIO(_text(inputs).decode("latin-1"), newline=""))
    return _told([[part.encode("latin-1") for part in row] for row in rows])


CSV = CallSubject("csv_fields", "the fields of every row of CSV", _of(b'aab,,""\r\n\n'), _csv, _read, _fields)


def _json(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return _rows(library.strings.json_tokens(inputs["input"], backend=backend))


def _tokens(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    return _told(_cut(inputs, outputs))


def _tokenised(inputs: Inputs, index: int) -> Array:
    rows = _text(inputs).split(b"\n")
    return _told([_TOKEN.findall(row) for row in (rows if rows[-1] else rows[:-1])])


JSON = CallSubject(
    "json_tokens", "the tokens of every line of JSON", _of(b'a1"" \\{}:,\n'), _json, _tokenised, _tokens
)


@lru_cache(maxsize=16)
def _regex(pattern: bytes) -> Any:
    return library.matching.Regex(pattern)


@lru_cache(maxsize=16)
def _automaton(words: tuple[bytes, ...]) -> Any:
    return library.matching.Words(words)


def _search(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = _regex(_PATTERNS[index % len(_PATTERNS)]).spans(inputs["input"], backend=backend)
    return {"output": found.reshape(-1)}


def _searched(inputs: Inputs, index: int) -> Array:
    found = re.finditer(_PATTERNS[index % len(_PATTERNS)], _text(inputs))
    return numbers(match.start() << 32 | match.end() for match in found)


REGEX = CallSubject(
    "regex",
    "the matches of a regular expression, leftmost first, as spans",
    _of(b"aaabbc\n"),
    _search,
    _searched,
    _spans,
)


def _seek(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found, ids = _automaton(_MANY[index % len(_MANY)]).find(inputs["input"], backend=backend)
    return {"output": found.reshape(-1), "ids": ids}


def _sought(inputs: Inputs, index: int) -> Array:
    text, words = _text(inputs), _MANY[index % len(_MANY)]
    longest = sorted(range(len(words)), key=lambda k: (-len(words[k]), k))
    return numbers(
        (end - len(words[k])) << 40 | end << 8 | k
        for end in range(1, len(text) + 1)
        for k in longest
        if text[:end].endswith(words[k])
    )


def _named(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    found = outputs["output"].astype(np.uint64).reshape(-1, 2)
    return found[:, 0] << np.uint64(40) | found[:, 1] << np.uint64(8) | outputs["ids"]


WORDS = CallSubject(
    "words",
    "every occurrence of many words, in the order of their ends",
    _of(b"aaaabbc"),
    _seek,
    _sought,
    _named,
    growth=8,
)

SPECS = tuple(s.spec() for s in (FIND, REPLACE, SPLIT, LINES, CSV, JSON, REGEX, WORDS, TRANSLATE))
