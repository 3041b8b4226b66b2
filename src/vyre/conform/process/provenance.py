"""Where a run took place: the backend's facts, how it was held, and which code of vyre ran it.

    here = provenance(backend, target)
    bind(journal, here)                 a fresh journal notes it; one begun elsewhere is refused
    differences(then, now)              each fact of two backends that differs, as words

Another device, driver, limit or version of the code never continues a run, because a certificate is about one
of each. The facts are asked again while a run goes on (`moved`), as a device may change under a process.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vyre.backends.protocol import BackendLimits
from vyre.conform.process.held import held
from vyre.conform.records.documents import canonical, parse, printable
from vyre.conform.records.results import BackendFacts, CanaryResult, Conditions
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend, BackendInfo
    from vyre.conform.records.journal import Journal

ENTRY = "provenance"
IN_PROCESS, APART = "in-process", "process"
_SOURCES = {".py", ".json", ".toml", ".bin", ".html", ".css", ".js"}


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything about the place of a run that its results are bound to."""

    backend: BackendFacts
    conditions: Conditions
    vyre: str
    code: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(asdict(self))).hexdigest()


def provenance(backend: Backend, target: str) -> Provenance:
    """Of a backend as it is now."""
    try:
        asked = held(backend).canaries()
    except VyreError:  # a backend that dies when it is asked about itself fails in the run
        asked = ()
    facts = backend_facts(backend.describe(), target, asked)
    return Provenance(facts, conditions_of(backend), installed(), code_digest())


def backend_facts(info: BackendInfo, target: str, canaries: Sequence[tuple[str, str]] = ()) -> BackendFacts:
    """A driver may call itself anything; in a certificate and on a terminal its names are plain text."""
    limits = ((f.name, getattr(info.limits, f.name)) for f in fields(info.limits))
    return BackendFacts(
        printable(info.name), printable(info.version), printable(info.device), printable(info.driver),
        printable(info.toolchain), tuple(info.conventions), tuple(info.categories),
        tuple(sorted(info.approximate)), target,
        tuple(CanaryResult(name, printable(fault)) for name, fault in canaries),
        tuple(f"{name} {value}" for name, value in limits if value is not None),
        tuple(sorted(info.hardware)),
    )  # fmt: skip


def declared_limits(facts: BackendFacts) -> BackendLimits:
    """What a backend declared, from its record; a limit that is unknown here is none."""
    said = dict(text.split(" ", 1) for text in facts.limits if text.count(" ") == 1)
    known = {f.name for f in fields(BackendLimits)}
    return BackendLimits(**{n: int(v) for n, v in said.items() if n in known and v.isdecimal()})


def conditions_of(backend: Backend) -> Conditions:
    """How a backend is held: in a process of its own with a time limit, or in this one with none."""
    timeout = held(backend).timeout
    return Conditions(IN_PROCESS, 0) if timeout is None else Conditions(APART, round(timeout * 1000))


def differences(then: Any, now: Any) -> list[str]:
    """The fields in which two records of one kind differ: `device is 'B', not 'A'`."""
    mine, theirs = asdict(then), asdict(now)
    return [
        f"{name} is {theirs[name]!r}, not {value!r}" for name, value in mine.items() if theirs[name] != value
    ]


def bind(journal: Journal, here: Provenance) -> None:
    """Notes the place in a fresh journal. Raises `VyreError` where the journal was begun at another."""
    mine = cast("dict[str, Any]", _plain(here))
    if not journal.entries:
        journal.append({ENTRY: mine})
        return
    fix = "resume it where it was begun, or start anew without --resume."
    noted: Any = journal.entries[0].get(ENTRY)
    if not isinstance(noted, dict):
        raise VyreError(f"the journal {journal.path} does not say which device its run is of.", fix=fix)
    told = _told(cast("dict[str, Any]", noted), mine)
    if told:
        raise VyreError(
            f"the journal {journal.path} is of a run at another place: {'; '.join(told)}.", fix=fix
        )


def _told(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs between two records of a place."""
    told = [f"{_NAMES.get(k, k)} was {then[k]!r}" for k in then if k not in now]
    for name, value in now.items():
        old: Any = then.get(name)
        if old != value and isinstance(old, dict) and isinstance(value, dict):
            told += _told(cast("dict[str, Any]", old), cast("dict[str, Any]", value))
        elif old != value:
            told.append(f"{_NAMES.get(name, name)} was {old!r}, here it is {value!r}")
    return told


_NAMES = {"vyre": "the version of vyre", "code": "the digest of vyre's code"}


def _plain(here: Provenance) -> Any:
    return parse(canonical(asdict(here)))


def moved(backend: Backend, then: Provenance, *, ask: bool = True) -> str:
    """What has changed about a backend since a run began; empty where nothing has.

    One in a process of its own is compared when that is started anew and, with `ask`, now.
    """
    holder = held(backend)
    if holder.timeout is not None:
        if ask and not holder.changed:
            with suppress(VyreError):  # a crash here is not a change; the next start compares again
                holder.require_same()
        return holder.changed
    facts = backend_facts(backend.describe(), then.backend.target, holder.canaries())
    return "; ".join(differences(then.backend, facts))


def device_changed(what: str) -> VyreError:
    return VyreError(
        f"the backend is not the one that the run began with: {what}.",
        fix="keep the same device and driver in use, then start anew, or --resume on the first device.",
    )


def installed() -> str:
    """The version of vyre that is running."""
    try:
        return version("vyre")
    except PackageNotFoundError:
        return "unknown"


@cache
def code_digest() -> str:
    """Of every source and data file of the package, by name; `unknown` where they are not files."""
    root = files("vyre")
    if not isinstance(root, Path):
        return "unknown"
    found = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if p.suffix in _SOURCES and "__pycache__" not in p.parts):
        name = path.relative_to(root).as_posix().encode()
        found.update(b"%d %b " % (len(name), name))
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()
