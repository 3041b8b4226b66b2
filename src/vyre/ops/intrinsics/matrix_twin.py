"""What the matrix instructions compute, from other ops: statements over workgroup memory, for every backend.

    buffers, entry = f64_twin(16, operands, ("r0", "r1", "r2", "r3"), invocations=64, local=LocalId(0))

Lanes put their elements of `a` and `b` into memory, wait, and add the products of their own elements of `c`.
Barriers stand before and after, so the statements stand where a call of the instruction may stand:
in uniform control flow, in workgroups of a multiple of 32 invocations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Cast, Expr, FMulAdd, Lane, LitU32, MakeVec, Var
from vyre.ir.node import Assign, Barrier, Let, Loop, Node, Store
from vyre.ir.types import DataType
from vyre.ops.intrinsics.matrix import ELEMENTS, LANES

if TYPE_CHECKING:
    from collections.abc import Sequence

T = DataType
ROWS, COLUMNS = 16, 8
Twin = tuple[tuple[BufferDecl, ...], tuple[Node, ...]]


def f64_twin(
    depth: int, operands: Sequence[Expr], results: Sequence[str], *, invocations: int, local: Expr
) -> Twin:
    """The statements that bind the four elements of a result of `mma_f64` to these names.

    `operands` are those of the instruction that reaches `depth` along k, `local` the linear local index.
    """
    a, b, c = operands[: depth // 2], operands[depth // 2 : depth // 2 + depth // 4], operands[-ELEMENTS:]
    memory = _Memory(T.F64, depth, invocations, local, results[0])
    entry = memory.dealt(a, b)
    for i, (name, start) in enumerate(zip(results, c, strict=True)):
        k = Var(f"{name}_k")
        step = FMulAdd(memory.left(i, k), memory.right(i, k), Var(name))
        entry += [Let(name, start), Loop(k.name, LitU32(0), LitU32(depth), (Assign(name, step),))]
    return memory.buffers, (*entry, Barrier())


def s8_twin(operands: Sequence[Expr], result: str, *, invocations: int, local: Expr) -> Twin:
    """The statements that bind the result of `mma_s8` to this name."""
    a, b, c = operands
    depth = 8  # words along k
    memory = _Memory(T.U32, depth, invocations, local, result)
    entry = memory.dealt([Lane(a, i) for i in range(4)], [Lane(b, i) for i in range(2)])
    names = [f"{result}_{i}" for i in range(ELEMENTS)]
    for i, name in enumerate(names):
        k = Var(f"{name}_k")
        dot = Cast(T.U32, Call("bytes.dot4_i8", (memory.left(i, k), memory.right(i, k))))
        added = Assign(name, Var(name) + dot)
        entry += [Let(name, Lane(c, i)), Loop(k.name, LitU32(0), LitU32(depth), (added,))]
    entry.append(Let(result, MakeVec(T.Vec4U32, [Var(name) for name in names])))
    return memory.buffers, (*entry, Barrier())


class _Memory:
    """The matrices of every subgroup in workgroup memory, `depth` elements along k."""

    def __init__(self, element: DataType, depth: int, invocations: int, local: Expr, name: str) -> None:
        warps = invocations // LANES
        self._depth, self._name = depth, name
        self._left = BufferDecl.workgroup(f"{name}_a", element, warps * ROWS * depth)
        self._right = BufferDecl.workgroup(f"{name}_b", element, warps * COLUMNS * depth)
        self.buffers = (self._left, self._right)
        lane = local % LANES
        self._places = {"w": local // LANES, "g": lane // 4, "t": lane % 4}

    def _at(self, which: str) -> Var:
        return Var(f"{self._name}_{which}")

    def dealt(self, a: Sequence[Expr], b: Sequence[Expr]) -> list[Node]:
        """Every lane's elements of `a` and `b`, put where all find them."""
        g, t = self._at("g"), self._at("t")
        entry: list[Node] = [Let(self._at(which).name, value) for which, value in self._places.items()]
        entry.append(Barrier())
        for i, value in enumerate(a):
            entry.append(self._stored(self._left, ROWS, g + 8 * (i % 2), t + 4 * (i // 2), value))
        for i, value in enumerate(b):
            entry.append(self._stored(self._right, COLUMNS, g, t + 4 * i, value))
        entry.append(Barrier())
        return entry

    def _stored(self, buffer: BufferDecl, outer: int, row: Expr, k: Expr, value: Expr) -> Node:
        return Store(buffer.name, self._index(outer, row, k), value)

    def _index(self, outer: int, row: Expr, k: Expr) -> Expr:
        return (self._at("w") * outer + row) * self._depth + k

    def left(self, i: int, k: Expr) -> Expr:
        return self._left[self._index(ROWS, self._at("g") + 8 * (i // 2), k)]

    def right(self, i: int, k: Expr) -> Expr:
        return self._right[self._index(COLUMNS, self._at("t") * 2 + i % 2, k)]
