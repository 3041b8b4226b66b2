"""`vyre validate`."""

from __future__ import annotations

import json

import click

from vyre.cli.app import diagnostic_record
from vyre.cli.files import read_program
from vyre.errors import ValidationError


@click.command("validate", epilog="Example: vyre validate hamming.vyre")
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="Print the diagnostics as JSON.")
def command(file: str, *, as_json: bool) -> None:
    """Check the program in FILE (text, wire, or FILE.py:KERNEL) against every V-rule.

    Prints all independent errors; exits with 1 if there is any.
    """
    from vyre.validate import validate

    program = None
    try:
        program = read_program(file)
        found = validate(program)
    except ValidationError as error:  # a kernel checks itself, with the ops that only it knows
        found = list(error.diagnostics)
    if as_json:
        click.echo(json.dumps({"valid": not found, "diagnostics": [diagnostic_record(d) for d in found]}))
    else:
        for diagnostic in found:
            click.echo(str(diagnostic))
        if found:
            codes = sorted({d.code for d in found})
            errors = "1 error" if len(found) == 1 else f"{len(found)} errors"
            click.echo(f"{file}: {errors}. `vyre explain {codes[0]}` says more.")
        elif program is not None:
            click.echo(f"{file}: valid, {program.size} nodes, {len(program.buffers)} buffers.")
    if found:
        raise SystemExit(1)
