"""`vyre explain`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click


@click.command("explain", epilog="Example: vyre explain V023")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
def command(code: str | None, *, as_json: bool) -> None:
    """Explain a V-code, or list all of them."""
    from vyre.validate import CODES, explain

    if code is None:
        if as_json:
            click.echo(json.dumps([{"code": r.code, "title": r.title} for r in CODES.values()], indent=2))
            return
        for rule in CODES.values():
            click.echo(f"{rule.code}  {rule.title}")
        return
    page = explain(code)
    if as_json:
        rule = CODES[page.partition(":")[0]]
        click.echo(json.dumps({k: v for k, v in asdict(rule).items() if isinstance(v, str | None)}, indent=2))
    else:
        click.echo(page)
