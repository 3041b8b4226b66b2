"""Every program of this folder is lowered to the text that lies beside it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from vyre.errors import UnsupportedByBackend
from vyre.lower.languages import LANGUAGES, lower
from vyre.text import parse_program
from vyre.validate import check

HERE = Path(__file__).parent
SOURCES = sorted(HERE.rglob("*.vyre"))
_MOST_LINES = 25
_SWITCH = "If that is meant, run `pytest tests/golden --update-golden` and read the diff."


def languages(source: Path) -> list[str]:
    """Those that the program names in its header, or all."""
    named = re.search(r"^// languages: (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    return named[1].split() if named else list(LANGUAGES)


def kept_at(source: Path, language: str) -> Path:
    return source.with_suffix(LANGUAGES[language].suffix)


def lowered(source: Path, language: str) -> str:
    """What the file of a program and a language should hold."""
    program = parse_program(source.read_text(encoding="utf-8"), file=source.name)
    check(program, allow_reserved=True)
    try:
        return lower(program, language).text.rstrip("\n") + "\n"
    except UnsupportedByBackend as refusal:
        return f"refused: {refusal.op}\n"


def difference(kept: Path, text: str) -> str:
    """A unified diff from the kept text to the new one and how to accept it, empty where they are equal."""
    before = kept.read_text(encoding="utf-8") if kept.exists() else ""
    if before == text:
        return ""
    old, new = before.splitlines(keepends=True), text.splitlines(keepends=True)
    diff = difflib.unified_diff(old, new, f"{kept.name} (kept)", f"{kept.name} (now)")
    return "".join((*diff, "\n", _SWITCH))


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: p.relative_to(HERE).with_suffix("").as_posix())
def test_a_program_is_lowered_to_its_text(source: Path, update_golden: bool) -> None:
    assert len(source.read_text(encoding="utf-8").splitlines()) <= _MOST_LINES
    differences: list[str] = []
    for language in languages(source):
        kept, text = kept_at(source, language), lowered(source, language)
        if update_golden:
            kept.write_text(text, encoding="utf-8", newline="\n")
        differences.append(difference(kept, text))
    assert not any(differences), "\n\n" + "\n".join(filter(None, differences))


def test_no_text_is_left_of_a_program_that_is_gone() -> None:
    wanted = {kept_at(source, language) for source in SOURCES for language in languages(source)}
    suffixes = {language.suffix for language in LANGUAGES.values()}
    assert {path for path in HERE.rglob("*") if path.suffix in suffixes} == wanted


def test_a_change_is_shown_as_a_diff_with_the_switch_that_accepts_it(tmp_path: Path) -> None:
    kept = tmp_path / "add.cu"
    kept.write_text("u32 a;\nu32 b;\n", encoding="utf-8")
    assert difference(kept, "u32 a;\nu32 b;\n") == ""
    shown = difference(kept, "u32 a;\nu32 c;\n")
    assert "-u32 b;\n+u32 c;\n" in shown
    assert "--update-golden" in shown
    assert "+u32 a;" in difference(tmp_path / "missing.cu", "u32 a;\n")
