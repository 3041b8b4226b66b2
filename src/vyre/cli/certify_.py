"""`vyre certify`."""

from __future__ import annotations

import json

import click


@click.command("certify", epilog="Example: vyre certify reference")
@click.argument("backend", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(backend: str | None, *, as_json: bool) -> None:
    """Run every golden row on BACKEND (the default one if not named); exits with 1 on a failure."""
    from vyre.backends import default_backend
    from vyre.conform.certify import certify, render, to_json

    summary = certify(backend or default_backend())
    click.echo(json.dumps(to_json(summary), indent=2) if as_json else render(summary))
    if summary.failures:
        raise SystemExit(1)
