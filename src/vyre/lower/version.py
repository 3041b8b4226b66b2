"""The version of the lowering: a digest of the code that decides what an emitter prints.

Whatever was learned about lowered code, such as that a device runs it rightly, holds for this version only.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOMS = ("ir", "compose", "ops", "optimize", "numeric", "lower")


@cache
def lowering_version() -> str:
    root = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
