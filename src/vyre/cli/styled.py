"""Styled lines on a terminal; plain text, and plain letters, where there is none."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STYLES: dict[str, dict[str, Any]] = {
    "good": {"fg": "green"},
    "bad": {"fg": "red"},
    "open": {"fg": "yellow"},
    "dim": {"dim": True},
    "strong": {"bold": True},
}
_PLAIN = str.maketrans({"●": "*", "○": "-", "✓": "+", "✗": "x", "·": "|", "–": "-", "…": "..."})
_WIDEST = 100


def width() -> int:
    """Columns to lay out for: those of the terminal within reason, 80 where there is none."""
    return min(_WIDEST, shutil.get_terminal_size((80, 24)).columns) if sys.stdout.isatty() else 80


def echo_lines(lines: Iterable[Sequence[tuple[str, str]]]) -> None:
    """Prints them; colours go to a terminal only."""
    for line in lines:
        text = "".join(_shown(part, style) for part, style in line)
        click.echo(encodable(text if _speaks_unicode() else text.translate(_PLAIN)))


def encodable(text: str) -> str:
    """The text with what the terminal's encoding does not have written as escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _shown(text: str, style: str) -> str:
    """A part of a line; control characters that come with a device's name steer no terminal."""
    safe = "".join(c if c.isprintable() else f"\\u{{{ord(c):X}}}" for c in text)
    return click.style(safe, **_STYLES[style]) if style else safe


def _speaks_unicode() -> bool:
    encoding = getattr(sys.stdout, "encoding", None) or "ascii"
    try:
        "●○✓✗·–…".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
