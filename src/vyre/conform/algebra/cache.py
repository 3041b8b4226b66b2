"""Proofs kept on disk, each under the digest of what it rests on.

The digest covers the solver text (which the definitions themselves wrote), the solvers, their versions,
options and limits: change any and the proof is made again. An entry that cannot be read, or does not say
what its digest says, is made again too. Writes are atomic, so many processes may share a cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vyre.conform.algebra.solvers import Answer, Attempt, Verdict, plan, solve, solver_version

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT = 2


def default_folder() -> Path:
    """`$XDG_CACHE_HOME/vyre/proofs`, by default under `~/.cache`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "vyre" / "proofs"


class ProofCache:
    """Answers questions from disk where it can. `folder=None` keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def solve(self, text: str, *, attempts: Sequence[Attempt] | None = None) -> Verdict:
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

    def _read(self, key: str) -> Verdict | None:
        path = self._path(key)
        try:
            return None if path is None else _parse(json.loads(path.read_text(encoding="utf-8")), key)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _write(self, key: str, verdict: Verdict) -> None:
        path = self._path(key)
        if path is None:
            return
        record = _record(verdict, key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file)
            os.replace(temporary, path)
        except OSError:
            return  # a cache that cannot be written costs time and nothing else


def digest(text: str, attempts: Sequence[Attempt]) -> str:
    """Of everything an answer rests on."""
    solvers = [(a.solver, solver_version(a.solver), a.options_text, a.limit) for a in attempts]
    return hashlib.sha256(json.dumps([FORMAT, solvers, text]).encode()).hexdigest()


def _record(verdict: Verdict, key: str) -> dict[str, Any]:
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


def _parse(record: dict[str, Any], key: str) -> Verdict | None:
    body = {name: value for name, value in record.items() if name != "check"}
    if record["check"] != _check(body) or record["key"] != key:
        return None
    options = tuple((str(n), str(v)) for n, v in record["options"])
    attempt = Attempt(record["solver"], options, record["work"])
    model = {str(n): int(v) for n, v in record["model"].items()}
    seconds = float(record["seconds"])
    return Verdict(Answer(record["answer"]), model, attempt, record["version"], seconds, cached=True)
