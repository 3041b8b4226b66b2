"""A backend in NumPy: every invocation is a lane of an array. It knows U32 and straight lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import (
    BackendInfo,
    BinaryOp,
    BinOp,
    DataType,
    Expr,
    InvocationId,
    Let,
    LitU32,
    Load,
    Program,
    Store,
    UnsupportedByBackend,
    Var,
)
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from collections.abc import Mapping

OPERATORS = {
    BinaryOp.Add: np.add,
    BinaryOp.Sub: np.subtract,
    BinaryOp.Mul: np.multiply,
    BinaryOp.BitXor: np.bitwise_xor,
    BinaryOp.Shr: lambda a, b: a >> (b & 31),
}


def known(expr: Expr) -> bool:
    match expr:
        case LitU32() | InvocationId(axis=0) | Var() | Load():
            return True
        case BinOp(op=op):
            return op in OPERATORS
        case _:
            return False


class Lines:
    """A compiled program: its statements, run once over all invocations."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        count = workgroups[0] * self.program.workgroup_size[0]
        arrays = {name: np.frombuffer(view, np.uint32) for name, view in buffers.items()}
        names: dict[str, Any] = {}
        for node in self.program.entry:
            if isinstance(node, Let):
                names[node.name] = self.value(node.value, names, arrays, count)
            elif isinstance(node, Store):
                index = self.value(node.index, names, arrays, count)
                value = self.value(node.value, names, arrays, count)
                inside = index < arrays[node.buffer].size
                arrays[node.buffer][index[inside]] = value[inside]

    def value(self, root: Any, names: dict[str, Any], arrays: dict[str, Any], count: int) -> Any:
        done: dict[Any, Any] = {}
        for expr in postorder(root):
            parts = [done[child] for child in expr.children]
            match expr:
                case LitU32(value=value):
                    done[expr] = np.full(count, value, np.uint32)
                case InvocationId(axis=0):
                    done[expr] = np.arange(count, dtype=np.uint32)
                case Var(name=name):
                    done[expr] = names[name]
                case Load(buffer=buffer):
                    padded = np.append(arrays[buffer], np.uint32(0))
                    done[expr] = padded[np.minimum(parts[0], arrays[buffer].size)]
                case BinOp(op=op):
                    done[expr] = OPERATORS[op](*parts)
        return done[root]


class AcmeBackend:
    name = "acme"

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="1.2.3", device="NumPy lanes", toolchain=np.__version__)

    def compile(self, program: Program) -> Lines:
        for buffer in program.buffers:
            if buffer.element is not DataType.U32 or not buffer.access.bound:
                raise UnsupportedByBackend(f"{buffer.access.value} {buffer.element.value}", self.name)
        if program.workgroup_size[1:] != (1, 1):
            raise UnsupportedByBackend("a workgroup of more than one axis", self.name)
        for node in program.entry:
            if not isinstance(node, Let | Store):
                raise UnsupportedByBackend(type(node).__name__, self.name)
            for root in node.exprs:
                for expr in postorder(root):
                    if not known(expr):
                        raise UnsupportedByBackend(str(getattr(expr, "op", expr)), self.name)
        return Lines(program)
