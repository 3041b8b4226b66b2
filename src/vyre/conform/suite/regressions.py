"""The store of failures: each one a file named after its content, kept for ever and replayed first.

    store = Store(folder)
    store.add(failure)              on disk when it returns
    store.load("mine")              every stored failure of that backend, by digest

A damaged file is moved aside and named, never silently dropped.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.records.documents import canonical, decode, encode, parse
from vyre.conform.records.filled import filled
from vyre.conform.records.journal import write_durably
from vyre.conform.records.results import Failure
from vyre.disk import open_plain
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

_UNSAFE = str.maketrans(dict.fromkeys('/\\:*?"<>| ', "_"))


def default_folder() -> Path:
    """`.vyre/failures` where there is a `.vyre`, else the user's data folder."""
    here = Path(".vyre")
    if here.is_dir():
        return here / "failures"
    base = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(base) / "vyre" / "failures"


class Store:
    """A folder with one sub-folder per backend."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, failure: Failure) -> str:
        """Keeps a failure and gives its digest; the same failure is kept once."""
        digest = failure.digest
        path = self._folder_of(failure.backend) / f"{digest}.json"
        try:
            if not path.exists():
                write_durably(path, canonical(encode(failure)))
        except OSError as error:
            raise VyreError(
                f"cannot keep a failure at {path}: {error.strerror}.",
                fix="pass --failures with a folder that can be written.",
            ) from None
        return digest

    def load(self, backend: str) -> Mapping[str, Failure]:
        """Every believable failure of a backend, by digest, in the order of the digests."""
        found: dict[str, Failure] = {}
        folder = self._folder_of(backend)
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            try:
                with open_plain(path) as file:
                    record = parse(file.read())
                # The name is the digest of what was written, which may lack what failures have gained since.
                believed = hashlib.sha256(canonical(record)).hexdigest() == path.stem
                failure = decode(Failure, filled(Failure, record))
            except (ValueError, OSError):
                believed, failure = False, None
            if believed and failure is not None:
                found[path.stem] = failure
            else:
                path.rename(path.with_suffix(".damaged"))
        return found

    def damaged(self, backend: str) -> list[Path]:
        folder = self._folder_of(backend)
        return sorted(folder.glob("*.damaged")) if folder.is_dir() else []

    def _folder_of(self, backend: str) -> Path:
        return self.folder / backend.translate(_UNSAFE)
