"""Whether code is lowered as it was in an earlier process, told without loading what lowers it.

It is where the files of this package, by their sizes and the times when they were last changed, are the same,
and nothing of the lowering is loaded: who changes a definition, to see what comes of it, has loaded it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOMS = (
    "backends", "compose", "frontend", "ir", "lower", "numeric", "obligations", "ops", "optimize",
    "reference", "validate", "watch", "wire",
)  # fmt: skip
_LOWERING = ("vyre.lower.prepare", "vyre.numeric", "vyre.optimize")


def lowering_is_loaded() -> bool:
    """Whether this process has lowered a program, or may have changed how that is done."""
    return any(name in sys.modules for name in _LOWERING)


@cache
def package_stamps() -> tuple[str, ...] | None:
    """What lowered code depends on beside its program; None where that cannot be said."""
    root = os.path.dirname(os.path.dirname(__file__))
    try:
        stamps = [*stamps_of(root)]
        for room in _ROOMS:
            stamps += stamps_of(os.path.join(root, room), deep=True)
    except OSError:
        return None
    return sys.version, *stamps


def stamps_of(folder: str, *, deep: bool = False) -> Iterator[str]:
    """A line for each file of code in a folder. Raises `OSError` where it cannot be read."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda x: x.name):
            if entry.name.endswith((".py", ".so")):
                facts = entry.stat()
                yield f"{entry.path} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"
            elif deep and entry.name != "__pycache__" and entry.is_dir():
                yield from stamps_of(entry.path, deep=True)
