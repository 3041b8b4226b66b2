"""`vyre print`."""

from __future__ import annotations

import hashlib
import json

import click

from vyre.cli.files import read_source
from vyre.errors import VyreError
from vyre.files import write_bytes
from vyre.ir.program import Program


@click.command("print", epilog="Example: vyre print hamming.bin; vyre print hamming.vyre --wire hamming.bin")
@click.argument("file")
@click.option("--wire", metavar="OUT", help="Write the wire form to OUT instead of printing.")
@click.option("--inline", "inlined", is_flag=True, help="Print the program with every call inlined.")
@click.option("--json", "as_json", is_flag=True, help="Print text, digests and sizes as JSON.")
def command(file: str, *, wire: str | None, inlined: bool, as_json: bool) -> None:
    """Print the program or graph in FILE (text, wire, or FILE.py:KERNEL) in its text form."""
    program = read_source(file)
    if inlined:
        if not isinstance(program, Program):
            raise VyreError(
                f"{file} holds a graph of tensors.", fix="leave out --inline, which is for programs."
            )
        from vyre.compose.inline import inline

        program = inline(program)
    if wire:
        data = program.to_wire()
        write_bytes(wire, data)
        record = {"file": wire, "bytes": len(data)}
        click.echo(json.dumps(record) if as_json else f"{wire}: {len(data)} bytes")
        return
    text = program.to_text()
    if not as_json:
        click.echo(text, nl=not text.endswith("\n"))
        return
    from vyre.wire import meaning_digest

    record = {"text": text, "byte_digest": hashlib.sha256(program.to_wire()).hexdigest()}
    if isinstance(program, Program):
        record |= {"nodes": program.size, "meaning_digest": meaning_digest(program)}
    else:
        record |= {"values": len(program.values)}
    click.echo(json.dumps(record, indent=2))
