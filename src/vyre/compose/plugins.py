"""What installed packages offer through their entry points: ops in the group `vyre.ops`.

An entry names an `Op`, an iterable of `Op`s, or a function without arguments that gives either.
A package that breaks this stops the registry with an `OpError` that names it: ops that silently
go missing would show up later as unknown ids. `offered` does the same for any group and type.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from vyre.errors import OpError, VyreError
from vyre.ir.op import Op

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "vyre.ops"

T = TypeVar("T")


def installed_ops() -> list[Op]:
    """All ops that installed packages offer, in the order of package and entry name."""
    return [op for _, ops in ops_by_package() for op in ops]


def ops_by_package() -> list[tuple[str, list[Op]]]:
    """The same entry by entry, each with the name of its package."""
    return offered(GROUP, Op, "ops")


def offered(group: str, kind: type[T], what: str) -> list[tuple[str, list[T]]]:
    """What the entries of a group give, entry by entry, each with the name of its package."""
    from importlib.metadata import entry_points

    entries = sorted(entry_points(group=group), key=lambda e: (_package(e), e.name))
    return [(_package(entry), _load(entry, kind, what)) for entry in entries]


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value.partition(":")[0]


def _is_being_imported(module: str) -> bool:
    """Whether it is half there: its own import has come so far as to ask for what it offers."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _load(entry: EntryPoint, kind: type[T], what: str) -> list[T]:
    package = _package(entry)
    if _is_being_imported(entry.module):
        raise OpError(
            f"the {what} of the package {package} are looked for while {entry.module} is being imported.",
            fix="in an op of a package, call another one of the same package as a function, mix(x), and not "
            "by its id; by its id, call an op of vyre, whose ids `vyre ops` lists.",
        )
    try:
        given: Any = entry.load()
        if callable(given):
            given = given()
        if isinstance(given, kind):
            return [given]
        # Iterated here, because a generator fails only now.
        found = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else [given]
    except VyreError as error:
        where = f"{error.place}: " if error.place else ""
        raise OpError(
            f"the {what} of the package {package} cannot be loaded: {where}{error.message}",
            fix=f"{error.fix.removesuffix('.')}; or uninstall {package}.",
        ) from error
    except (Exception, SystemExit) as error:
        raise OpError(
            f"the {what} of the package {package} cannot be loaded: {type(error).__name__}: {error}.",
            fix=f"repair the entry point {entry.name} = {entry.value!r}, or uninstall {package}.",
        ) from error
    name = kind.__name__
    for item in found:
        if not isinstance(item, kind):
            holder = "list its .op; or " if isinstance(getattr(item, "op", None), kind) else ""
            raise OpError(
                f"the package {package} offers {item!r}, which is not an {name}.",
                fix=f"{holder}make {entry.value} an {name}, an iterable of {name}s, or a function that "
                f"returns either; or uninstall {package}.",
            )
    return cast("list[T]", found)
