"""The manifest of an exported kernel: everything a host needs to run it without Python.

`docs/kernel-abi.md` says how to read it. Plain data, the same for the same program and language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.lower.clike import lanes_of
from vyre.lower.intrinsics import subgroup_width
from vyre.lower.languages import floats_of, language_of
from vyre.lower.ways import FLOATS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program
    from vyre.lower.source import Source

FORMAT = "vyre-kernel-1"
"""Goes up when a reader of the old form would go wrong."""

MIN_BYTES = 16
"""No buffer is allocated smaller, so that an array of any element type holds one element."""

_MEANINGS = {
    "base_x": "first workgroup of this launch along x",
    "base_y": "first workgroup of this launch along y",
    "base_z": "first workgroup of this launch along z",
    "zero": "0, which must not be a constant that the compiler of the kernel sees",
    "grid_x": "workgroups of the grid along x",
    "grid_y": "workgroups of the grid along y",
    "grid_z": "workgroups of the grid along z",
}


def manifest(
    program: Program,
    source: Source,
    *,
    file: str,
    digests: Mapping[str, str],
    floats: str | None = None,
    told: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """The manifest as plain data. `file` is the name of the source; `digests` name the program.

    `floats` is the way that `lower` was asked for. `told` are further fields of buffers, by their names: what
    the author of a kernel wrote and a program does not keep (`vyre.frontend.exported`).
    """
    x, y, z = source.workgroup_size
    record: dict[str, Any] = {
        "format": FORMAT,
        "language": source.language,
        "source": file,
        "entry": source.entry,
        "program": dict(digests),
        "workgroup_size": [x, y, z],
        "buffers": [
            {**_buffer(decl, place, source), **(told or {}).get(decl.name, {})}
            for place, decl in enumerate(source.buffers)
        ],
        "hidden": _hidden(source),
        "limits": {
            "storage_buffers": len(source.buffers),
            "invocations_per_workgroup": x * y * z,
            "workgroup_bytes": _workgroup_bytes(program, source.language),
        },
    }
    if source.ways:
        record["floats"] = _floats(source, floats_of(source.language, floats))
    width = subgroup_width(source)
    if width:
        record["subgroup_width"] = width
    scratch = getattr(source, "scratch_bytes", None)
    if scratch is not None:
        record["scratch"] = {"bytes_per_thread": scratch, "alignment": 64}
    return record


def _floats(source: Source, name: str) -> dict[str, Any]:
    choice = FLOATS[source.language][name]
    return {
        "chosen": name,
        "promise": choice.promise,
        "needs": list(choice.needs),
        "ways": dict(source.ways),
    }


def _buffer(decl: BufferDecl, place: int, source: Source) -> dict[str, Any]:
    return {
        "position": place,
        "name": decl.name,
        "access": decl.access.value,
        "element": decl.element.value,
        "stride": decl.element.stride,
        "count": decl.count or None,
        "min_bytes": MIN_BYTES,
        "size_multiple": 4 if source.language == "wgsl" else 1,
    }


def _hidden(source: Source) -> dict[str, Any]:
    passed = language_of(source.language).hidden
    words = [_word(word, 4 * k, source) for k, word in enumerate(source.hidden)]
    block: dict[str, Any] = {"passed_as": passed, "words": words}
    if passed == "uniform":
        block["group"] = 0
        block["binding"] = len(source.buffers)
        block["bytes"] = source.tables_at + len(source.tables)
        if source.tables:
            block["tables"] = {"offset": source.tables_at, "hex": source.tables.hex()}
    elif passed == "arguments":
        block["first_argument"] = len(source.buffers)
    return block


def _word(word: str, offset: int, source: Source) -> dict[str, Any]:
    place = {"name": word, "element": "U32", "offset": offset}
    sized = {f"len_{b.name}": b.name for b in source.buffers if b.count == 0}
    if word in sized:
        return {**place, "meaning": f"elements of {sized[word]}", "buffer": sized[word]}
    return {**place, "meaning": _MEANINGS[word]}


def _workgroup_bytes(program: Program, language: str) -> int:
    shared = [b for b in program.buffers if b.access.shared]
    if language == "wgsl":  # narrow elements take a word each, and every array starts at 16 bytes
        return sum(-(-4 * lanes_of(b.element) * b.count // 16) * 16 for b in shared)
    return sum(b.count * b.element.stride for b in shared)
