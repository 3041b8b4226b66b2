"""Counts the tables and numbered lists of the specification documents.

    python tools/count_spec_tables.py SPEC_DIR            prints the manifest
    python tools/count_spec_tables.py SPEC_DIR --write    rewrites golden/tables.json

The manifest is what the golden rows are counted against: one entry per table or numbered list, named
`document/section`, `document/section#2` for the second table of a section, `document/section (list)`
for a list, with its number of data rows.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

MANIFEST = Path(__file__).parent.parent / "src/vyre/conform/golden/tables.json"
_HEADING = re.compile(r"#+ +(.*?) *$")
_ITEM = re.compile(r"\d+\. ")


def count_document(name: str, text: str) -> dict[str, int]:
    """Tables and numbered lists of one document, in order, with their number of rows or items."""
    counts: dict[str, int] = {}
    section = ""
    fenced = in_table = False
    table = ""
    for line in text.splitlines():
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        if heading := _HEADING.fullmatch(line):
            section = heading[1].replace("`", "")
        if line.startswith("|"):
            if not in_table:
                in_table = True
                tables = sum(1 for k in counts if k.split("#")[0] == f"{name}/{section}")
                table = f"{name}/{section}" + (f"#{tables + 1}" if tables else "")
                counts[table] = -2  # the header and its rule
            counts[table] += 1
            continue
        in_table = False
        if _ITEM.match(line):
            key = f"{name}/{section} (list)"
            counts[key] = counts.get(key, 0) + 1
    return counts


def count_directory(spec: Path) -> dict[str, int]:
    """The manifest of every numbered document in `spec`."""
    counts: dict[str, int] = {}
    for path in sorted(spec.glob("[0-9][0-9][0-9]_*.md")):
        counts |= count_document(path.name[:3], path.read_text(encoding="utf-8"))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the tables of the specification documents.")
    parser.add_argument("spec", type=Path, help="directory of the documents")
    parser.add_argument("--write", action="store_true", help=f"rewrite {MANIFEST.name}")
    arguments = parser.parse_args()
    text = json.dumps(count_directory(arguments.spec), indent=1, ensure_ascii=False) + "\n"
    if arguments.write:
        MANIFEST.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
