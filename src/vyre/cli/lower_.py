"""`vyre lower`."""

from __future__ import annotations

import json

import click

from vyre.cli.files import read_told
from vyre.files import write_bytes


@click.command("lower", epilog="Example: vyre lower hamming.vyre --to wgsl")
@click.argument("file")
@click.option("--to", "language", required=True, metavar="LANGUAGE", help="llvm, wgsl, cuda or opencl.")
@click.option("--output", metavar="OUT", help="Write the source to OUT instead of printing it.")
@click.option("--json", "as_json", is_flag=True, help="Print the source and its manifest as JSON.")
def command(file: str, *, language: str, output: str | None, as_json: bool) -> None:
    """Print the program in FILE (text, wire, or FILE.py:KERNEL) as source in another language."""
    from vyre.lower.languages import language_of, lower
    from vyre.validate import check

    target = language_of(language)
    program, told = read_told(file)
    check(program, allow_reserved=True)
    source = lower(program, target.name)
    if output:
        write_bytes(output, source.text.encode())
    if as_json:
        from vyre.cli.export_ import manifest_of

        record = manifest_of(program, source, file=output or f"kernel{target.suffix}", told=told)
        click.echo(json.dumps({"text": source.text, "manifest": record}, indent=2))
    elif output:
        click.echo(f"{output}: {target.title}, {len(source.text)} bytes")
    else:
        click.echo(source.text, nl=not source.text.endswith("\n"))
