"""`vyre keygen`."""

from __future__ import annotations

import click


@click.command("keygen", epilog="Example: vyre keygen vyre.key · vyre certify cpu --key vyre.key")
@click.argument("file", type=click.Path(), default="vyre.key")
def command(file: str) -> None:
    """Make a key that signs certificates: FILE is private, FILE.pub is for everybody who verifies."""
    from vyre.conform.certify.keys import SigningKey

    key = SigningKey.generate()
    public = key.write(file)
    click.echo(f"private   {file}  (keep it to yourself)")
    click.echo(f"public    {public}  (publish it)")
    click.echo(f"key id    {key.keyid}")
