"""What was found out about devices, kept in the user's cache directory: text by name, under a key.

A key names the device, its driver and library, the lowering, and the code that asked. It is only a cache, so
trouble with the file is never an error, and a damaged one is made again.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from vyre.disk import private_folder, read_own, write_own
from vyre.sha import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo

_LARGEST = 1 << 22
"""Bytes of a file of verdicts."""


def key_of_device(info: BackendInfo, *more: str) -> str:
    parts = [info.name, info.device, info.driver, info.version, info.toolchain, *more]
    return sha256(json.dumps(parts).encode()).hexdigest()


def digest_of_files(paths: Iterable[Path]) -> str:
    """A digest of the code that asks: what it asks and expects follows from it."""
    digest = sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class Verdicts:
    """A JSON file of results by key; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path if path is not None and private_folder(path.parent) else None

    def find(self, key: str) -> dict[str, str]:
        """By name what is wrong, or nothing."""
        entry = self._read().get(key)
        found = cast("dict[Any, Any]", entry) if isinstance(entry, dict) else {}
        return found if all(isinstance(v, str) and v.isprintable() for v in found.values()) else {}

    def keep(self, key: str, results: dict[str, str]) -> None:
        if self._path is not None:
            content = json.dumps(self._read() | {key: results}, indent=1, sort_keys=True)
            with suppress(OSError):
                write_own(self._path, content.encode())

    def _read(self) -> dict[str, Any]:
        try:
            content = json.loads((self._path and read_own(self._path, _LARGEST)) or b"")
        except (ValueError, RecursionError):
            return {}
        return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
