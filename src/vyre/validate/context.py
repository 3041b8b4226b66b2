"""What the rules know while they look at one expression: buffers, live variables, ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.compose.hardware import Collectives
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.compose.registry import Registry
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.op import Op
    from vyre.ir.types import DataType


class Binding(NamedTuple):
    """A live variable; `type` None is a type that an earlier error made unknown."""

    type: DataType | None
    is_loop: bool = False


class Ops:
    """Op look-up that opens the default registry only when a program has a call."""

    def __init__(self, registry: Registry | None, own: Iterable[Op] = ()) -> None:
        self._registry = registry
        self._own = {op.id: op for op in own}
        self.collectives = Collectives(self.get)

    def get(self, op_id: str) -> Op | None:
        return self._own.get(op_id) or self._open().get(op_id)

    def ids(self) -> list[str]:
        return [*self._own, *(op.id for op in self._open())]

    def _open(self) -> Registry:
        if self._registry is None:
            from vyre.compose.registry import default_registry

            self._registry = default_registry()
        return self._registry


def buffer_table(buffers: Iterable[BufferDecl]) -> dict[str, BufferDecl | None]:
    """Buffers by name; None where two declarations of one name disagree, so that uses stay silent."""
    table: dict[str, BufferDecl | None] = {}
    for buffer in buffers:
        table[buffer.name] = None if buffer.name in table else buffer
    return table


@dataclass(slots=True)
class Context:
    """The surroundings of a body: a program's entry, or with `op_id` the body of an op."""

    buffers: dict[str, BufferDecl | None]
    ops: Ops
    op_id: str | None = None
    variables: dict[str, Binding] = field(default_factory=dict[str, Binding])
    calls: dict[str, str] = field(default_factory=dict[str, str])
    """Ids of the known ops that are called, each with the path of its first call."""
    has_barrier: bool = False
