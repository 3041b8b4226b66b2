"""Canaries: a device shows what it can do, and loses what it gets wrong.

`examine` runs small programs with known results through the backend itself: all of them, or those that watch
what one program needs, when it is first compiled. A program that needs a feature whose canary failed is
refused with `UnsupportedByBackend`, which names the canary. The result of each canary is kept per device,
driver, library and lowering in the user's cache directory; a damaged file is rebuilt.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.backends.protocol import CanaryVerdict
from vyre.backends.verdicts import Verdicts, digest_of_files, key_of_device
from vyre.disk import cache_directory
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.lower.version import lowering_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.canaries.programs import Canary
    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program


def examine(
    backend: Backend,
    *,
    lowering: str | None = None,
    canaries: Sequence[Canary] | None = None,
    cache: Path | None = None,
    program: Program | None = None,
) -> CanaryVerdict:
    """The verdict on a backend's device, from the cache where it has one; all canaries are run by default.

    With a `program`, only those count that watch what it has. A result holds for a device, its driver and
    toolchain, and one `lowering`, by default this version's.
    """
    base = cache_directory()
    store = Verdicts(cache or (base and base / "canaries.json"))
    key = _key(backend, canaries, lowering or lowering_version())
    known = store.find(key)
    wanted = every(canaries) if program is None else watching(program, canaries)
    found = dict(known)
    refused: dict[str, str] = {}
    for canary in wanted:
        if canary.name in known:
            continue
        try:
            found[canary.name] = _run(canary, backend)
        except UnsupportedByBackend:
            found[canary.name] = ""  # a feature that is refused anyway
        except VyreError as error:
            refused[canary.name] = f"the device refused it: {error.message}"
    if found != known:
        store.keep(key, found)
    failures = {c.name: detail for c in wanted if (detail := (found | refused)[c.name])}
    return CanaryVerdict(failures, fresh=any(c.name not in known for c in wanted), lasting=not refused)


def refuse_lost_features(
    program: Program,
    verdict: CanaryVerdict | None,
    backend: str,
    *,
    canaries: Sequence[Canary] | None = None,
) -> None:
    """Raises `UnsupportedByBackend` for a program that needs what the device failed.

    A device without a verdict is still being examined.
    """
    if verdict is None or not verdict.failures:
        return
    for canary in watching(program, canaries):
        detail = verdict.failures.get(canary.name)
        if detail is None:
            continue
        raise UnsupportedByBackend(
            f"a program with {canary.feature}",
            backend,
            why=f'this device fails the canary "{canary.name}" ({detail})',
            fix="update the driver, or choose another device or backend.",
        )


def _run(canary: Canary, backend: Backend) -> str:
    """What is wrong with the results, or nothing."""
    from vyre.backends.canaries.programs import words
    from vyre.backends.execute import execute

    program = canary.program
    executable = backend.compile(program)
    memory = {name: bytearray(words(values)) for name, values in canary.inputs.items()}
    execute(executable, program, memory, (canary.workgroups, 1, 1))
    actual = memoryview(memory["out"]).cast("I")
    for index, (want, got) in enumerate(zip(canary.expected, actual, strict=True)):
        if want != got:
            return f"word {index} is 0x{got:X}, expected 0x{want:X}"
    return ""


def every(canaries: Sequence[Canary] | None = None) -> Sequence[Canary]:
    """Those that are given, else all there are."""
    if canaries is not None:
        return canaries
    from vyre.backends.canaries.every import CANARIES

    return CANARIES


def watching(program: Program, canaries: Sequence[Canary] | None = None) -> list[Canary]:
    """The canaries of what a program has."""
    from vyre.backends.canaries.features import Features

    has = Features.of(program)
    return [canary for canary in every(canaries) if canary.uses is not None and canary.uses(has)]


@cache
def _version() -> str:
    return digest_of_files(Path(__file__).parent.glob("*.py"))


def _key(backend: Backend, canaries: Sequence[Canary] | None, lowering: str) -> str:
    parts = [lowering]
    if canaries is None:
        parts.append(_version())
    for canary in canaries or ():
        parts += [canary.name, repr(canary.inputs), repr(canary.expected)]
    return key_of_device(backend.describe(), *parts)
