"""The project names no mailbox, and no address but those of the standards that it follows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("src", "tests", "tools", "lab", "benchmarks", "docs", ".github", ".ci")
TEXTS = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".txt", ".sh", ".html", ""}
HOSTS = {
    "keepachangelog.com": "the form of the changelog",
    "semver.org": "the rule of its versions",
    "www.apache.org": "the licence's own text",
    "in-toto.io": "the statement that a certificate is",
    "vyre.dev": "the predicate types of certificates, which are names: nothing is read from there",
    "example.com": "reserved for examples",
    "127.0.0.1": "this machine itself",
}
_HOST = re.compile(r"https?://([\w.-]+)")
_MAILBOX = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|dev|io|edu|de)\b")


def texts() -> list[Path]:
    inside = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    found = [path for path in [*ROOT.iterdir(), *inside] if path.is_file() and path.suffix in TEXTS]
    return [
        path for path in found if "__pycache__" not in path.parts and not path.name.startswith("certificate")
    ]


def invented_in(text: str) -> list[str]:
    return [*(host for host in _HOST.findall(text) if host not in HOSTS), *_MAILBOX.findall(text)]


def test_no_address_is_invented() -> None:
    paths = [path for path in texts() if path != Path(__file__)]
    assert len(paths) > 100
    found = {path: invented_in(path.read_text(encoding="utf-8")) for path in paths}
    assert not {path: names for path, names in found.items() if names}


@pytest.mark.parametrize(
    "text", ["https://vyre.example.org/docs", "http://vyre.io", "write to security@vyre.dev today"]
)
def test_an_invented_address_is_found(text: str) -> None:
    assert len(invented_in(text)) == 1
