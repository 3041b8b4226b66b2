"""Faults of compilers in loops that are left, private memory, tables and narrow elements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions, statements, typed
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import BufLen, LitU32, Load, LocalId, Select
from vyre.ir.node import Assign, Break, If, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import NARROW_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.environment import Types
    from vyre.ir.expr import Expr

PRIVATE, TABLE, BREAK = "access = Private", "access = Constant", "break = divergent"


def faults() -> Iterator[Fault]:
    yield from _breaks()
    yield from _private()
    yield from _tables()
    yield from _narrow()


def _leaves(n: Node) -> bool:
    return isinstance(n, If) and any(isinstance(x, Break) for x in n.then)


def _breaks() -> Iterator[Fault]:
    def late(n: Node) -> list[Node]:
        if not isinstance(n, Loop):
            return [n]
        body = (*(x for x in n.body if not _leaves(x)), *(x for x in n.body if _leaves(x)))
        return [Loop(n.var, n.start, n.stop, body)]

    def odd(n: Node) -> list[Node]:
        return [If((LocalId(0) & 1).eq(0), (n,))] if isinstance(n, Break) else [n]

    def never_first(n: Node) -> list[Node]:
        """What is left at its first turn takes this turn."""
        if not isinstance(n, Loop):
            return [n]
        rest = tuple(x for x in n.body if not _leaves(x))
        if len(rest) == len(n.body):
            return [n]
        once = Select(n.stop > n.start, n.start + 1, n.stop)
        again = Select(n.stop > n.start, n.start + 1, n.start)
        return [Loop(n.var, n.start, once, rest), Loop(n.var, again, n.stop, n.body)]

    def kept(n: Node) -> list[Node]:
        """What was assigned in a loop that can be left is not written back."""
        if not isinstance(n, Loop) or not any(map(_leaves, n.body)):
            return [n]
        return [Loop(n.var, n.start, n.stop, tuple(x for x in n.body if not isinstance(x, Assign)))]

    yield program_fault("break after the turn", statements(late), BREAK)
    yield program_fault("break ignored in odd lanes", statements(odd), BREAK, "workgroup x >= 2")
    yield program_fault("break at the first turn ignored", statements(never_first), BREAK)
    yield program_fault("assignments of a loop that is left lost", statements(kept), BREAK)


def _of(program: Program, access: BufferAccess) -> dict[str, BufferDecl]:
    return {b.name: b for b in program.buffers if b.access is access}


def _loads(access: BufferAccess, change: Callable[[BufferDecl, Expr], Expr]) -> Change:
    def changed(program: Program) -> Program:
        found = _of(program, access)
        return expressions(
            lambda x: (
                Load(x.buffer, change(found[x.buffer], x.index))
                if isinstance(x, Load) and x.buffer in found
                else x
            )
        )(program)

    return changed


def _stores(access: BufferAccess, keep: Callable[[BufferDecl, Expr], Expr]) -> Change:
    def changed(program: Program) -> Program:
        found = _of(program, access)
        return statements(
            lambda n: (
                [If(keep(found[n.buffer], n.index), (n,))]
                if isinstance(n, Store) and n.buffer in found
                else [n]
            )
        )(program)

    return changed


def _private() -> Iterator[Fault]:
    own = BufferAccess.Private

    def shared(program: Program) -> Program:
        buffers = [
            replace(b, access=BufferAccess.Workgroup) if b.access is own else b for b in program.buffers
        ]
        return Program(buffers, program.workgroup_size, program.entry)

    def dirty(program: Program) -> Program:
        before: list[Node] = [
            Store(b.name, LitU32(k), LitU32(0xA5A5_0000 + k))
            for b in _of(program, own).values()
            for k in range(b.count)
        ]
        return Program(program.buffers, program.workgroup_size, (*before, *program.entry))

    yield program_fault("private memory shared by a workgroup", shared, PRIVATE, "workgroup x >= 2")
    yield program_fault("private memory not cleared", dirty, PRIVATE, "private bytes >= 8")
    yield program_fault(
        "last element of private memory lost", _stores(own, lambda b, i: i.ne(b.count - 1)), PRIVATE
    )
    yield program_fault(
        "private memory reads an element on", _loads(own, lambda b, i: i ^ 1), PRIVATE, "private bytes >= 8"
    )
    yield program_fault("private memory wraps around", _loads(own, lambda b, i: i % LitU32(b.count)), PRIVATE)


def _tables() -> Iterator[Fault]:
    table = BufferAccess.Constant
    last, past = LitU32(0xFFFF_FFFF), "table bytes >= 8"
    yield program_fault(
        "last element of a table is zero",
        _loads(table, lambda b, i: Select(i.eq(b.count - 1), last, i)),
        TABLE,
    )
    yield program_fault(
        "table reads the element before", _loads(table, lambda b, i: Select(i > 0, i - 1, i)), TABLE, past
    )
    yield program_fault("table of its first element", _loads(table, lambda b, i: LitU32(0)), TABLE, past)
    yield program_fault(
        "table at places of 8 bits", _loads(table, lambda b, i: i & 0xFF), TABLE, "table bytes >= 1028"
    )
    yield program_fault("table one element short", _short, TABLE)


def _short(program: Program) -> Program:
    found = _of(program, BufferAccess.Constant)
    return expressions(lambda x: x - 1 if isinstance(x, BufLen) and x.buffer in found else x)(program)


def _narrow() -> Iterator[Fault]:
    def of(*kinds: DataType) -> Callable[[Program], set[str]]:
        return lambda program: {b.name for b in program.buffers if b.element in kinds}

    def neighbour(program: Program) -> Program:
        names = of(*NARROW_TYPES)(program)
        return expressions(
            lambda x: Load(x.buffer, x.index ^ 1) if isinstance(x, Load) and x.buffer in names else x
        )(program)

    def half(types: Types, n: Node) -> list[Node]:
        if not isinstance(n, Store) or types.element(n.buffer) not in NARROW_TYPES:
            return [n]
        return [If((n.index & 3).ne(3), (n,))]

    def saturated(types: Types, n: Node) -> list[Node]:
        if not isinstance(n, Store) or types.type(n.value) is not DataType.U32:
            return [n]
        kind = types.element(n.buffer)
        if kind not in (DataType.U8, DataType.U16):
            return [n]
        most = LitU32((1 << kind.bits) - 1)
        return [Store(n.buffer, n.index, Select(n.value > most, most, n.value))]

    for kind in sorted(NARROW_TYPES, key=lambda t: t.value):
        need = f"element type = {kind.value}"
        yield program_fault(f"load of {kind.value} gives its neighbour", neighbour, need)
        yield program_fault(f"every fourth store of {kind.value} lost", typed(half), need)
    for kind in (DataType.U8, DataType.U16):
        yield program_fault(
            f"store of {kind.value} saturates", typed(saturated), f"element type = {kind.value}"
        )
