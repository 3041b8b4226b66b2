"""The `vyre` command. Heavy modules are imported by the command that needs them."""

from vyre.cli.app import main

__all__ = ["main"]
