"""`vyre run`."""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import click

from vyre.cli.call_options import bindings, read_call, set_option
from vyre.cli.files import read_kernel, write_array


@click.command("run", epilog="Example: vyre run hamming.vyre --input a=a.npy --input b=b.npy")
@click.argument("file")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A buffer: .npy or raw bytes.")
@set_option
@click.option(
    "--length",
    "sizes",
    multiple=True,
    metavar="NAME=COUNT",
    help="Elements of an output that is not an input; M,N for one with a shape.",
)
@click.option("--output", "outputs", multiple=True, metavar="NAME=FILE", help="Save a buffer after the run.")
@click.option("--backend", metavar="NAME", help="The backend; `vyre backends` lists them.")
@click.option("--workgroups", metavar="X[,Y[,Z]]", help="The grid; the default covers the longest output.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(
    file: str,
    *,
    inputs: tuple[str, ...],
    sets: tuple[str, ...],
    sizes: tuple[str, ...],
    outputs: tuple[str, ...],
    backend: str | None,
    workgroups: str | None,
    as_json: bool,
) -> None:
    """Run the program in FILE (text, wire, or FILE.py:KERNEL) and show every writable buffer.

    A writable buffer that is not an input starts as zeros; without --length and without a declared size it is
    as long as the longest input. The dimensions of a kernel are those of its arrays; a scalar that has no
    default needs --set.
    """
    from vyre.backends import compile_program

    program, kernel = read_kernel(file)
    saves = bindings("--output", outputs)
    call = read_call(program, kernel, inputs, sets, sizes, workgroups, also=saves)
    compiled = compile_program(program, backend=backend)
    results = compiled(call.arrays, workgroups=call.grid, copy=True, lengths=call.lengths(program))
    results |= {name: results[name].reshape(shape) for name, shape in call.shapes.items()}
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
