"""`vyre validate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from vyre.cli.app import diagnostic_record
from vyre.cli.files import read_source
from vyre.errors import ValidationError, counted

if TYPE_CHECKING:
    from vyre.errors import Diagnostic
    from vyre.graph import Graph
    from vyre.ir.program import Program


@click.command("validate", epilog="Example: vyre validate hamming.vyre")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the diagnostics as JSON.")
def command(file: str, *, as_json: bool) -> None:
    """Check the program or graph in FILE (text, wire, or FILE.py:KERNEL) against every V-rule.

    Prints all independent errors; exits with 1 if there is any.
    """
    holds = ""
    found: list[Diagnostic] = []
    try:
        holds, found = _checked(read_source(file))
    except ValidationError as error:  # a graph, or a kernel, which knows ops that only it has
        found = list(error.diagnostics)
    if as_json:
        click.echo(json.dumps({"valid": not found, "diagnostics": [diagnostic_record(d) for d in found]}))
    else:
        for diagnostic in found:
            click.echo(str(diagnostic))
        if found:
            codes = sorted({d.code for d in found})
            errors = counted(len(found), "error")
            click.echo(f"{file}: {errors}. `vyre explain {codes[0]}` says more.")
        else:
            click.echo(f"{file}: valid, {holds}.")
    if found:
        raise SystemExit(1)


def _checked(source: Program | Graph) -> tuple[str, list[Diagnostic]]:
    """What it holds in words, and the rules that a program breaks; a graph raises."""
    from vyre.ir.program import Program
    from vyre.validate import validate

    if isinstance(source, Program):
        return f"{counted(source.size, 'node')}, {counted(len(source.buffers), 'buffer')}", validate(source)
    values = len(source.types)
    inputs, outputs = counted(len(source.inputs), "input"), counted(len(source.outputs), "output")
    return f"{counted(values, 'value')}, {inputs}, {outputs}", []
