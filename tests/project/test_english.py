"""Messages and pages say "is not an X": "is no X" is not English, where "there is no X" is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKED = ("whose size is no multiple",)
"""The meaning of V044, which the permanence lock keeps as it is."""

_LINES = re.compile(r"\s*\"?\n\s*(?:#\s*|f?\"|>\s*)?")
_STIFF = re.compile(
    r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|else\b|\w+er\b)[\w`{]+", re.IGNORECASE
)


def stiff(text: str) -> list[str]:
    """Every "is no X" of a text, with the words before it, also where a line ends inside it."""
    flat = _LINES.sub(" ", text)
    found = [flat[max(match.start() - 30, 0) : match.end()] for match in _STIFF.finditer(flat)]
    return [words for words in found if not any(kept in words for kept in LOCKED)]


def test_nothing_is_no_thing() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]
    pages = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    assert len(sources) > 100
    found = {str(path.relative_to(ROOT)): stiff(path.read_text(encoding="utf-8")) for path in sources + pages}
    assert {path: words for path, words in found.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "7 is no shape.",
        "these are no\n    results",
        '"it is "\n        "no grid"',
        "x is no {kind}",
        "is no `graph`",
    ],
)
def test_what_is_no_thing_is_found(text: str) -> None:
    assert stiff(text)


@pytest.mark.parametrize(
    "text",
    ["there is no op", "There are no\ncasts", "is no longer there", "is no faster", "it is not a grid"],
)
def test_english_is_left_alone(text: str) -> None:
    assert not stiff(text)
