"""Kernels as text that are ready: found on the disk by the program itself, with no lowering loaded.

Lowering the kernels of a network takes longer than loading their code. The key is the program, and all that
its text depends on beside it: the files of this package, the options of the backend and the device. Only what
an examined device has compiled is kept, so that what is found needs no examination.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vyre.backends.kernel_cache import default_cache, key_of
from vyre.backends.stamps import lowering_is_loaded, package_stamps
from vyre.ir.expr import Call
from vyre.ir.walk import expressions
from vyre.lower.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

_KIND = "source"


def ready_source(program: Program, parts: Iterable[str]) -> Source | None:
    """The source that was kept for a program under these parts of a key."""
    if lowering_is_loaded():
        return None
    cache, key = default_cache(), _key(program, parts)
    found = cache.find(key) if cache is not None and key is not None else None
    return None if found is None else _source(json.loads(found), program)


def keep_source(program: Program, parts: Iterable[str], source: Source) -> None:
    """Keeps a source that is not bound to more than the program and the parts."""
    cache, key = default_cache(), _key(program, parts)
    names = [decl.name for decl in source.buffers]
    if cache is None or key is None or _declared(names, program) != source.buffers:
        return
    row = {
        "language": source.language,
        "entry": source.entry,
        "text": source.text,
        "workgroup_size": source.workgroup_size,
        "buffers": names,
        "hidden": source.hidden,
        "ways": source.ways,
        "tables": source.tables.hex(),
    }
    cache.keep(key, json.dumps(row).encode())


def _source(row: dict[str, Any], program: Program) -> Source:
    x, y, z = row["workgroup_size"]
    return Source(
        language=row["language"],
        entry=row["entry"],
        text=row["text"],
        workgroup_size=(x, y, z),
        buffers=_declared(row["buffers"], program),
        hidden=tuple(row["hidden"]),
        ways=tuple((key, way) for key, way in row["ways"]),
        tables=bytes.fromhex(row["tables"]),
    )


def _declared(names: Iterable[str], program: Program) -> tuple[BufferDecl, ...]:
    """The buffers of these names, as the program declares them."""
    return tuple(decl for name in names if (decl := program.buffer(name)) is not None)


def _key(program: Program, parts: Iterable[str]) -> str | None:
    """None where the text depends on more: an instruction that a package declares."""
    from vyre.wire import byte_digest

    stamps = package_stamps()
    if stamps is None or any(isinstance(x, Call) for x in expressions(program.entry)):
        return None
    return key_of(_KIND, [byte_digest(program), *parts, *stamps])
