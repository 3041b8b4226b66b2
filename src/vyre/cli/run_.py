"""`vyre run`."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.files import read_array, read_program, split_binding, write_array
from vyre.errors import VyreError
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program

_NUMBER = re.compile(r"[0-9]{1,10}")


@click.command("run", epilog="Example: vyre run hamming.vyre --input a=a.npy --input b=b.npy")
@click.argument("file")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A buffer: .npy or raw bytes.")
@click.option(
    "--length",
    "sizes",
    multiple=True,
    metavar="NAME=COUNT",
    help="Elements of an output that is not an input.",
)
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE", help="Save a buffer after the run.")
@click.option("--backend", metavar="NAME", help="The backend; `vyre backends` lists them.")
@click.option("--workgroups", metavar="X[,Y[,Z]]", help="The grid; the default covers the longest output.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    file: str,
    *,
    inputs: tuple[str, ...],
    sizes: tuple[str, ...],
    outputs: tuple[str, ...],
    backend: str | None,
    workgroups: str | None,
    as_json: bool,
) -> None:
    """Run the program in FILE (text, wire, or FILE.py:KERNEL) and show every writable buffer.

    A writable buffer that is no input starts as zeros; without --length and without a declared size it is
    as long as the longest input.
    """
    from vyre.backends import compile_program

    program = read_program(file)
    writable = [b.name for b in program.buffers if b.access is BufferAccess.ReadWrite]
    saves = _bindings("--output", outputs)
    lengths = {name: _count(name, text) for name, text in _bindings("--length", sizes).items()}
    for name in (*saves, *lengths):
        if name not in writable:
            raise VyreError(
                f"the program has no writable buffer {name!r}.",
                fix=f"name one of {', '.join(writable) or '(none)'}.",
            )
    grid = _grid(workgroups)
    arrays = {name: read_array(path) for name, path in _bindings("--input", inputs).items()}
    for name in lengths.keys() & arrays.keys():
        raise VyreError(f"{name!r} has --length and --input.", fix="keep one of them.")
    compiled = compile_program(program, backend=backend)
    results = compiled(arrays, workgroups=grid, copy=True, lengths=_lengths(program, arrays, lengths))
    for name, path in saves.items():
        write_array(path, results[name])
    records = [_record(name, array) for name, array in results.items()]
    if as_json:
        click.echo(json.dumps({"buffers": records}))
        return
    for r in records:
        values = " ".join(str(v) for v in r["first"])
        more = " …" if r["more"] else ""
        click.echo(f"{r['name']}: {r['dtype']} {r['shape']} sha256 {r['sha256'][:16]}\n  {values}{more}")


def _bindings(option: str, given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in map(split_binding, given):
        if name in found:
            raise VyreError(f"{option} names {name!r} twice.", fix="keep one of them.")
        found[name] = value
    return found


def _count(name: str, text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise VyreError(f"{text[:40]!r} is no length of {name!r}.", fix=f"write it like {name}=1024.")
    return int(text)


def _lengths(
    program: Program, arrays: Mapping[str, Any], given: Mapping[str, int]
) -> dict[str, int | tuple[str, ...]]:
    """The lengths of the outputs that nobody supplies: as given, as declared, or as the longest input."""
    declared = {b.name: b for b in program.buffers}
    inputs = tuple(
        name
        for name in arrays
        if name in declared and declared[name].access in (BufferAccess.ReadOnly, BufferAccess.ReadWrite)
    )
    lengths: dict[str, int | tuple[str, ...]] = {**given}
    for buffer in program.buffers:
        if not buffer.access.writable and buffer.name not in arrays:
            raise VyreError(
                f"nothing was given for the {buffer.access.value} buffer {buffer.name!r}.",
                fix=f"pass --input {buffer.name}=FILE, an .npy file or raw bytes.",
            )
        needs = buffer.access is BufferAccess.ReadWrite and buffer.name not in arrays and not buffer.count
        if needs and inputs:
            lengths.setdefault(buffer.name, inputs)
        elif needs and buffer.name not in lengths:
            raise VyreError(
                f"nothing says how long the buffer {buffer.name!r} is.",
                fix=f"pass --length {buffer.name}=1024, or --input {buffer.name}=FILE.",
            )
    return lengths


def _grid(option: str | None) -> tuple[int, ...] | None:
    if option is None:
        return None
    parts = option.split(",")
    if not 1 <= len(parts) <= 3 or not all(_NUMBER.fullmatch(p.strip()) for p in parts):
        raise VyreError(
            f"{option[:40]!r} is not a grid.", fix="write up to three numbers, such as 64 or 8,8,1."
        )
    return tuple(int(p) for p in parts)


def _record(name: str, array: Any) -> dict[str, Any]:
    flat = array.reshape(-1)
    return {
        "name": name,
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        "first": [_shown(value) for value in flat[:8].tolist()],
        "more": flat.size > 8,
    }


def _shown(value: Any) -> Any:
    """JSON has no word for infinities and NaN."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
