"""How a text is read from its beginning to its end, whatever it holds; words that the place makes special."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from vyre.errors import ParseError, VyreError
from vyre.text.lexer import Cursor, Tokens
from vyre.text.vocabulary import VERSION

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def reading(text: str, file: str) -> Generator[Cursor]:
    """Gives what a constructor refuses the place where the text stood."""
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ParseError(
            f"a {type(text).__name__} is not a text.",
            fix="pass a str; from_wire reads bytes.",
            line=1,
            column=1,
            file=file,
        )
    c = Cursor(Tokens(text, file))
    try:
        yield c
    except ParseError:
        raise
    except VyreError as error:
        raise c.error(error.message, fix=error.fix) from None


def holds_graph(text: str) -> bool:
    """Whether a text begins like that of a graph, whatever follows."""
    try:
        c = Cursor(Tokens(text, ""))
    except ParseError:
        return False
    return take_word(c, "vyre") and take_word(c, "graph")


def expect_word(c: Cursor, word: str, fix: str) -> None:
    if not take_word(c, word):
        raise c.error(f"expected `{word}`, found {c.describe()}.", fix=fix)


def take_word(c: Cursor, word: str) -> bool:
    if c.kind == "name" and c.value == word:
        c.at += 1
        return True
    return False


def expect_end(c: Cursor, wanted: str) -> None:
    if c.kind != "end":
        raise c.error(
            f"expected {wanted}, found {c.describe()}.",
            fix="remove what follows, or join it to what is before.",
        )


def expect_header(c: Cursor, words: str, otherwise: str) -> None:
    """The first line: what the text holds, in `words`, and the version of the form."""
    line = f"{words} {VERSION}"
    for word in words.split():
        if not take_word(c, word):
            raise c.error(
                f"expected `{line}`, found {c.describe()}.", fix=f"make `{line}` the first line; {otherwise}."
            )
    at = c.at
    if c.kind == "name":
        raise c.error(f"this text is not a `{line}`.", fix=f"make `{line}` the first line; {otherwise}.")
    version = c.integer("the version of the text form", low=0, fix=f"write {line}.")
    if version != VERSION:
        raise c.error(
            f"version {c.values[at][:40]} of the text form is unknown.",
            fix=f"write {line}, or use a newer vyre.",
            at=at,
        )
