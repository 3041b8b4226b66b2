"""The scalars of a kernel: its own, and numbers that the host settles at each call.

They travel in one uniform buffer per type, in the order of the parameters; dimensions and counts of the
grid follow in `params_u32`, each where the kernel reads it, in the order of their first use.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from vyre.frontend.retyping import type_name
from vyre.frontend.scope import Local
from vyre.frontend.signature import Parameter
from vyre.frontend.values import Const, Value
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Load
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.frontend.scope import Scope

DIMENSION = "dimension "
WORKGROUPS = "workgroups "
"""How the numbers of the host are named: no parameter can have a name with a space."""


class Scalars:
    """Where each scalar lies, and what reads it."""

    def __init__(
        self, found: Sequence[Parameter], scope: Scope, workgroup_size: tuple[int, int, int]
    ) -> None:
        self.grid = 0
        """How many coordinates vyre.grid is asked for; 0 where it is not called."""
        self.beyond_x = False
        """Whether an id along y or z is read."""
        self._scope = scope
        self._size = workgroup_size
        self._names: dict[DataType, str] = {}
        self._packed: dict[str, list[Parameter]] = {}
        self._of_host: dict[str, Value] = {}
        for p in found:
            if p.role is None:
                scope.declare(p.name, Local("scalar", self._place(p)))

    @property
    def asks_host(self) -> bool:
        """Whether the host has to settle a number at each call."""
        return bool(self._of_host)

    def dimension(self, dimension: int | str) -> Value | Const:
        """A dimension of a shape: a number that is known now, or one that the host gives."""
        return Const(dimension) if isinstance(dimension, int) else self._host(DIMENSION + dimension)

    def workgroups(self, axis: int) -> Value:
        """How many workgroups run along an axis."""
        return self._host(f"{WORKGROUPS}{axis}")

    def invocations(self, axis: int) -> Value:
        """How many invocations run along an axis; the host refuses a grid in which they are 2^32."""
        return Value(self.workgroups(axis).expr * self._size[axis], DataType.U32)

    def packed(self) -> Mapping[str, tuple[Parameter, ...]]:
        """By uniform buffer: the scalars that it holds, in order."""
        return {name: tuple(scalars) for name, scalars in self._packed.items()}

    def declarations(self, binding: int) -> list[BufferDecl]:
        """The uniform buffers, bound from `binding` on; complete when the body has been translated."""
        return [
            BufferDecl.uniform(name, binding + i, scalars[0].element, count=len(scalars))
            for i, (name, scalars) in enumerate(self._packed.items())
        ]

    def _host(self, name: str) -> Value:
        if name not in self._of_host:
            self._of_host[name] = self._place(Parameter(name, None, DataType.U32, 0, ast.arg(name)))
        return self._of_host[name]

    def _place(self, p: Parameter) -> Value:
        if p.element not in self._names:
            self._names[p.element] = self._scope.fresh(f"params_{type_name(p.element)}")
        name = self._names[p.element]
        scalars = self._packed.setdefault(name, [])
        scalars.append(p)
        return Value(Load(name, LitU32(len(scalars) - 1)), p.element)
