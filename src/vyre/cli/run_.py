"""`vyre run`."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import click

from vyre.cli.files import read_array, read_program, split_binding, write_array
from vyre.errors import VyreError


@click.command("run", epilog="Example: vyre run hamming.vyre --input a=a.npy --input b=b.npy")
@click.argument("file")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A buffer: .npy or raw bytes.")
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE", help="Save a buffer after the run.")
@click.option("--backend", metavar="NAME", help="The backend; `vyre backends` lists them.")
@click.option("--workgroups", metavar="X[,Y[,Z]]", help="The grid; the default covers the longest output.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    file: str,
    *,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    backend: str | None,
    workgroups: str | None,
    as_json: bool,
) -> None:
    """Run the program in FILE (text, wire, or FILE.py:KERNEL) and show every writable buffer."""
    from vyre.backends import dispatch

    program = read_program(file)
    saves = dict(split_binding(o) for o in outputs)
    arrays = {name: read_array(path) for name, path in map(split_binding, inputs)}
    results = dispatch(program, arrays, backend=backend, workgroups=_grid(workgroups))
    unknown = sorted(saves.keys() - results.keys())
    if unknown:
        raise VyreError(
            f"the program has no writable buffer {unknown[0]!r}.",
            fix=f"save one of {', '.join(sorted(results)) or 'none'}.",
        )
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


def _grid(option: str | None) -> tuple[int, ...] | None:
    if option is None:
        return None
    parts = option.split(",")
    if not 1 <= len(parts) <= 3 or not all(p.strip().isdecimal() for p in parts):
        raise VyreError(f"{option!r} is not a grid.", fix="write up to three numbers, such as 64 or 8,8,1.")
    return tuple(int(p) for p in parts)


def _record(name: str, array: Any) -> dict[str, Any]:
    flat = array.reshape(-1)
    return {
        "name": name,
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "sha256": hashlib.sha256(array.tobytes()).hexdigest(),
        "first": flat[:8].tolist(),
        "more": flat.size > 8,
    }
