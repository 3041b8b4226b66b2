"""Adds golden files for programs that have none yet: `python -m tests.wire.add_golden`.

A file that exists is never touched: bytes that were written once stay readable for ever, so there is
no switch to rewrite one.
"""

from __future__ import annotations

from pathlib import Path

from tests.wire.wire_programs import golden_programs
from tests.wire.wire_source import source
from vyre.wire import encode

GOLDEN = Path(__file__).parent / "golden"


def add_missing(folder: Path = GOLDEN) -> list[str]:
    """The names that were added."""
    added: list[str] = []
    for name, program in golden_programs().items():
        if (folder / f"{name}.bin").exists():
            continue
        (folder / f"{name}.bin").write_bytes(encode(program))
        (folder / f"{name}.txt").write_text(source(program), encoding="utf-8")
        added.append(name)
    return added


if __name__ == "__main__":
    print("added:", ", ".join(add_missing()) or "nothing")
