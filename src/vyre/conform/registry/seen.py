"""What gate 3 has seen, kept on disk beside the proofs, each answer under the digest of what it rests on.

An entry that cannot be read, or was not written whole, is made again. A folder that cannot be written costs
time and nothing else.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from vyre.disk import cache_directory, private_folder, read_own, write_own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


_LIMIT = 1 << 20


def folder() -> Path | None:
    base = cache_directory()
    return None if base is None else base / "gates"


def kept(parts: Sequence[str], look: Callable[[], str]) -> str:
    """The answer for these parts, from the disk where it has one, else by looking."""
    base, key = folder(), _digest(*parts)
    if base is None or not private_folder(base):
        return look()
    path = base / key[:2] / key
    if private_folder(path.parent):
        data = read_own(path, _LIMIT)
        seal, _, answer = (data or b"").decode("utf-8", "replace").partition("\n")
        if seal == _digest(key, answer):
            return answer
    answer = look()
    with suppress(OSError):
        write_own(path, f"{_digest(key, answer)}\n{answer}".encode())
    return answer


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
