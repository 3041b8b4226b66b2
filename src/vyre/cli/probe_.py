"""`vyre probe`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vyre.backends.probe.run import ProbeRow


@click.command("probe", epilog="Example: vyre probe wgpu --json")
@click.argument("backend")
@click.option("--sweep", default=1 << 18, show_default=True, help="Cases to compare with soft floats.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def command(backend: str, *, sweep: int, as_json: bool) -> None:
    """Ask a device which float operations it can do exactly.

    Prints a row for each operation: how it is done (native, soft or refused), why, and where native
    arithmetic was wrong, the input with the expected and the actual bits.
    """
    from vyre.backends.probe.run import probe
    from vyre.backends.registry import described, get

    opened = get(backend)
    rows = probe(opened, sweep=sweep)
    if as_json:
        facts = asdict(described(opened))
        device = {k: facts[k] for k in ("name", "version", "device", "driver", "toolchain")}
        click.echo(json.dumps({"backend": device, "rows": [asdict(row) for row in rows]}, indent=2))
        return
    click.echo(f"{backend}: {described(opened).device}")
    width = max(len(row.op) for row in rows)
    for row in rows:
        click.echo(f"{row.op:<{width}}  {row.way:<8}{row.why}")
        if row.witness is not None:
            click.echo(f"{'':<{width}}  {_shown(row)}")


def _shown(row: ProbeRow) -> str:
    assert row.witness is not None
    operands = ", ".join(f"0x{bits:X}" for bits in row.witness.operands)
    return f"  witness: ({operands}) gives 0x{row.witness.actual:X}, expected 0x{row.witness.expected:X}"
