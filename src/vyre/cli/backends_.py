"""`vyre backends`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click


@click.command("backends", epilog="Example: vyre backends --json")
@click.option("--json", "as_json", is_flag=True, help="Print the backends as JSON.")
def command(*, as_json: bool) -> None:
    """List the backends: device and version, or what is missing and the command that installs it."""
    from vyre.backends import available, default_backend

    found = available()
    default = default_backend()
    if as_json:
        click.echo(json.dumps([{**asdict(s), "default": s.name == default} for s in found], indent=2))
        return
    for status in found:
        mark = "*" if status.name == default else " "
        if status.available:
            click.echo(f"{mark} {status.name:<10} {status.device}, {status.version}")
        else:
            click.echo(f"{mark} {status.name:<10} not available: {status.missing} Fix: {status.install}")
    click.echo("* is the default.")
