"""Compiled kernels on disk: the second process that needs a kernel loads it instead of compiling it.

    code = kept("cuda", [source.text, options, device, toolchain], lambda: compile_source(source))

The key is everything the compiler is given: the emitted source, which is the program's meaning with every
callee and float routine written out in the lowering of this version, the options, the device and the
toolchain. So an entry cannot be stale. An entry that was damaged is built anew, two processes may share the
folder, and trouble with the disk is never an error: it is only a cache.

`VYRE_CACHE=off` turns it off, `VYRE_CACHE=/some/folder` moves it.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from vyre.disk import (
    cache_folder,
    chosen_folder,
    digest_of,
    distrust,
    own_subfolder,
    private_folder,
    read_own,
    write_own,
)
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from vyre.disk import Place

MAGIC = b"vyre kernel 2\n"
CAPACITY = 512 << 20
"""Bytes above which the entries that were used longest ago are dropped, down to three quarters."""

_DIGEST = 32
_SWEEP_EVERY = 64
_WORST = 64 << 20
"""An entry larger than this is not a kernel of ours."""


def kept(kind: str, parts: Iterable[str], build: Callable[[], bytes]) -> bytes:
    """The compiled kernel for these parts, from the disk where it has it, else built and kept."""
    cache = default_cache()
    return build() if cache is None else cache.kept(kind, parts, build)


def default_cache() -> KernelCache | None:
    """The cache of this user, or None where it is turned off or its folder is not this user's alone."""
    folder = _folder()
    return KernelCache(folder) if folder is not None and private_folder(folder) else None


def why_none() -> str:
    """Why there is no default cache."""
    folder = _folder()
    if folder is not None:
        return distrust(folder)
    return "VYRE_CACHE turns it off" if os.environ.get("VYRE_CACHE") else "this user has no home folder"


def _folder() -> str | None:
    chosen = os.environ.get("VYRE_CACHE", "")
    if chosen.lower() in ("off", "0", "none"):
        return None
    if chosen:
        return chosen_folder("VYRE_CACHE", chosen)
    base = cache_folder()
    return None if base is None else os.path.join(base, "kernels")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a cache holds."""

    folder: Path
    entries: int
    size: int


class KernelCache:
    """A folder of compiled kernels by digest of their key."""

    def __init__(self, folder: Place, *, capacity: int = CAPACITY) -> None:
        self._folder = os.fspath(folder)
        self.capacity = capacity

    @property
    def folder(self) -> Path:
        from pathlib import Path

        return Path(self._folder)

    def kept(self, kind: str, parts: Iterable[str], build: Callable[[], bytes]) -> bytes:
        key = key_of(kind, parts)
        known = self.find(key)
        if known is not None:
            return known
        made = build()
        self.keep(key, made)
        return made

    def find(self, key: str) -> bytes | None:
        """The entry, or None; one that is damaged is removed."""
        path = self._path(key)
        content = read_own(path, _WORST) if own_subfolder(os.path.dirname(path)) else None
        if content is None:
            return None
        head = len(MAGIC) + _DIGEST
        payload = content[head:]
        sealed = content[:head] == MAGIC + _seal(key, payload)
        with suppress(OSError):
            if sealed:
                os.utime(path)  # so that the least used are dropped first
            else:
                os.unlink(path)
        return payload if sealed else None

    def keep(self, key: str, payload: bytes) -> None:
        with suppress(OSError):
            write_own(self._path(key), MAGIC + _seal(key, payload) + payload)
            if int(key[:8], 16) % _SWEEP_EVERY == 0:
                self.shrink()

    def usage(self) -> Usage:
        sizes = [size for _, size, _ in self._entries()]
        return Usage(self.folder, len(sizes), sum(sizes))

    def clear(self) -> int:
        """Removes every entry and says how many there were; files of others in the folder stay."""
        removed = 0
        for _, _, path in self._entries():
            with suppress(OSError):
                path.unlink()
                removed += 1
        return removed

    def shrink(self) -> None:
        """Drops what was used longest ago where the cache has outgrown its capacity."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        if total <= self.capacity:
            return
        for _, size, path in entries:
            if total <= self.capacity * 3 // 4:
                return
            with suppress(OSError):
                path.unlink()
            total -= size

    def _entries(self) -> list[tuple[float, int, Path]]:
        found: list[tuple[float, int, Path]] = []
        with suppress(OSError):
            for path in self.folder.glob("??/*"):
                with suppress(OSError):  # another process may have removed it
                    facts = path.lstat()
                    if stat.S_ISREG(facts.st_mode):
                        found.append((facts.st_mtime, facts.st_size, path))
        return found

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], key[2:])


def key_of(kind: str, parts: Iterable[str]) -> str:
    """A digest in which no part can run into the next."""
    # The path of a folder may hold bytes that do not decode, which Python keeps as surrogates.
    found = (x for part in (kind, *parts) for x in _framed(part.encode("utf-8", "surrogatepass")))
    return digest_of(found).hex()


def _framed(data: bytes) -> tuple[bytes, bytes]:
    return len(data).to_bytes(8, "little"), data


def _seal(key: str, payload: bytes) -> bytes:
    """Binds the bytes to their key, so that an entry under another's name is damaged too."""
    return digest_of((key.encode(), payload))
