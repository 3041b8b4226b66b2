"""`vyre laws`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from vyre.errors import counted

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec
    from vyre.semantics.proof_cache import ProofCache

_TIERS = ("proved", "exhaustive", "witnessed", "exhaustive-u32")


@click.command("laws", epilog="Example: vyre laws primitive.math.div")
@click.argument("op", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one record per law as JSON.")
@click.option("--tier", "tiers", type=click.Choice(_TIERS), multiple=True, help="Evidence to collect.")
@click.option(
    "--discover", is_flag=True, help="Show what holds but is not declared, and which elements do not exist."
)
@click.option("--collisions", is_flag=True, help="Show ops that their laws do not tell apart, and what does.")
@click.option("--fresh", is_flag=True, help="Prove everything again instead of using kept proofs.")
def command(
    op: str | None, *, as_json: bool, tiers: tuple[str, ...], discover: bool, collisions: bool, fresh: bool
) -> None:
    """Show the laws of the ops whose id starts with OP, each with its evidence.

    Exits with 1 if one does not hold as declared.
    """
    from vyre.semantics.proof_cache import ProofCache, default_folder

    cache = ProofCache(None if fresh else default_folder())
    chosen = _chosen(op)
    if discover:
        _discover(chosen, cache, as_json=as_json)
    elif collisions:
        _collisions(chosen, as_json=as_json)
    else:
        _laws(chosen, tiers or ("proved",), cache, as_json=as_json)


def _chosen(prefix: str | None) -> list[OpSpec]:
    from vyre.conform.registry import collectives, specs
    from vyre.errors import OpError

    every = (*specs(), *collectives())
    exact = [s for s in every if s.id == prefix]
    found = exact or [s for s in every if s.id.startswith(prefix or "")]
    if not found:
        raise OpError(f"no spec's id starts with {prefix!r}.", fix="run `vyre laws` for all of them.")
    return found


def _laws(chosen: list[OpSpec], tiers: tuple[str, ...], cache: ProofCache, *, as_json: bool) -> None:
    from vyre.conform.algebra.listing import record, render, results, summary
    from vyre.conform.registry.categories import categories
    from vyre.conform.registry.lawless import covered

    found = list(results(chosen, tiers=tiers, cache=cache))
    if as_json:
        click.echo(json.dumps([record(r) for r in found], indent=2))
    else:
        click.echo(render(found))
        click.echo(f"\n{summary(found)} {covered(chosen)} {categories()}")
    if not all(r.as_declared for r in found):
        raise SystemExit(1)


def _discover(chosen: list[OpSpec], cache: ProofCache, *, as_json: bool) -> None:
    from vyre.conform.algebra.discover import discover, missing_elements
    from vyre.conform.algebra.listing import record, render, table
    from vyre.conform.registry import lookup, primitives

    known = {s.id for s in primitives()}
    searched = [s for s in chosen if s.id in known]
    found = discover(searched, lookup, cache)
    missing = missing_elements(searched, lookup, cache)
    if as_json:
        absent = [
            {
                "op": m.op,
                "law": m.law,
                "role": "no element",
                "evidence": str(m.evidence),
                "operands": list(m.operands),
                "solver": f"{m.evidence.solver} {m.evidence.version}",
                "seconds": round(m.evidence.seconds, 6),
            }
            for m in missing
        ]
        click.echo(json.dumps([*map(record, found), *absent], indent=2))
        return
    click.echo("Holds for all inputs, and is not declared:\n")
    click.echo(render(found))
    click.echo("\nNo element of u32 satisfies:\n")
    rows = [(m.op, m.law, str(m.evidence), m.evidence.scope, m.evidence.solver) for m in missing]
    click.echo(table(("op", "law", "evidence", "scope", "solver"), rows))


def _collisions(chosen: list[OpSpec], *, as_json: bool) -> None:
    from dataclasses import asdict

    from vyre.conform.algebra.collisions import collisions
    from vyre.conform.algebra.listing import table
    from vyre.conform.registry import specs

    ids = {s.id for s in chosen}
    operands = {s.signature.inputs for s in chosen}
    likely = [s for s in specs() if s.signature.inputs in operands]
    found = [c for c in collisions(likely) if c.first in ids or c.second in ids]
    if as_json:
        click.echo(json.dumps([asdict(c) for c in found], indent=2))
    else:
        rows = [(c.first, c.relation, c.second, c.rule, c.detail) for c in found]
        unruled = sum(c.rule == "none" for c in found)
        click.echo(table(("laws of", "are", "in those of", "told apart by", "namely"), rows))
        click.echo(f"\n{counted(len(found), 'collision')}, {unruled} without a rule.")
    if any(c.rule == "none" for c in found):
        raise SystemExit(1)
