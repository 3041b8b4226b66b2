"""The committed truth: a file of 4096 digests per function, and an index that says how each was made.

    load("exp")                 -> Truth; `VyreError` where the file is missing or not what the index says
    save(folder, name, …)       by the tool that computes them

A file holds the digests of chunk 0, 1, … as little-endian 64-bit words: the first sum is the low half.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.oracle.digest import CHUNKS
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

FOLDER = Path(__file__).parent / "data"
INDEX = "index.json"


@dataclass(frozen=True, slots=True)
class Truth:
    """The digests of one function, and the digest of their file."""

    name: str
    digests: tuple[int, ...]
    sha256: str
    made: Mapping[str, Any]


def load(name: str, *, folder: Path | None = None) -> Truth:
    """The truth of a function, checked against the index."""
    folder = folder or FOLDER
    path = folder / f"{name}.bin"
    made = index(folder).get(name)
    if made is None or not path.exists():
        raise VyreError(
            f"the truth of {name} on all inputs is not part of this installation.",
            fix="compute it with `python -m lab.truth.make`, which takes a GPU seconds.",
        )
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != made["sha256"] or len(data) != 8 * CHUNKS:
        raise VyreError(
            f"{path} is damaged: its SHA-256 is {found[:16]}…, not {made['sha256'][:16]}….",
            fix="install vyre again.",
        )
    return Truth(name, tuple(np.frombuffer(data, "<u8").tolist()), found, made)


def index(folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """How each truth was made, by the function's name."""
    path = (folder or FOLDER) / INDEX
    return json.loads(path.read_bytes()) if path.exists() else {}


def save(folder: Path, name: str, digests: NDArray[np.uint64], made: Mapping[str, Any]) -> str:
    """Writes a truth and its line of the index; gives the SHA-256 of the file."""
    folder.mkdir(parents=True, exist_ok=True)
    data = digests.astype("<u8").tobytes()
    found = hashlib.sha256(data).hexdigest()
    (folder / f"{name}.bin").write_bytes(data)
    known = index(folder) | {name: {**made, "sha256": found}}
    text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
    (folder / INDEX).write_text(text, encoding="utf-8")
    return found
