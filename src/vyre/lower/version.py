"""The version of the lowering: a digest of the code that decides what an emitter prints.

Whatever was learned about lowered code, such as that a device runs it rightly, holds for this version only.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from vyre.sha import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOMS = ("ir", "compose", "ops", "optimize", "numeric", "lower")


@cache
def lowering_version() -> str:
    root = os.path.dirname(os.path.dirname(__file__))
    digest = sha256()
    for room in ROOMS:
        for name, path in sorted(_modules(os.path.join(root, room), room)):
            with open(path, "rb") as file:
                text = file.read()
            digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:16]


def _modules(folder: str, name: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield f"{name}/{entry.name}", entry.path
            elif entry.is_dir():
                yield from _modules(entry.path, f"{name}/{entry.name}")
