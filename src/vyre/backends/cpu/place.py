"""What machine code made here depends on beside its program, without asking those who make it.

It is the processor as the system describes it, and the files of this package and of llvmlite, by their sizes
and the times when they were last changed.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOMS = (
    "backends", "compose", "frontend", "ir", "lower", "numeric", "obligations", "ops", "optimize",
    "reference", "validate", "watch", "wire",
)  # fmt: skip
_PROCESSOR = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")


@cache
def place() -> tuple[str, ...] | None:
    """What kernels depend on beside their programs; None where that cannot be said."""
    processor, llvmlite = _processor(), PathFinder.find_spec("llvmlite")
    if not processor or llvmlite is None or not llvmlite.submodule_search_locations:
        return None
    (library, *_) = llvmlite.submodule_search_locations
    try:
        stamps = [*_stamps(_package()), *_stamps(library), *_stamps(os.path.join(library, "binding"))]
        for room in _ROOMS:
            stamps += _stamps(os.path.join(_package(), room), deep=True)
    except OSError:
        return None
    return sys.version, processor, *stamps


def _package() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(__file__)))


def _stamps(folder: str, *, deep: bool = False) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda x: x.name):
            if entry.name.endswith((".py", ".so")):
                facts = entry.stat()
                yield f"{entry.path} {facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"
            elif deep and entry.name != "__pycache__" and entry.is_dir():
                yield from _stamps(entry.path, deep=True)


def _processor() -> str:
    """The first processor as the system describes it; the others are the same."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            first = lines.read(1 << 13).partition("\n\n")[0].split("\n")
    except OSError:
        return ""
    known = dict(line.split(":", 1) for line in first if ":" in line)
    facts = {name.strip(): value.strip() for name, value in known.items()}
    return "\n".join(facts[name] for name in _PROCESSOR) if all(n in facts for n in _PROCESSOR) else ""
