"""What machine code made here depends on beside its program, without asking those who make it.

It is the processor as the system describes it, and the files of this package and of llvmlite.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.machinery import PathFinder

from vyre.backends.stamps import package_stamps, stamps_of

_PROCESSOR = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")


@cache
def place() -> tuple[str, ...] | None:
    """What kernels depend on beside their programs; None where that cannot be said."""
    processor, own, llvmlite = _processor(), package_stamps(), PathFinder.find_spec("llvmlite")
    if not processor or own is None or llvmlite is None or not llvmlite.submodule_search_locations:
        return None
    (library, *_) = llvmlite.submodule_search_locations
    try:
        stamps = [*stamps_of(library), *stamps_of(os.path.join(library, "binding"))]
    except OSError:
        return None
    return processor, *own, *stamps


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
