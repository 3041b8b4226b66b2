"""`vyre print`."""

from __future__ import annotations

import json

import click

from vyre.cli.files import read_program
from vyre.files import write_bytes


@click.command("print", epilog="Example: vyre print hamming.bin; vyre print hamming.vyre --wire hamming.bin")
@click.argument("file")
@click.option("--wire", metavar="OUT", help="Write the wire form to OUT instead of printing.")
@click.option("--inline", "inlined", is_flag=True, help="Print the program with every call inlined.")
@click.option("--json", "as_json", is_flag=True, help="Print text, digests and sizes as JSON.")
def command(file: str, *, wire: str | None, inlined: bool, as_json: bool) -> None:
    """Print the program in FILE (text, wire, or FILE.py:KERNEL) in its text form."""
    program = read_program(file)
    if inlined:
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
    from vyre.wire import byte_digest, meaning_digest

    record = {
        "text": text,
        "nodes": program.size,
        "byte_digest": byte_digest(program),
        "meaning_digest": meaning_digest(program),
    }
    click.echo(json.dumps(record, indent=2))
