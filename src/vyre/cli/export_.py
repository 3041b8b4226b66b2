"""`vyre export`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.files import read_told
from vyre.errors import VyreError, counted
from vyre.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.program import Program
    from vyre.lower.source import Source


class FloatWay(click.types.StringParamType):
    """A way to write floats, by the list of the lowering, which is loaded when it is needed."""

    name = "way"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        from vyre.lower.ways import FLOATS

        return f"[{'|'.join(sorted({way for choices in FLOATS.values() for way in choices}))}]"


@click.command("export", epilog="Example: vyre export hamming.vyre --to wgsl --output-dir hamming")
@click.argument("file")
@click.option("--to", "language", required=True, metavar="LANGUAGE", help="llvm, wgsl, cuda or opencl.")
@click.option("--output-dir", required=True, metavar="DIR", help="Where to write; created if it is missing.")
@click.option("--floats", type=FloatWay(), help="How floats are written [soft for wgsl, else native].")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as JSON.")
def command(file: str, *, language: str, output_dir: str, floats: str | None, as_json: bool) -> None:
    """Write the program in FILE as source, with a manifest of what a host needs to run it.

    The manifest says what the chosen way to write floats guarantees. Scalars keep their names where FILE is
    FILE.py:KERNEL.

    docs/kernel-abi.md explains the manifest; no Python is needed to use the result.
    """
    from vyre.lower.languages import floats_of, language_of, lower
    from vyre.validate import check

    target = language_of(language)
    way = floats_of(target.name, floats)
    program, told = read_told(file)
    check(program, allow_reserved=True)
    source = lower(program, target.name, floats=way)
    folder = Path(output_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VyreError(
            f"cannot make {output_dir}: {error.strerror}.", fix="check the path and its permissions."
        ) from None
    name = f"kernel{target.suffix}"
    record = manifest_of(program, source, file=name, floats=way, told=told)
    write_bytes(str(folder / name), source.text.encode())
    write_bytes(str(folder / "manifest.json"), (json.dumps(record, indent=2) + "\n").encode())
    if as_json:
        click.echo(json.dumps(record, indent=2))
    else:
        click.echo(f"{folder / name}: {target.title}, {len(source.text)} bytes")
        holds = f"{counted(len(source.buffers), 'buffer')}, {counted(len(source.hidden), 'word')}"
        click.echo(f"{folder / 'manifest.json'}: {holds}")


def manifest_of(
    program: Program,
    source: Source,
    *,
    file: str,
    floats: str | None = None,
    told: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    from vyre.lower.manifest import manifest
    from vyre.wire import byte_digest, meaning_digest

    digests = {"byte_digest": byte_digest(program), "meaning_digest": meaning_digest(program)}
    return manifest(program, source, file=file, digests=digests, floats=floats, told=told)
