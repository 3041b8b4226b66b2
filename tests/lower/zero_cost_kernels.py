"""Kernels for the comparison of composed and handwritten programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import BufferDecl, DataType, Expr, InvocationId, Let, Load, Program, Store, Var

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir import Node


class Kernel:
    """Inputs loaded into variables, one result stored; the body is either calls or written by hand."""

    def __init__(self, types: Sequence[DataType], output: DataType) -> None:
        self.inputs = [Var(f"x{i}") for i in range(len(types))]
        self._buffers = [BufferDecl.read(f"in{i}", i, t) for i, t in enumerate(types)]
        self._out = BufferDecl.read_write("out", len(types), output)

    def program(self, value: Expr, statements: Sequence[Node] = ()) -> Program:
        i = InvocationId(0)
        loads = [Let(v.name, Load(b.name, i)) for v, b in zip(self.inputs, self._buffers, strict=True)]
        store = Store("out", i, value)
        return Program([*self._buffers, self._out], (64, 1, 1), [*loads, *statements, store])
