"""Reads the tables and numbered lists of the specification documents.

    python tools/spec_tables.py SPEC_DIR            prints the manifest
    python tools/spec_tables.py SPEC_DIR --write    rewrites golden/tables.json

The manifest is what the golden rows answer for: one entry per table or numbered list, named
`document/section`, `document/section#2` for the second table of a section, `document/section (list)` for a
list, with a digest of every row. A row that is added, dropped, moved or reworded shows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path

MANIFEST = Path(__file__).parent.parent / "src/vyre/conform/oracle/golden/tables.json"
_HEADING = re.compile(r"#+ +(.*?) *$")
_ITEM = re.compile(r"\d+\. +(.*)")
_CELL = re.compile(r"(?<!\\)\|")
_DIGITS = 12

Rows = list[tuple[str, ...]]
"""The rows of a table by their cells; an item of a list is a row of one cell."""


def read_document(name: str, text: str) -> dict[str, Rows]:
    """Tables and numbered lists of one document, in order, without the header of a table."""
    found: dict[str, Rows] = {}
    section = key = ""
    header = 0
    fenced = False
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        if heading := _HEADING.fullmatch(line):
            section = heading[1].replace("`", "")
        if line.startswith("|"):
            if not header:
                tables = sum(1 for k in found if k.split("#")[0] == f"{name}/{section}")
                key = f"{name}/{section}" + (f"#{tables + 1}" if tables else "")
                found[key] = []
            header += 1
            if header > 2:
                found[key].append(tuple(cell.strip() for cell in _CELL.split(line.strip()[1:])[:-1]))
            continue
        header = 0
        if item := _ITEM.match(line):
            key = f"{name}/{section} (list)"
            found.setdefault(key, []).append((item[1],))
        elif key.endswith("(list)") and line.startswith("   ") and line.strip():
            rows = found[key]
            rows[-1] = (f"{rows[-1][0]} {line.strip()}",)
        elif line.strip() or not key.endswith("(list)"):
            key = ""
    return found


def read_directory(spec: Path) -> dict[str, Rows]:
    """The tables and lists of every numbered document in `spec`."""
    found: dict[str, Rows] = {}
    for path in sorted(spec.glob("[0-9][0-9][0-9]_*.md")):
        found |= read_document(path.name[:3], path.read_text(encoding="utf-8"))
    return found


def digest(row: tuple[str, ...]) -> str:
    """A digest of a row, blind to how its cells are padded."""
    text = "|".join(" ".join(cell.split()) for cell in row)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def manifest(found: dict[str, Rows]) -> dict[str, list[str]]:
    return {name: [digest(row) for row in rows] for name, rows in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Read the tables of the specification documents.")
    parser.add_argument("spec", type=Path, help="directory of the documents")
    parser.add_argument("--write", action="store_true", help=f"rewrite {MANIFEST.name}")
    arguments = parser.parse_args()
    lines = [
        f" {json.dumps(name, ensure_ascii=False)}: {json.dumps(rows)}"
        for name, rows in manifest(read_directory(arguments.spec)).items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if arguments.write:
        MANIFEST.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
