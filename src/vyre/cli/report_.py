"""`vyre report`."""

from __future__ import annotations

from pathlib import Path

import click

from vyre.cli.files import read_document, write_bytes


@click.command("report", epilog="Example: vyre report cpu.certificate.json --output cpu.html")
@click.argument("certificate", type=click.Path())
@click.option(
    "-o", "--output", type=click.Path(), metavar="FILE", help="Where the page goes [CERTIFICATE with .html]."
)
def command(certificate: str, *, output: str | None) -> None:
    """Make one self-contained HTML page of CERTIFICATE."""
    from vyre.conform.certify.statement import read
    from vyre.report import render

    page = render(read(read_document(certificate)))
    target = output or str(Path(certificate).with_suffix(".html"))
    write_bytes(target, page.encode())
    click.echo(f"wrote {target}")
