"""`vyre export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.files import read_program
from vyre.errors import VyreError
from vyre.files import write_bytes

if TYPE_CHECKING:
    from vyre.ir.program import Program
    from vyre.lower.source import Source


@click.command("export", epilog="Example: vyre export hamming.vyre --to wgsl --output-dir hamming")
@click.argument("file")
@click.option("--to", "language", required=True, metavar="LANGUAGE", help="llvm, wgsl, cuda or opencl.")
@click.option("--output-dir", required=True, metavar="DIR", help="Where to write; made if it is missing.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
def command(file: str, *, language: str, output_dir: str, as_json: bool) -> None:
    """Write the program in FILE as source, with a manifest of what a host needs to run it.

    docs/kernel-abi.md explains the manifest; no Python is needed to use the result.
    """
    from vyre.lower.languages import language_of, lower
    from vyre.validate import check

    target = language_of(language)
    program = read_program(file)
    check(program, allow_reserved=True)
    source = lower(program, target.name)
    folder = Path(output_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VyreError(
            f"cannot make {output_dir}: {error.strerror}.", fix="check the path and its permissions."
        ) from None
    name = f"kernel{target.suffix}"
    record = manifest_of(program, source, file=name)
    write_bytes(str(folder / name), source.text.encode())
    write_bytes(str(folder / "manifest.json"), (json.dumps(record, indent=2) + "\n").encode())
    if as_json:
        click.echo(json.dumps(record, indent=2))
    else:
        click.echo(f"{folder / name}: {target.title}, {len(source.text)} bytes")
        click.echo(f"{folder / 'manifest.json'}: {len(source.buffers)} buffers, {len(source.hidden)} words")


def manifest_of(program: Program, source: Source, *, file: str) -> dict[str, Any]:
    from vyre.lower.manifest import manifest
    from vyre.wire import byte_digest, meaning_digest

    digests = {"byte_digest": byte_digest(program), "meaning_digest": meaning_digest(program)}
    return manifest(program, source, file=file, digests=digests)
