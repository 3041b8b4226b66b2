"""`vyre merge`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vyre.cli.files import read_document, write_bytes

if TYPE_CHECKING:
    from vyre.conform.certify.certificate import Certificate

_EPILOG = "Example: vyre merge shard1.json shard2.json shard3.json -o certificate.json"


@click.command("merge", epilog=_EPILOG)
@click.argument("certificates", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), metavar="FILE", help="The certificate.")
@click.option("--key", type=click.Path(), metavar="FILE", help="Sign the merged certificate with this key.")
@click.option(
    "--public-key", type=click.Path(), metavar="FILE", help="The key that must have signed the shards."
)
def command(certificates: tuple[str, ...], *, output: str, key: str | None, public_key: str | None) -> None:
    """Join the certificates of all shards of a run into that of the whole run, byte for byte.

    Shards that were changed, do not belong together, are missing or overlap are refused. Exits with 1 on a
    failure that is not expected, as the run itself would.
    """
    from vyre.cli.styled import echo_lines, width
    from vyre.conform.certify.keys import SigningKey, load_public
    from vyre.conform.certify.merge import merge
    from vyre.conform.certify.statement import write
    from vyre.conform.certify.summary import summary

    trusted = load_public(public_key) if public_key else None
    whole = merge([_read(file, trusted) for file in certificates])
    data = write(whole, key=SigningKey.load(key) if key else None)
    write_bytes(output, data)
    echo_lines(summary(whole.results, [whole], width=width()))
    click.echo(f"\ncertificate  {output}")
    if not whole.results.ok:
        raise SystemExit(1)


def _read(file: str, trusted: str | None) -> Certificate:
    """A shard's certificate, if it can be believed."""
    from vyre.conform.certify.finding import WRONG
    from vyre.conform.certify.verify import verify
    from vyre.errors import CertificateError

    report = verify(read_document(file), trusted=trusted)
    wrong = next((f for f in report.findings if f.status == WRONG), None)
    if wrong is not None or report.document is None:
        assert wrong is not None
        raise CertificateError(wrong.text, place=file, fix=wrong.fix)
    return report.document.certificate
