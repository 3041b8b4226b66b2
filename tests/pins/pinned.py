"""Pinned digests in JSON, one line each.

differing(kind, found, update=…)         the names whose digest is not the pinned one
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from tests.pins.programs import DATA

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOW_TO_UPDATE = "If that is meant, run `pytest tests/pins --update-golden` and read the diff."


def short_digest(data: bytes | str) -> str:
    raw = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()[:16]


def differing(kind: str, found: Mapping[str, str], *, update: bool = False, folder: Path = DATA) -> list[str]:
    """What was pinned and is not so any more, what is gone, and what is not pinned yet, by name."""
    path = folder / f"{kind}.json"
    if update:
        path.write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    pinned: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return [name for name in {**pinned, **found} if pinned.get(name) != found.get(name)]
