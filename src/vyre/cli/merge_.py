"""`vyre merge`."""

from __future__ import annotations

import click

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
    from vyre.certification import Certificate
    from vyre.cli.certified import echo_summary
    from vyre.conform.certify.keys import SigningKey, load_public

    trusted = load_public(public_key) if public_key else None
    first, *others = map(Certificate.load, certificates)
    whole = first.merge(*others, key=SigningKey.load(key) if key else None, trusted=trusted)
    whole.save(output)
    echo_summary(whole)
    click.echo(f"\ncertificate  {output}")
    if not whole.ok:
        raise SystemExit(1)
