"""The fields of CSV and the tokens of JSON lines: where they begin and end, row by row.

Both are found by an automaton of a few states that walks over all parts of the text at once. Its marks stand
before a symbol: a field begins here, one ends here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import DispatchError, boundary
from vyre.library.matching.automata import BEGINS, EMPTY, END, ENDS, LAST_NEWLINE, SYMBOLS, Walk, explored
from vyre.library.matching.listing import listed
from vyre.library.messages import plain_bytes, words_of
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Numbers = NDArray[np.uint32]
    Moves = Callable[[str, str], tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """`spans[rows[i] : rows[i + 1]]` is where the parts of row i begin and end."""

    spans: Numbers
    rows: Numbers

    def __len__(self) -> int:
        return len(self.rows) - 1


_MARKS = {"(": BEGINS, ")": ENDS, "/": EMPTY}


@dataclass(frozen=True, slots=True)
class _Grammar:
    """The classes of symbols, and the walk over them that marks parts and, apart from these, ends of rows."""

    classes: Numbers
    walk: Walk


def _grammar(names: dict[int, str], first: str, moves: Moves) -> _Grammar:
    """`moves(state, name)` is the next state, and what stands before the symbol: some of "(", ")" and "/"."""
    kinds = list(dict.fromkeys(["other", "end", *names.values()]))
    found = [kinds.index(names.get(s, "other")) for s in range(SYMBOLS)]
    found[END], found[LAST_NEWLINE] = kinds.index("end"), found[10]

    def moved(state: tuple[Any, ...], kind: int) -> tuple[tuple[Any, ...], int]:
        target, signs = moves(state[0], kinds[kind])
        return (target,), sum(_MARKS[sign] for sign in signs)

    table = explored((first,), len(kinds), moved)[1]
    return _Grammar(np.array(found, np.uint32), Walk(table.reshape(-1), len(kinds)))


def _rows(grammar: _Grammar, data: Any, backend: str | Backend | None) -> Rows:
    given, backend = words_of(data, "data", backend)
    spans, ends = listed(grammar.walk, grammar.classes, given, backend, apart=True)
    bounds = np.searchsorted(spans[:, 1], ends, side="right")
    return Rows(spans, np.concatenate([[0], bounds]).astype(np.uint32))


def _csv_moves(state: str, name: str) -> tuple[str, str]:
    """`row` and `return` are before a row, `field` after a delimiter, `closed` after a quote that may end."""
    if state == "return" and name == "newline":
        return "row", ""
    if state == "quoted":
        inside = {"quote": ("closed", ""), "end": ("row", ")/")}
        return inside.get(name, ("quoted", ""))
    if state == "closed" and name == "quote":
        return "quoted", ""
    new = state in ("row", "return", "field")
    begins = "(" if new else ""
    match name:
        case "newline" | "return":
            marks = "/" if state in ("row", "return") else f"{begins})/"
            return ("row" if name == "newline" else "return"), marks
        case "end":
            return "row", "" if state in ("row", "return") else f"{begins})/"
        case "delimiter":
            return "field", f"{begins})"
        case "quote" if new:
            return "quoted", begins
        case _:
            return "plain", begins


def _json_moves(state: str, name: str) -> tuple[str, str]:
    """`done` is after a sign or a string, which ends before the next symbol whatever that is."""
    row = "/" if name in ("newline", "end") else ""
    if state == "escaped" and not row:
        return "string", ""
    if state in ("string", "escaped"):
        if row:
            return ("row" if name == "newline" else "end"), f"){row}"
        return {"quote": "done", "escape": "escaped"}.get(name, "string"), ""
    if state == "word" and name in ("other", "escape"):
        return "word", ""
    ends = ")" if state in ("done", "word") else ""
    match name:
        case "newline":
            return "row", f"{ends}/"
        case "end":
            return "end", ends if state == "row" else f"{ends}/"
        case "space":
            return "between", ends
        case "sign":
            return "done", f"{ends}("
        case "quote":
            return "string", f"{ends}("
        case _:
            return "word", f"{ends}("


@lru_cache(maxsize=16)
def _csv(delimiter: int, quote: int) -> _Grammar:
    names = {10: "newline", 13: "return", delimiter: "delimiter", quote: "quote"}
    return _grammar(names, "row", _csv_moves)


@lru_cache(maxsize=1)
def _json() -> _Grammar:
    names = {10: "newline", ord('"'): "quote", ord("\\"): "escape"}
    names |= dict.fromkeys(b" \t\r", "space") | dict.fromkeys(b"{}[]:,", "sign")
    return _grammar(names, "row", _json_moves)


@boundary
def csv_fields(
    data: Any, *, delimiter: bytes = b",", quote: bytes = b'"', backend: str | Backend | None = None
) -> Rows:
    """The fields of every row, with their quotes: rows and fields as the module `csv` cuts them.

    A row ends with a newline, a carriage return or both, outside quotes; an empty line is a row of no fields.
    A quote that is not closed ends with the text.
    """
    delimiter, quote = plain_bytes("delimiter", delimiter), plain_bytes("quote", quote)
    if len(delimiter) != 1 or len(quote) != 1 or delimiter == quote or set(delimiter + quote) & set(b"\r\n"):
        raise DispatchError(
            f"{delimiter!r} and {quote!r} cannot separate and quote fields.",
            fix="pass two bytes that differ, and no newline.",
        )
    return _rows(_csv(delimiter[0], quote[0]), data, backend)


@boundary
def json_tokens(data: Any, *, backend: str | Backend | None = None) -> Rows:
    """The tokens of JSON, a row a line: signs, strings with their quotes, and words between them (numbers,
    true, false, null). A string ends with its line at the latest; nothing else is checked."""
    return _rows(_json(), data, backend)
