"""Registries of ops: immutable maps from id to definition."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.errors import OpError, boundary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vyre.compose.template import Template
    from vyre.ir.op import Op


class Registry:
    """An immutable set of ops, looked up by id. `extend` gives a larger one.

    `templates` memoises the expansions of its ops, so that inlining expands each op once.
    """

    __slots__ = ("_ops", "templates")

    @boundary
    def __init__(self, ops: Iterable[Op] = ()) -> None:
        self._ops: dict[str, Op] = {}
        self.templates: dict[str, Template] = {}
        for op in ops:
            known = self._ops.setdefault(op.id, op)
            if known != op:
                raise OpError(
                    f"two different ops are registered as {op.id}.",
                    fix=f"give the new meaning a new version, {op.id.partition('@')[0]}@{op.version + 1}.",
                )

    def get(self, op_id: str) -> Op | None:
        return self._ops.get(op_id)

    @boundary
    def __getitem__(self, op_id: str) -> Op:
        op = self._ops.get(op_id)
        if op is None:
            raise OpError(
                f"no op is registered as {op_id!r}.",
                fix=f"register an Op with id {op_id} before lowering.",
            )
        return op

    def __contains__(self, op_id: object) -> bool:
        return op_id in self._ops

    def __iter__(self) -> Iterator[Op]:
        return iter(self._ops.values())

    def __len__(self) -> int:
        return len(self._ops)

    @boundary
    def extend(self, ops: Iterable[Op]) -> Registry:
        """This registry and more ops; a different op under a known id is an `OpError`."""
        return Registry([*self, *ops])


@cache
def own_registry() -> Registry:
    """The standard library and the hardware instructions. What an op of a package calls while that package is
    being loaded is looked up here, because the packages' own ops are not all there yet."""
    from vyre.ops import standard_ops
    from vyre.ops.intrinsics import intrinsic_ops

    return Registry([*standard_ops(), *intrinsic_ops()])


@cache
def default_registry() -> Registry:
    """Our own registry, plus ops of installed packages (entry point group `vyre.ops`)."""
    from vyre.compose.plugins import ops_by_package

    registry = own_registry()
    for package, ops in ops_by_package():
        try:
            registry = registry.extend(ops)
        except OpError as error:
            raise OpError(
                f"the package {package} cannot be used: {error.message}",
                fix=f"{error.fix.removesuffix('.')}, or uninstall {package}.",
            ) from error
    return registry
