"""The journal of a run: what is finished, on disk, so that a killed run goes on where it stopped.

A file of lines, `crc32 json`. Lines are only appended; the first is the head that says which run this is, the
second of a run the place where it was begun (`conform/process/provenance.py`). A checksum covers the lines
before it too, so that no line can come from another journal. A line that is torn or damaged ends what is
believed: it and everything after it are cut off and done again.
"""

from __future__ import annotations

import os
import time
import zlib
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vyre.conform.records.documents import FieldError, canonical, decode, encode, parse
from vyre.disk import open_plain
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

T = TypeVar("T")

SYNC_SECONDS = 0.25
"""How long finished work may be only in the memory of the operating system."""


class Journal:
    """An open journal. `entries` are the believed records found in it, without the head."""

    def __init__(self, path: Path, head: Mapping[str, Any], *, resume: bool) -> None:
        self.path = path
        self.entries: list[dict[str, Any]] = []
        self._synced = 0.0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            found, length, self._checksum = _read(path) if resume and path.exists() else ([], 0, 0)
            self.head: dict[str, Any] = found[0] if found else parse(canonical(head))
            self.entries = found[1:]
            self._file = path.open("r+b" if found else "w+b")
            if found:
                self._file.truncate(length)
                self._file.seek(length)
            else:
                self._write(self.head)
            self.sync()
            _sync_folder(path.parent)
        except OSError as error:
            raise VyreError(
                f"cannot keep a journal at {path}: {error.strerror}.",
                fix="pass --state with a folder that can be written.",
            ) from None

    def append(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Gives the record as it will be read back, so that a resumed run goes on with the same values."""
        self._write(record)
        self._file.flush()
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self.sync()
        return parse(canonical(record))

    def keep(self, entry: T) -> T:
        """Appends a typed record, and gives it as it will be read back."""
        return decode(type(entry), self.append(encode(entry)))

    def _write(self, record: Mapping[str, Any]) -> None:
        body = canonical(record)
        self._checksum = zlib.crc32(body, self._checksum)
        self._file.write(b"%08x %b" % (self._checksum, body))

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def close(self) -> None:
        if not self._file.closed:
            self.sync()
            self._file.close()


def read(path: Path) -> tuple[list[dict[str, Any]], int]:
    """The records up to the first line that is torn or damaged, and how many bytes they take."""
    records, length, _ = _read(path)
    return records, length


def _read(path: Path) -> tuple[list[dict[str, Any]], int, int]:
    records: list[dict[str, Any]] = []
    length = checksum = 0
    with open_plain(path) as file:
        for raw in file:
            said, _, body = raw.partition(b" ")
            summed = zlib.crc32(body, checksum)
            record = _object(body) if raw.endswith(b"\n") and said == b"%08x" % summed else None
            if record is None:
                break
            records.append(record)
            length, checksum = length + len(raw), summed
    return records, length, checksum


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = parse(body)
    except FieldError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def write_durably(path: Path, data: bytes) -> None:
    """Writes a whole file or nothing, and does not return before it is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)
