"""The pages name files and modules that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "lab" / "README.md")
ROOTS = (ROOT, ROOT / "src", ROOT / "src" / "vyre", ROOT / "src" / "vyre" / "conform", ROOT / "tests")
SUFFIXES = ("py", "json", "toml", "md", "sh", "txt", "npz", "bin")
_FILE = re.compile(rf"`((?:[\w.-]+/)+[\w.-]+\.(?:{'|'.join(SUFFIXES)}))")
_MODULE = re.compile(r"python -m ((?:vyre|lab|tests)\.[\w.]+)")
ELSEWHERE = {
    "tests/test_mine.py": "written by `vyre new-backend mine`",
    "vyre_mine/backend.py": "the same",
    "vyre_mine/emitter.py": "the same",
    "vyre_mine/lanes.py": "the same",
    "primitive/and_not.py": "written by the reader of the page on operators",
}


def missing(text: str) -> set[str]:
    """Named files and modules that are nowhere."""
    files = {f for f in _FILE.findall(text) if f not in ELSEWHERE and not _below(f)}
    modules = {m.rstrip(".") for m in _MODULE.findall(text) if m.islower()}
    return files | {m for m in modules if not _found(m)}


def _below(file: str) -> bool:
    """Whether a file of this name lies somewhere, from a folder of the tree on."""
    return any((root / file).exists() for root in ROOTS) or any((ROOT / "src" / "vyre").rglob(file))


def _found(module: str) -> bool:
    path = Path(*module.split("."))
    return any(
        (root / path).with_suffix(".py").exists() or (root / path).is_dir() for root in (ROOT, ROOT / "src")
    )


def test_every_named_place_exists() -> None:
    assert {page.name: found for page in PAGES if (found := missing(page.read_text(encoding="utf-8")))} == {}


def test_a_place_that_moved_is_seen() -> None:
    assert missing("see `conform/results.py` and `conform/records/results.py`") == {"conform/results.py"}
    assert missing("python -m vyre.conform.lock --update") == {"vyre.conform.lock"}
