"""Faults of compilers in places: of tables, of memory of workgroups and invocations, and of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import BufLen, InvocationId, LitU32, Load, LocalId, WorkgroupId
from vyre.ir.node import Barrier, If, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.expr import Expr

_SHARED = (BufferAccess.Workgroup, BufferAccess.WorkgroupAtomic)


def faults() -> Iterator[Fault]:
    yield from _memories()
    yield from _ids()


def _loads(change: Callable[[BufferDecl, Expr], Expr], *accesses: BufferAccess) -> Change:
    """Loads from such buffers, at another place."""

    def changed(program: Program) -> Program:
        found = {b.name: b for b in program.buffers if b.access in accesses}
        rule = expressions(
            lambda x: (
                Load(x.buffer, change(found[x.buffer], x.index))
                if isinstance(x, Load) and x.buffer in found
                else x
            )
        )
        return rule(program)

    return changed


def _memories() -> Iterator[Fault]:
    table, own, uniform = BufferAccess.Constant, BufferAccess.Private, BufferAccess.Uniform
    yield program_fault(
        "table turned by an element",
        _loads(lambda b, i: (i + 1) % LitU32(b.count), table),
        "access = Constant",
        "table bytes >= 8",
    )
    yield program_fault(
        "workgroup memory past its middle is its start",
        _loads(lambda b, i: i % LitU32(max(1, b.count // 2)), *_SHARED),
        "access = Workgroup",
        "workgroup bytes >= 8",
    )
    yield program_fault("workgroup memory of the workgroup before", _left, "access = Workgroup", "grid >= 2")
    yield program_fault(
        "private memory of odd lanes that of even ones",
        _loads(lambda b, i: i & ~LitU32(1), own),
        "access = Private",
        "private bytes >= 8",
    )
    yield program_fault(
        "uniform of four words a word",
        _loads(lambda b, i: i // 4, uniform),
        "access = Uniform",
        "uniform bytes >= 8",
    )
    yield program_fault("length of an input counts bytes", _bytes)


def _left(program: Program) -> Program:
    """All workgroups but the first find the last words of workgroup memory filled."""
    found = [b for b in program.buffers if b.access in _SHARED and b.element is DataType.U32]
    local = LocalId(0) + LocalId(1) + LocalId(2)
    group = WorkgroupId(0) + WorkgroupId(1) + WorkgroupId(2)
    stores = [Store(b.name, LitU32(b.count - 1), LitU32(0x7B)) for b in found if b.count]
    before = (If(local.eq(0) & group.ne(0), stores), Barrier()) if stores else ()
    return Program(program.buffers, program.workgroup_size, (*before, *program.entry))


def _bytes(program: Program) -> Program:
    read = {b.name: b.element.stride for b in program.buffers if b.access is BufferAccess.ReadOnly}
    rule = expressions(lambda x: x * read[x.buffer] if isinstance(x, BufLen) and x.buffer in read else x)
    return rule(program)


def _ids() -> Iterator[Fault]:
    def sized(change: Callable[[Program, Expr], Expr]) -> Change:
        return lambda program: expressions(lambda x: change(program, x))(program)

    def from_the_end(program: Program, x: Expr) -> Expr:
        match x:
            case LocalId(axis=axis) if axis:
                return LitU32(program.workgroup_size[axis] - 1) - x
            case _:
                return x

    def from_the_last(program: Program, x: Expr) -> Expr:
        return x ^ 1 if isinstance(x, WorkgroupId) and x.axis else x

    def flat(program: Program, x: Expr) -> Expr:
        return LitU32(0) if isinstance(x, InvocationId) and x.axis == 2 else x

    yield program_fault("ids of a row counted from its end", sized(from_the_end))
    yield program_fault("workgroups numbered from the last", sized(from_the_last), "grid >= 2")
    yield program_fault("linear id of two axes alone", sized(flat))
