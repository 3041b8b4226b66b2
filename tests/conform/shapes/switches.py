"""A program with every fault of one statement in it, of which a word in a buffer switches on one.

    switched = Switched.of(program)
    switched.faults[3].name             "loop k: one turn more"
    switched.program                    with one more buffer, whose only word is the number of a fault, or 0

One program is compiled and run once for each fault, which is faster by far than a program for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, LitU32, Load, Select, Var
from vyre.ir.node import Assign, If, Let, Loop, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

WHICH = "which"
_NOW = Var("switch")
_NOWHERE = 0xFFFF_FFFF


class Fault(NamedTuple):
    """What is wrong, and the loops around it."""

    name: str
    loops: tuple[str, ...]


class Switched:
    """`faults` are numbered as they are switched on; the first stands for none."""

    def __init__(self) -> None:
        self.faults = [Fault("none", ())]
        self._loops: tuple[str, ...] = ()

    @classmethod
    def of(cls, program: Program) -> tuple[Program, list[Fault]]:
        made = cls()
        bound = sum(b.binding is not None for b in program.buffers)
        entry = (Let(_NOW.name, Load(WHICH, LitU32(0))), *made._body(program.entry))
        which = BufferDecl.read(WHICH, bound, DataType.U32)
        return Program((*program.buffers, which), program.workgroup_size, entry), made.faults

    def _on(self, name: str, right: Expr, wrong: Expr) -> Expr:
        """The right value, or the wrong one where a new fault of this name is switched on."""
        self.faults.append(Fault(name, self._loops))
        return Select(_NOW.eq(len(self.faults) - 1), wrong, right)

    def _body(self, nodes: Sequence[Node]) -> list[Node]:
        return [self._node(node) for node in nodes]

    def _node(self, node: Node) -> Node:
        before = self._loops
        if isinstance(node, Loop):
            self._loops = (*before, node.var)
        node = with_parts(node, node.exprs, tuple(tuple(self._body(b)) for b in node.bodies))
        match node:
            case If(condition=condition, then=then, orelse=orelse):
                name = f"if {condition!r:.60}"
                value = self._on(f"{name}: always", condition, LitU32(1))
                node = If(self._on(f"{name}: never", value, LitU32(0)), then, orelse)
            case Loop(var=var, start=start, stop=stop, body=body):
                more = self._on(f"loop {var}: one turn more", stop, stop + 1)
                fewer = self._on(f"loop {var}: one turn fewer", more, Select(stop > start, stop - 1, stop))
                node = Loop(var, start, fewer, body)
            case Assign(name=name, value=value):
                node = Assign(name, self._on(f"{name} = {value!r:.60}: lost", value, Var(name)))
            case Let(name=name, value=Atomic() as old):
                lost = self._on(f"atomic {name}: lost", old.index, LitU32(_NOWHERE))
                found = Atomic(old.op, old.buffer, lost, old.value, old.expected)
                node = Let(name, found ^ self._on(f"atomic {name}: gives another", LitU32(0), LitU32(1)))
            case Store(buffer=buffer, index=index, value=value):
                node = Store(buffer, self._on(f"store to {buffer}: lost", index, LitU32(_NOWHERE)), value)
            case _:
                pass
        self._loops = before
        return node
