"""`vyre report`."""

from __future__ import annotations

from pathlib import Path

import click

from vyre.files import write_bytes


@click.command("report", epilog="Example: vyre report cpu.certificate.json --output cpu.html")
@click.argument("certificate", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(), metavar="FILE", help="Where the page goes [CERTIFICATE with .html]."
)
def command(certificate: str, *, output: str | None) -> None:
    """Make one self-contained HTML page of CERTIFICATE."""
    from vyre.certification import Certificate

    page = Certificate.load(certificate).to_html()
    target = output or str(Path(certificate).with_suffix(".html"))
    write_bytes(target, page.encode())
    click.echo(f"wrote {target}")
