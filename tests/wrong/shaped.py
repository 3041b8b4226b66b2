"""Backends that are wrong only in certain shapes: a fault, and the features of a dispatch that bring it out.

Shaped(add_one, turns=1_000)                          wrong where a loop takes 1,000 turns or more
Shaped(drop_barriers, workgroup_x=33, buffers=9)      only where both hold
Shaped(lose_the_last, element_type="F16")             only where there is such a buffer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.wrong.base import processor
from vyre.backends.protocol import BackendInfo
from vyre.conform.shapes.features import measure
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic, BinOp, BufLen, Expr, FMulAdd, FReduce, LitU32, Load, Select
from vyre.ir.node import Barrier, If, Loop, Store
from vyre.ir.operators import BinaryOp, ReduceOrder
from vyre.ir.program import Program
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.shapes.features import Level
    from vyre.ir.node import Node

    Change = Callable[[Program], Program]
    Spoil = Callable[[Program, Mapping[str, memoryview]], None]


MOST_TURNS = 1 << 20
"""Of an invocation of a faulty program, whose bounds may have become anything."""


class Shaped:
    """Right but where every condition holds; `fault` changes the program, `spoil` the memory after a run."""

    def __init__(
        self, fault: Change | None = None, *, spoil: Spoil | None = None, entrance: str = "", **when: Level
    ) -> None:
        self.inner: Any = processor()
        self.fault, self.spoil, self.entrance = fault, spoil, entrance
        self.when = {name.replace("_", " "): level for name, level in when.items()}
        self.name = "shaped"

    def describe(self) -> BackendInfo:
        return BackendInfo(
            self.name, "0", "a processor with a fault of shape", limits=self.inner.describe().limits
        )

    def compile(self, program: Program) -> Any:
        return _Executable(self, program)

    def allocate(self, nbytes: int) -> Any:
        return self.inner.allocate(nbytes)

    def borrow(self, data: memoryview) -> Any:
        return self.inner.borrow(data)

    def triggered(self, program: Program, buffers: Mapping[str, Any], grid: tuple[int, int, int]) -> bool:
        found = measure(program, buffers, grid)
        for name, level in self.when.items():
            value: Any = found[name]
            if not (level in value if isinstance(level, str) else max(value) >= level):
                return False
        return True


class _Executable:
    def __init__(self, owner: Shaped, program: Program) -> None:
        self.owner, self.program = owner, program
        self.right = owner.inner.compile(program)

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        owner = self.owner
        if owner.entrance or not owner.triggered(self.program, buffers, workgroups):
            self.right.run(buffers, workgroups)
            return
        if owner.fault is not None:
            owner.inner.compile(owner.fault(self.program)).run_limited(buffers, workgroups, MOST_TURNS)
            return
        self.right.run(buffers, workgroups)
        if owner.spoil is not None:
            owner.spoil(self.program, buffers)

    def run_limited(
        self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int], step_limit: int
    ) -> None:
        if self.owner.entrance == "run_limited" and self.owner.fault is not None:
            self.owner.inner.compile(self.owner.fault(self.program)).run(buffers, workgroups)
        else:
            self.run(buffers, workgroups)

    def bind(self, memories: Any, workgroups: tuple[int, int, int]) -> Callable[[], None]:
        bad = self.owner.entrance == "bind" and self.owner.fault is not None
        chosen = (
            self.owner.inner.compile(self.owner.fault(self.program))
            if bad and self.owner.fault
            else self.right
        )
        return chosen.bind(memories, workgroups)


def _changed(program: Program, expr: Callable[[Expr], Expr], node: Callable[[Node], Node | None]) -> Program:
    def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for one in nodes:
            parts = with_parts(
                one, tuple(transform(x, expr) for x in one.exprs), tuple(map(body, one.bodies))
            )
            kept = node(parts)
            if kept is not None:
                found.append(kept)
        return tuple(found)

    return Program(program.buffers, program.workgroup_size, body(program.entry))


def _same(value: Any) -> Any:
    return value


def wrong_operation(op: BinaryOp) -> Change:
    """One operator gives another's result."""
    other = {BinaryOp.FAdd: BinaryOp.FSub, BinaryOp.FMul: BinaryOp.FDiv}.get(op, BinaryOp.BitXor)

    def expr(x: Expr) -> Expr:
        return BinOp(other, x.left, x.right) if isinstance(x, BinOp) and x.op is op else x

    return lambda program: _changed(program, expr, _same)


def one_for_empty(program: Program) -> Program:
    """An empty buffer has an element."""

    def expr(x: Expr) -> Expr:
        return Select(x.eq(0), LitU32(1), x) if isinstance(x, BufLen) else x

    return _changed(program, expr, _same)


def contract(program: Program) -> Program:
    """A product and a sum become one operation."""

    def expr(x: Expr) -> Expr:
        if isinstance(x, FMulAdd):
            return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, x.a, x.b), x.c)
        return x

    return _changed(program, expr, _same)


def drop_barriers(program: Program) -> Program:
    return _changed(program, _same, lambda n: None if isinstance(n, Barrier) else n)


def lose_a_turn(program: Program) -> Program:
    """Every loop ends one turn early."""

    def node(n: Node) -> Node:
        return Loop(n.var, n.start + LitU32(1), n.stop, n.body) if isinstance(n, Loop) else n

    return _changed(program, _same, node)


def lose_the_other_side(program: Program) -> Program:
    return _changed(program, _same, lambda n: If(n.condition, n.then) if isinstance(n, If) else n)


def lose_atomics(program: Program) -> Program:
    """An atomic operation changes nothing."""

    def expr(x: Expr) -> Expr:
        return Load(x.buffer, x.index) if isinstance(x, Atomic) else x

    return _changed(program, expr, _same)


def reorder(program: Program) -> Program:
    """Reductions in the other order."""

    def expr(x: Expr) -> Expr:
        if not isinstance(x, FReduce):
            return x
        other = ReduceOrder.Strict if x.order is ReduceOrder.TreeBinary else ReduceOrder.TreeBinary
        return FReduce(other, x.op, x.buffer, x.start, x.stop)

    return _changed(program, expr, _same)


def shift_loads(buffer: str) -> Change:
    """Loads of one buffer give the neighbour."""

    def expr(x: Expr) -> Expr:
        return Load(x.buffer, x.index + LitU32(1)) if isinstance(x, Load) and x.buffer == buffer else x

    return lambda program: _changed(program, expr, _same)


def forget_stores(buffer: str) -> Change:
    def node(n: Node) -> Node | None:
        return None if isinstance(n, Store) and n.buffer == buffer else n

    return lambda program: _changed(program, _same, node)


def lose_the_last(program: Program, buffers: Mapping[str, memoryview]) -> None:
    """The last byte of every buffer that is written."""
    for decl in program.buffers:
        if decl.access is BufferAccess.ReadWrite and buffers[decl.name].nbytes:
            np.frombuffer(buffers[decl.name], np.uint8)[-1] ^= 1
