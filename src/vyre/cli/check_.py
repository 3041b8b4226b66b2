"""`vyre check`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.call_options import read_call, set_option
from vyre.cli.files import read_kernel

if TYPE_CHECKING:
    from vyre.watch.checking import CheckReport


@click.command("check", epilog="Example: vyre check blur.py:blur --input a=a.npy")
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
@click.option("--workgroups", metavar="X[,Y[,Z]]", help="The grid; the default covers the longest output.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def command(
    file: str,
    *,
    inputs: tuple[str, ...],
    sets: tuple[str, ...],
    sizes: tuple[str, ...],
    workgroups: str | None,
    as_json: bool,
) -> int:
    """Run the program in FILE in the interpreter and report races, reads of workgroup memory that nothing
    wrote, divergent barriers and accesses out of bounds, with their lines.

    Exits with 1 if the result depends on the machine.
    """
    from vyre.backends import compile_program
    from vyre.watch.checking import report_of
    from vyre.watch.watcher import Watcher

    program, kernel = read_kernel(file)
    call = read_call(program, kernel, inputs, sets, sizes, workgroups)
    watcher = Watcher(extent=call.extent)
    compile_program(program, backend=watcher)(
        call.arrays, workgroups=call.grid, copy=True, lengths=call.lengths(program)
    )
    report = report_of(file, watcher.seen)
    click.echo(json.dumps(_record(report)) if as_json else str(report))
    return 0 if report.ok else 1


def _record(report: CheckReport) -> dict[str, Any]:
    return {"ok": report.ok, "steps": report.steps, "findings": [asdict(f) for f in report.findings]}
