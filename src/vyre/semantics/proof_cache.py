"""Proofs kept on disk, each under the digest of what it rests on.

The digest covers the solver text (which the definitions themselves wrote), the solvers, their versions,
options and limits: change any and the proof is made again. An entry that cannot be read, or does not say
what its digest says, is made again too. Writes are atomic, so many processes may share a cache.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vyre.disk import cache_directory, own_subfolder, private_folder, read_own, write_own
from vyre.semantics.solvers import Answer, Attempt, Solved, plan, solve, solver_version

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMAT = 2
_LARGEST = 1 << 24


def default_folder() -> Path | None:
    """`$XDG_CACHE_HOME/vyre/proofs`, by default under `~/.cache`; None for a user without a home."""
    base = cache_directory()
    return None if base is None else base / "proofs"


class ProofCache:
    """Answers questions from disk where it can. `folder=None` keeps nothing, nor does one of other users."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder if folder is not None and private_folder(folder) else None

    def solve(self, text: str, *, attempts: Sequence[Attempt] | None = None) -> Solved:
        """As `solvers.solve`. Only definite answers are kept."""
        chosen = tuple(attempts or plan(text))
        key = digest(text, chosen)
        kept = self._read(key)
        if kept is not None:
            return kept
        verdict = solve(text, attempts=chosen)
        if verdict.answer is not Answer.Unknown:
            self._write(key, verdict)
        return verdict

    def _path(self, key: str) -> Path | None:
        return None if self._folder is None else self._folder / key[:2] / f"{key}.json"

    def _read(self, key: str) -> Solved | None:
        path = self._path(key)
        data = read_own(path, _LARGEST) if path is not None and own_subfolder(path.parent) else None
        try:
            return None if data is None else _parse(json.loads(data), key)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _write(self, key: str, verdict: Solved) -> None:
        path = self._path(key)
        if path is None:
            return
        with suppress(OSError):  # a cache that cannot be written costs time and nothing else
            write_own(path, json.dumps(_record(verdict, key)).encode())


def digest(text: str, attempts: Sequence[Attempt]) -> str:
    """Of everything an answer rests on."""
    solvers = [(a.solver, solver_version(a.solver), a.options_text, a.limit) for a in attempts]
    return hashlib.sha256(json.dumps([FORMAT, solvers, text]).encode()).hexdigest()


def _record(verdict: Solved, key: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "key": key,
        "answer": verdict.answer.value,
        "model": verdict.model,
        "solver": verdict.attempt.solver,
        "options": [list(pair) for pair in verdict.attempt.options],
        "work": verdict.attempt.work,
        "version": verdict.version,
        "seconds": verdict.seconds,
    }
    return {**body, "check": _check(body)}


def _check(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _parse(record: dict[str, Any], key: str) -> Solved | None:
    body = {name: value for name, value in record.items() if name != "check"}
    if record["check"] != _check(body) or record["key"] != key:
        return None
    options = tuple((str(n), str(v)) for n, v in record["options"])
    attempt = Attempt(record["solver"], options, record["work"])
    model = {str(n): int(v) for n, v in record["model"].items()}
    seconds = float(record["seconds"])
    return Solved(Answer(record["answer"]), model, attempt, record["version"], seconds, cached=True)
