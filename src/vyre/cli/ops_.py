"""`vyre ops`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vyre.compose import Op


@click.command("ops", epilog="Example: vyre ops signed.div")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the ops as JSON.")
def command(name: str | None, *, as_json: bool) -> None:
    """List the registered ops whose id starts with NAME, or show the one with that id."""
    from vyre.compose import default_registry
    from vyre.errors import OpError
    from vyre.text import print_op

    registry = default_registry()
    exact = registry.get(name) if name else None
    if exact is not None:
        click.echo(json.dumps(_record(exact)) if as_json else f"{exact.doc}\n\n{print_op(exact)}")
        return
    found = sorted((op for op in registry if op.id.startswith(name or "")), key=lambda op: op.id)
    if not found:
        raise OpError(f"no op id starts with {name!r}.", fix="run `vyre ops` for all of them.")
    if as_json:
        click.echo(json.dumps([_record(op) for op in found]))
        return
    width = max(len(op.id) for op in found)
    for op in found:
        click.echo(f"{op.id:<{width}}  {_signature(op)}  {op.doc}")
    composed = sum(op.category.value == "A" for op in found)
    click.echo(f"{len(found)} ops, {composed} of Category A ({composed / len(found):.1%}).")
    if name is None:
        from vyre.conform.registry.categories import categories

        click.echo(f"With what is specified but is not an op of a registry: {categories()}")


def _signature(op: Op) -> str:
    inputs = ", ".join(p.type.value for p in op.params)
    return f"({inputs}) -> {op.output.value}"


def _record(op: Op) -> dict[str, object]:
    from vyre.text import print_op

    return {
        "id": op.id,
        "version": op.version,
        "category": op.category.value,
        "inputs": [p.type.value for p in op.params],
        "output": op.output.value,
        "doc": op.doc,
        "definition": print_op(op),
    }
