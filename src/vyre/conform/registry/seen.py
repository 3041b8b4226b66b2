"""What gate 3 has seen, kept on disk beside the proofs, each answer under the digest of what it rests on.

An entry that cannot be read, or was not written whole, is made again. A folder that cannot be written costs
time and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from vyre.conform.algebra.cache import default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def folder() -> Path:
    return default_folder().parent / "gates"


def kept(parts: Sequence[str], look: Callable[[], str]) -> str:
    """The answer for these parts, from the disk where it has one, else by looking."""
    key = _digest(*parts)
    path = folder() / key[:2] / key
    with suppress(OSError, UnicodeDecodeError):
        seal, _, answer = path.read_text(encoding="utf-8").partition("\n")
        if seal == _digest(key, answer):
            return answer
    answer = look()
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{_digest(key, answer)}\n{answer}")
        os.replace(temporary, path)
    return answer


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
