"""Ops of installed packages, found through the entry point group `vyre.ops`.

An entry names an `Op`, an iterable of `Op`s, or a function without arguments that gives either.
A package that breaks this stops the registry with an `OpError` that names it: ops that silently
go missing would show up later as unknown ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from vyre.compose.op import Op
from vyre.errors import OpError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "vyre.ops"


def installed_ops() -> list[Op]:
    """All ops that installed packages offer, in the order of package and entry name."""
    return [op for _, ops in ops_by_package() for op in ops]


def ops_by_package() -> list[tuple[str, list[Op]]]:
    """The same entry by entry, each with the name of its package."""
    from importlib.metadata import entry_points

    entries = sorted(entry_points(group=GROUP), key=lambda e: (_package(e), e.name))
    return [(_package(entry), _load(entry)) for entry in entries]


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]


def _load(entry: EntryPoint) -> list[Op]:
    try:
        offered: Any = entry.load()
        if callable(offered):
            offered = offered()
        if isinstance(offered, Op):
            return [offered]
        # Iterated here, because a generator fails only now.
        ops = list(cast("Iterable[object]", offered)) if isinstance(offered, Iterable) else [offered]
    except (Exception, SystemExit) as error:
        raise OpError(
            f"the ops of the package {_package(entry)} cannot be loaded: {type(error).__name__}: {error}",
            fix=f"repair the entry point {entry.name} = {entry.value!r}, or uninstall {_package(entry)}.",
        ) from error
    for op in ops:
        if not isinstance(op, Op):
            raise OpError(
                f"the package {_package(entry)} offers {op!r}, which is not an Op.",
                fix=f"make {entry.value} an Op, an iterable of Ops, or a function that returns either; "
                f"or uninstall {_package(entry)}.",
            )
    return cast("list[Op]", ops)
