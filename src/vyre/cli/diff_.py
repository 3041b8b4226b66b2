"""`vyre diff`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.call_options import bindings, grid_option, set_option, settings_of
from vyre.cli.files import read_array, read_kernel
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.diff.divergence import Divergence


@click.command("diff", epilog="Example: vyre diff hamming.vyre cpu opencl --seed 7")
@click.argument("file")
@click.argument("first")
@click.argument("second")
@click.option("--input", "inputs", multiple=True, metavar="NAME=FILE", help="A buffer: .npy or raw bytes.")
@set_option
@click.option("--seed", default=0, help="Chooses what is not given: contents, dimensions, scalars.")
@click.option("--length", default=64, help="Elements of buffers that are sized by the host and not given.")
@click.option("--workgroups", metavar="X[,Y[,Z]]", help="The grid; the default covers the longest output.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    file: str,
    first: str,
    second: str,
    *,
    inputs: tuple[str, ...],
    sets: tuple[str, ...],
    seed: int,
    length: int,
    workgroups: str | None,
    as_json: bool,
) -> None:
    """Run the program in FILE on the backends FIRST and SECOND and show the first value that differs.

    A kernel is called as in Python: its dimensions are those of the arrays given, or small ones that the seed
    chooses. Exits with 1 if the results differ.
    """
    from vyre.backends import get
    from vyre.conform.diff.divergence import diverge
    from vyre.conform.diff.host_data import grid_for, host_inputs
    from vyre.validate import check

    program, kernel = read_kernel(file)
    check(program, allow_reserved=True)
    if length < 0:
        raise VyreError(f"{length} is not a length.", fix="pass --length with 0 or more.")
    given = {name: read_array(path) for name, path in bindings("--input", inputs).items()}
    settings = settings_of(kernel, sets)
    asked = grid_option(workgroups)
    lengths: Mapping[str, int | tuple[str, ...]] = {}
    if kernel is not None:
        from vyre.cli.kernel_call import drawn_call

        bound = drawn_call(kernel, given, settings, asked, seed=seed, length=length)
        given, lengths, asked = bound.buffers, bound.lengths, bound.workgroups
    data = host_inputs(program, given, seed=seed, length=length, lengths=lengths)
    grid = grid_for(program, data, asked)
    found = diverge(program, data, grid, get(first), get(second))
    if as_json:
        record = None if found is None else _record(found)
        click.echo(json.dumps({"equal": found is None, "divergence": record}, indent=2))
    elif found is None:
        click.echo(f"{first} and {second} agree on every byte ({_grid_text(grid)} workgroups, seed {seed}).")
    else:
        click.echo("\n".join(_lines(found, first, second)))
    if found is not None:
        raise SystemExit(1)


def _grid_text(grid: tuple[int, int, int]) -> str:
    return " x ".join(map(str, grid))


def _lines(found: Divergence, first: str, second: str) -> list[str]:
    from vyre.conform.diff.host_data import value_text

    width = max(len(first), len(second))
    lines = [f"{found.buffer}[{found.element}] differs:"]
    for name, bits in ((first, found.first), (second, found.second)):
        lines.append(f"  {name:<{width}}  {value_text(bits, found.type)}")
    lines.append("written by:")
    for writer in found.writers:
        place = f"  ({writer.place})" if writer.place else ""
        lines.append(f"  {writer.path}: {writer.text}{place}")
    value = found.intermediate
    if value is None:
        return [*lines, found.note]
    again = f", occurrence {value.occurrence + 1}" if value.occurrence else ""
    lines.append(f"first value that differs, in invocation {value.invocation}{again}:")
    lines.append(f"  {value.path}: {value.statement}")
    lines.append(f"  {value.expression}")
    for name, bits in ((first, value.first), (second, value.second)):
        lines.append(f"  {name:<{width}}  {value_text(bits, value.type)}")
    return lines


def _record(found: Divergence) -> dict[str, Any]:
    record = asdict(found)
    record["type"] = found.type.value
    if found.intermediate is not None:
        record["intermediate"]["type"] = found.intermediate.type.value
    return record
