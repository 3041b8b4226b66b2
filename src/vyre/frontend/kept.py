"""Kernels of earlier processes: a call that the disk has ready needs no front end, no checks and no compiler.

    found = find(function, size, names)     before a kernel is translated
    keep(found, …)                          once the default backend has compiled it

An entry is found by all that a kernel is made of (`fingerprint.py`) and all that its code depends on, the
processor and every file of vyre's own (`backends/cpu/place.py`). It holds what a plain call has to know, the
key of the machine code, and the translation, which is read when somebody asks for it. Kernels that print, or
warn when they are decorated, are not kept; nor are those that call ops where other packages offer some.

A process that has loaded the front end uses it, which takes a millisecond, so that who changes a part of it
sees what comes of it.
"""

from __future__ import annotations

import pickle
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.place import place
from vyre.backends.kernel_cache import default_cache, key_of
from vyre.errors import SourceLocation
from vyre.frontend.fingerprint import Standing, told
from vyre.frontend.translation import Takes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.backends.dispatch import Compiled
    from vyre.compose.registry import Registry
    from vyre.frontend.translation import Translation
    from vyre.ir.outline import Outlined

_KIND = "kernel of Python"
_LOADED = ("vyre.frontend.functions", "vyre.lower.prepare", "vyre.numeric", "vyre.optimize")
_MOST_BYTES = 1 << 22


class KeptKernel:
    """What the disk has of one function, or will have: `takes` is None until then."""

    def __init__(self, key: str, standing: tuple[Standing, ...], entry: bytes | None) -> None:
        self.key = key
        self.standing = standing
        self.takes: Takes | None = None
        if entry is not None:
            takes, calls, self._outline, self._facts, self._written, self._stood, self._whole = pickle.loads(
                entry
            )
            self.takes = None if calls and _ops_of_others() else Takes(*takes)

    def translation(self) -> Translation:
        """What was translated, with the places where the functions stand now."""
        found, places = pickle.loads(self._whole)
        return _placed(found, places, list(zip(self._stood, self.standing, strict=True)))

    def compiled(
        self, translation: Callable[[], Translation], registry: Callable[[], Registry | None]
    ) -> Compiled | None:
        """The kernel on the default backend; None where that is another one now, or the code is gone."""
        from vyre.backends.agreed import settled
        from vyre.backends.chosen import default_backend
        from vyre.backends.cpu.backend import LIMITS, CpuBackend
        from vyre.backends.cpu.kernel import LaunchFacts
        from vyre.backends.dispatch import Compiled
        from vyre.backends.registry import get

        backend = get(default_backend())
        if type(backend) is not CpuBackend:
            return None
        # What the ordinary way comes to for a program that went it before, in another process.
        agreed = cache(lambda: settled(translation().program, backend, registry()))
        outline = _outline(self._outline)
        executable = backend.ready(outline, LaunchFacts.of_row(self._facts), lambda: agreed().program)
        if executable is None:
            return None
        return Compiled(outline, backend, executable, backend.name, LIMITS, agreed, frozenset(self._written))


def find(function: Any, size: tuple[int, int, int], names: Mapping[str, Any]) -> KeptKernel | None:
    """None where nothing can be kept of a function."""
    here, disk = place(), default_cache()
    if here is None or disk is None:
        return None
    print_ = told(function, size, names)
    if print_ is None:
        return None
    key = key_of(_KIND, [print_.text, *here])
    entry = None if any(name in sys.modules for name in _LOADED) else disk.find(key)
    return KeptKernel(key, print_.standing, entry)


def keep(kept: KeptKernel, translation: Translation, takes: Takes, compiled: Compiled) -> None:
    """Keeps a kernel that was compiled by the default backend, if that is the one of this package."""
    from vyre.backends.cpu.backend import CpuBackend
    from vyre.ir.expr import Call
    from vyre.ir.walk import expressions

    disk, backend, program = default_cache(), compiled.backend, compiled.program
    facts = backend.facts_to_keep(compiled.executable) if type(backend) is CpuBackend else None
    if disk is None or facts is None or translation.prints is not None:
        return
    calls = any(isinstance(x, Call) for x in expressions(translation.program.entry))
    if (calls and _ops_of_others()) or any(isinstance(x, Call) for x in expressions(program.entry)):
        return
    bound = [b for b in program.buffers if b.access.bound]
    rows = [(b.name, b.binding, b.access.value, b.element.value, b.count) for b in bound]
    whole = pickle.dumps((translation, dict(translation.program.locations)))
    row = (
        _row(takes), calls, (rows, program.workgroup_size), facts.row(), sorted(compiled.covered),
        [tuple(x) for x in kept.standing], whole,
    )  # fmt: skip
    content = pickle.dumps(row)
    if len(content) <= _MOST_BYTES:
        disk.keep(kept.key, content)


def _ops_of_others() -> bool:
    """Whether an id may mean an op that is not part of what an entry is found by."""
    from vyre.backends.packages import offered_points

    return bool(offered_points("vyre.ops"))


def _row(takes: Takes) -> tuple[Any, ...]:
    return takes.names, takes.inputs, takes.outs, takes.counted, takes.scalars, takes.plain, takes.prints


def _outline(row: Any) -> Outlined:
    from vyre.ir.buffers import BufferAccess, BufferDecl
    from vyre.ir.outline import Outlined
    from vyre.ir.types import DataType

    rows, size = row
    buffers = tuple(BufferDecl(n, k, BufferAccess(a), DataType(e), c) for n, k, a, e, c in rows)
    return Outlined(buffers, size)


def _placed(
    found: Translation,
    places: Mapping[str, SourceLocation],
    moved: list[tuple[tuple[str, int, int], Standing]],
) -> Translation:
    """The program with its source lines, which are not pickled with it, where they are now."""
    from dataclasses import replace

    from vyre.ir.program import Program

    def now(there: SourceLocation) -> SourceLocation:
        for (file, line, lines), new in moved:
            if there.file == file and line <= there.line < line + lines:
                return SourceLocation(new.file, there.line - line + new.line, there.column, there.text)
        return there

    old = found.program
    located = {path: now(there) for path, there in places.items()}
    return replace(found, program=Program(old.buffers, old.workgroup_size, old.entry, locations=located))
