"""Performance baselines that are kept, and what has become slower since.

    before = kept(folder, facts)                   the best figures seen on this device and driver, or None
    drops(before, found)                           what is slower now
    keep(folder, found, certificate)               the better of both, kernel by kernel
    confirmed(before, found, lambda: measure(b))   what three measurements agree on

Figures are shares of the backend's own copy kernel, so a machine that is busy slows both alike. A drop is
shown in the annex and by `vyre verify`; it denies L4 only against a baseline that was given, and only where
three measurements agree. The certificate names the kernels and holds no figure.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from vyre.conform.certify.annex import Annex, Baseline, Drop, read_annex, write_annex
from vyre.conform.records.documents import canonical, printable
from vyre.conform.records.journal import write_durably
from vyre.disk import open_plain
from vyre.errors import CertificateError, VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo
    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.records.results import BackendFacts

SLOWER = 0.75
"""The share of an earlier figure below which a kernel is slower; a smaller change is noise."""
MEASUREMENTS = 3


def drops(before: Annex, found: Sequence[Baseline]) -> tuple[Drop, ...]:
    """The kernels that are slower than before, in memory of the same kind."""
    old = {(b.name, b.memory): b for b in before.baselines}
    return tuple(
        Drop(b.name, old[b.name, b.memory].of_copy, b.of_copy)
        for b in found
        if (b.name, b.memory) in old and float(b.of_copy) < SLOWER * float(old[b.name, b.memory].of_copy)
    )


def confirmed(
    before: Annex, found: Sequence[Baseline], again: Callable[[], Sequence[Baseline]]
) -> tuple[str, ...]:
    """The names of the kernels that every one of three measurements finds slower; `found` is the first."""
    names = [d.name for d in drops(before, found)]
    for _ in range(MEASUREMENTS - 1):
        if not names:
            break
        slower = {d.name for d in drops(before, again())}
        names = [name for name in names if name in slower]
    return tuple(names)


def given(data: bytes, info: BackendInfo, *, file: str) -> Annex:
    """The annex that was given as a baseline. Raises `VyreError` for one of another device or driver."""
    annex, _, _ = read_annex(data)
    if not annex.device:
        raise VyreError(
            "this annex does not say of which device and driver it is.",
            place=file,
            fix="give one that this version of vyre wrote: run `vyre certify` once without --baseline.",
        )
    mine, theirs = (printable(info.device), printable(info.driver)), (annex.device, annex.driver)
    if mine != theirs:
        here, there = (" with ".join(part for part in pair if part) for pair in (mine, theirs))
        raise VyreError(
            f"this baseline is of {there}, and the backend runs on {here}.",
            place=file,
            fix="give a baseline of the same device and driver, or none.",
        )
    return annex


def place(folder: Path, facts: BackendFacts) -> Path:
    """Where the figures of a backend on its device with its driver are kept."""
    key = hashlib.sha256(canonical([facts.name, facts.device, facts.driver])).hexdigest()
    name = "".join(c if c.isalnum() or c in "-_." else "_" for c in facts.name)
    return folder / f"{name}-{key[:16]}.json"


def kept(folder: Path, facts: BackendFacts) -> Annex | None:
    """The figures that were kept; None where there are none that can be read."""
    try:
        with open_plain(place(folder, facts)) as file:
            return read_annex(file.read())[0]
    except (OSError, CertificateError):
        return None


def keep(folder: Path, found: Sequence[Baseline], certificate: CertificateContents) -> None:
    """Keeps each kernel's better figure, so that many small drops in a row are seen as well."""
    before = kept(folder, certificate.backend)
    old = {(b.name, b.memory): b for b in before.baselines} if before is not None else {}
    best = tuple(max(b, old.get((b.name, b.memory), b), key=lambda one: float(one.of_copy)) for b in found)
    write_durably(place(folder, certificate.backend), write_annex(best, certificate))
