"""`vyre cache`."""

from __future__ import annotations

import json
from typing import Any

import click

from vyre.errors import counted


@click.command("cache", epilog="Example: vyre cache --clear")
@click.option("--clear", is_flag=True, help="Remove every compiled kernel.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def command(*, clear: bool, as_json: bool) -> None:
    """Show or clear the compiled kernels that are kept on disk."""
    from vyre.backends.kernel_cache import default_cache, why_none

    cache = default_cache()
    facts: dict[str, Any]
    if cache is None:
        facts = {"folder": None, "entries": 0, "bytes": 0, "removed": 0}
    else:
        usage = cache.usage()
        removed = cache.clear() if clear else 0
        facts = {
            "folder": str(usage.folder),
            "entries": usage.entries - removed,
            "bytes": usage.size,
            "removed": removed,
        }
    if as_json:
        click.echo(json.dumps(facts, indent=2))
    elif cache is None:
        click.echo(f"no cache: {why_none()}.")
    elif clear:
        click.echo(f"removed {counted(facts['removed'], 'kernel')} from {facts['folder']}")
    else:
        click.echo(
            f"{counted(facts['entries'], 'kernel')}, {counted(facts['bytes'], 'byte')} in {facts['folder']}"
        )
