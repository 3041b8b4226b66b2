"""`vyre doctor`."""

from __future__ import annotations

import json
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from textwrap import wrap
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vyre.cli.examination import Found


@click.command("doctor", epilog="Example: vyre doctor")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Say what works here, what is missing, and the one command that adds it.

    Every backend runs a kernel in a process of its own. Exits with 0 if the default backend works, else
    with 1.
    """
    from vyre.backends.chosen import default_name
    from vyre.backends.packages import version_of
    from vyre.backends.registry import names
    from vyre.cli.examination import cache, extras, software_devices, tried

    with ThreadPoolExecutor() as pool:
        backends = list(pool.map(tried, names()))
    parts = {"backends": backends, "software devices": software_devices(), "extras": [*extras(), cache()]}
    default = default_name()
    healthy = any(found.name == default and found.works for found in backends)
    if as_json:
        facts = {part: [asdict(found) for found in rows] for part, rows in parts.items()}
        click.echo(json.dumps({"default": default, "healthy": healthy, **facts}, indent=2))
    else:
        click.echo(f"vyre {version_of('vyre')}, Python {platform.python_version()}, {platform.platform()}")
        for part, rows in parts.items():
            _show(part, rows, default)
        click.echo(_verdict(default, healthy=healthy))
    context.exit(0 if healthy else 1)


_INDENT = 17


def _folded(text: str) -> list[str]:
    """The lines of a text beside its name on a terminal; elsewhere one, which is easier to search."""
    from vyre.cli.styled import width

    return (sys.stdout.isatty() and wrap(text, width() - _INDENT)) or [text]


def _show(part: str, rows: list[Found], default: str) -> None:
    from vyre.cli.styled import echo_lines

    echo_lines([[("", "")], [(part, "strong")]])
    for found in rows:
        mark = ("✓", "good") if found.works else ("✗", "open")
        what = f"{found.what} (the default)" if found.name == default else found.what
        first, *rest = _folded(what)
        echo_lines([[("  ", ""), mark, (f" {found.name:<12} ", "strong"), (first, "")]])
        echo_lines([(" " * _INDENT + line, "")] for line in rest)
        if not found.works and found.fix:
            echo_lines([[(" " * _INDENT, ""), (f"Fix: {found.fix}", "dim")]])


def _verdict(default: str, *, healthy: bool) -> str:
    if healthy:
        return f"\nCalls that name no backend run on {default}. VYRE_BACKEND or vyre.use(…) chooses another."
    return (
        f"\nThe default backend {default} does not work here; repair it, or choose another with VYRE_BACKEND."
    )
