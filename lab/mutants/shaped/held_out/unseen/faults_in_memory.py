"""Faults of compilers around memory: element types, places, lanes that lose stores, ids, atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions, statements
from vyre.ir.expr import (
    Atomic,
    BufLen,
    Expr,
    InvocationId,
    LitU32,
    Load,
    LocalId,
    Select,
    WorkgroupId,
    select,
)
from vyre.ir.node import Barrier, If, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions as all_expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault

NOWHERE = LitU32(0xFFFF_FFFF)
TYPES = (
    DataType.F16, DataType.BF16, DataType.F32, DataType.F64, DataType.I32, DataType.U32, DataType.I64,
    DataType.U64, DataType.U128, DataType.Vec2U32, DataType.Vec4U32, DataType.Bool, DataType.Bytes,
)  # fmt: skip


def faults() -> Iterator[Fault]:
    yield from _types()
    yield from _loads()
    yield from _lanes()
    yield from _ids()
    yield from _shared()
    yield from _atomics()


def _kept(where: Callable[[Program, Store], Expr]) -> Change:
    """Stores to bound memory, where this is true."""

    def change(program: Program) -> Program:
        bound = {b.name for b in program.buffers if b.access.bound}

        def rule(n: Node) -> list[Node]:
            return [If(where(program, n), (n,))] if isinstance(n, Store) and n.buffer in bound else [n]

        return statements(rule)(program)

    return change


def _indices(change: Callable[[str, Expr], Expr], of: Callable[[Program], set[str]]) -> Change:
    def changed(program: Program) -> Program:
        names = of(program)
        return expressions(
            lambda x: (
                Load(x.buffer, change(x.buffer, x.index)) if isinstance(x, Load) and x.buffer in names else x
            )
        )(program)

    return changed


def _accessed(*names: str) -> Callable[[Program], set[str]]:
    return lambda program: {b.name for b in program.buffers if b.access.value in names}


def _types() -> Iterator[Fault]:
    for kind in TYPES:

        def of(program: Program, kind: DataType = kind) -> set[str]:
            return {b.name for b in program.buffers if b.element is kind}

        def even(program: Program, n: Store, of: Callable[[Program], set[str]] = of) -> Expr:
            return (n.index & 1).eq(0) if n.buffer in of(program) else LitU32(1)

        need = f"element type = {kind.value}"
        yield program_fault(
            f"odd elements of {kind.value} read as the ones before",
            _indices(lambda b, i: i & ~LitU32(1), of),
            need,
        )
        yield program_fault(f"odd stores of {kind.value} lost", _kept(even), need)


def _loads() -> Iterator[Fault]:
    storage = _accessed("ReadOnly", "ReadWrite")
    yield program_fault(
        "loads past the end give the first",
        _indices(lambda b, i: Select(i >= BufLen(b), LitU32(0), i), storage),
    )
    yield program_fault(
        "first element of a load of 4 repeated", _indices(lambda b, i: i & ~LitU32(3), _accessed("ReadOnly"))
    )
    yield program_fault(
        "loads past place 4,095 start anew",
        _indices(lambda b, i: i & 4095, storage),
        "buffer elements >= 4097",
    )
    yield program_fault(
        "uniform read at places of 4 bits",
        _indices(lambda b, i: i & 15, _accessed("Uniform")),
        "uniform bytes >= 68",
    )
    yield program_fault(
        "uniform read backwards",
        _indices(lambda b, i: BufLen(b) - 1 - i, _accessed("Uniform")),
        "uniform bytes >= 8",
    )
    yield program_fault(
        "private memory at places of 3 bits",
        _indices(lambda b, i: i & 7, _accessed("Private")),
        "private bytes >= 36",
    )
    yield program_fault(
        "table at places of 5 bits",
        _indices(lambda b, i: i & 31, _accessed("Constant")),
        "table bytes >= 132",
    )
    yield program_fault(
        "length rounded up to 4",
        expressions(lambda x: (x + 3) & ~LitU32(3) if isinstance(x, BufLen) else x),
    )
    yield program_fault(
        "length in 16 bits",
        expressions(lambda x: x & 0xFFFF if isinstance(x, BufLen) else x),
        "buffer elements >= 65536",
    )
    for number in (5, 12, 24):
        yield program_fault(f"load {number} one place off", _load(number), f"loads >= {number}")


def _load(number: int) -> Change:
    """One load by its number among the different ones, in program order."""

    def change(program: Program) -> Program:
        found = [x for x in all_expressions(program.entry) if isinstance(x, Load)]
        if len(found) < number:
            return program
        chosen = found[number - 1]
        return expressions(lambda x: Load(chosen.buffer, chosen.index ^ 1) if x is chosen else x)(program)

    return change


def _linear(program: Program) -> Expr:
    x, y, _ = program.workgroup_size
    return LocalId(0) + (LocalId(1) + LocalId(2) * y) * x


def _lanes() -> Iterator[Fault]:
    size = "workgroup size"
    for wave in (32, 64, 256):
        yield program_fault(
            f"stores past invocation {wave - 1} of a workgroup lost",
            _kept(lambda p, n, wave=wave: _linear(p) < wave),
            f"{size} >= {wave + 1}",
        )

    def whole_wave(program: Program, n: Store) -> Expr:
        x, y, z = program.workgroup_size
        return _linear(program) < (x * y * z & ~31)

    yield program_fault("stores of a wave that is not full lost", _kept(whole_wave))
    yield program_fault(
        "stores of the last row lost",
        _kept(lambda p, n: LocalId(1).ne(p.workgroup_size[1] - 1)),
        "workgroup y >= 2",
    )
    yield program_fault(
        "stores of the last layer lost",
        _kept(lambda p, n: LocalId(2).ne(p.workgroup_size[2] - 1)),
        "workgroup z >= 2",
    )
    yield program_fault("stores of invocation 0 lost", _kept(lambda p, n: _linear(p).ne(0)))
    yield program_fault("stores of the first workgroup lost", _kept(lambda p, n: WorkgroupId(0).ne(0)))
    for many in (16, 128, 1_024):
        yield program_fault(
            f"stores past workgroup {many:,} of x lost",
            _kept(lambda p, n, many=many: WorkgroupId(0) < many),
            f"grid x >= {many + 1}",
        )
    yield program_fault(
        "stores of odd rows of workgroups lost",
        _kept(lambda p, n: (WorkgroupId(1) & 1).eq(0)),
        "grid y >= 2",
    )
    yield program_fault(
        "stores of odd layers of workgroups lost",
        _kept(lambda p, n: (WorkgroupId(2) & 1).eq(0)),
        "grid z >= 2",
    )


def _ids() -> Iterator[Fault]:
    def ids(rule: Callable[[Program, Expr], Expr]) -> Change:
        kinds = InvocationId | WorkgroupId | LocalId
        return lambda p: expressions(lambda x: rule(p, x) if isinstance(x, kinds) else x)(p)

    for axis, name in enumerate("xyz"):
        here, group, local = InvocationId(axis), WorkgroupId(axis), LocalId(axis)

        def padded(p: Program, x: Expr, axis: int = axis, here: Expr = here) -> Expr:
            """Counted as if a workgroup had as many as the next power of two."""
            width = 1 << (p.workgroup_size[axis] - 1).bit_length()
            return WorkgroupId(axis) * width + LocalId(axis) if x is here else x

        yield program_fault(
            f"InvocationId {name} counted in powers of two",
            ids(padded),
            f"grid {name} >= 2",
            f"workgroup {name} >= 3",
        )
        yield program_fault(
            f"WorkgroupId {name} is 0",
            ids(lambda p, x, group=group: LitU32(0) if x is group else x),
            f"grid {name} >= 2",
        )
        for bits in (2, 5):
            yield program_fault(
                f"LocalId {name} in {bits} bits",
                ids(lambda p, x, local=local, bits=bits: x & ((1 << bits) - 1) if x is local else x),
                f"workgroup {name} >= {(1 << bits) + 1}",
            )
    yield program_fault(
        "InvocationId x turned within 32",
        ids(lambda p, x: x ^ 31 if x is InvocationId(0) else x),
    )


def _shared() -> Iterator[Fault]:
    shared = _accessed("Workgroup", "WorkgroupAtomic")

    def dirty(program: Program) -> Program:
        """The first words of workgroup memory hold what another left there."""
        found = [b for b in program.buffers if b.access.shared and b.element is DataType.U32]
        first = _linear(program).eq(0)
        left = [Store(b.name, LitU32(k), LitU32(0x5A5A_0001)) for b in found for k in range(min(4, b.count))]
        before = (If(first, left), Barrier()) if left else ()
        return Program(program.buffers, program.workgroup_size, (*before, *program.entry))

    yield program_fault("workgroup memory not cleared", dirty, "access = Workgroup")
    for bits, need in ((6, 260), (8, 1_028), (10, 4_100), (11, 8_196)):
        yield program_fault(
            f"workgroup memory read at places of {bits} bits",
            _indices(lambda b, i, mask=(1 << bits) - 1: i & mask, shared),
            f"workgroup bytes >= {need}",
        )
    yield program_fault(
        "last element of workgroup memory read as the first",
        _indices(lambda b, i: Select((i + 1).eq(BufLen(b)), LitU32(0), i), shared),
        "access = Workgroup",
    )


def _atomics() -> Iterator[Fault]:
    def atomic(change: Callable[[Atomic], Expr]) -> Change:
        return expressions(lambda x: change(x) if isinstance(x, Atomic) else x)

    def only(keep: Callable[[Expr], Expr]) -> Change:
        """Those of which this is true of their place; the others go nowhere."""
        return atomic(
            lambda x: Atomic(x.op, x.buffer, Select(keep(x.index), x.index, NOWHERE), x.value, x.expected)
        )

    here, storage = InvocationId(0), "atomic memory = storage"
    yield program_fault(
        "atomics of odd lanes lost", only(lambda i: (LocalId(0) & 1).eq(0)), "workgroup x >= 2"
    )
    yield program_fault(
        "every 64th atomic lost", only(lambda i: (here & 63).ne(63)), storage, "invocations >= 64"
    )
    yield program_fault("atomics at place 0 lost", only(lambda i: i.ne(0)), storage)
    yield program_fault(
        "atomics of later workgroups lost", only(lambda i: WorkgroupId(0).eq(0)), storage, "grid x >= 2"
    )
    yield program_fault(
        "atomics of later rows lost", only(lambda i: LocalId(1).eq(0)), storage, "workgroup y >= 2"
    )
    yield program_fault(
        "atomic sum of the first lane twice",
        atomic(
            lambda x: (
                Atomic(x.op, x.buffer, x.index, x.value << select(LocalId(0).eq(0), 1, 0))
                if x.op is AtomicOp.Add
                else x
            )
        ),
        "atomic = Add",
    )
    yield program_fault(
        "compare-exchange of every eighth fails",
        atomic(
            lambda x: (
                Atomic(x.op, x.buffer, x.index, x.value, x.expected ^ select((here & 7).eq(5), 1, 0))
                if x.expected is not None
                else x
            )
        ),
        "atomic = CompareExchange",
        "invocations >= 6",
    )
    for op, other in (
        (AtomicOp.Max, AtomicOp.Min),
        (AtomicOp.And, AtomicOp.Xor),
        (AtomicOp.Xor, AtomicOp.Add),
        (AtomicOp.Exchange, AtomicOp.Add),
    ):
        yield program_fault(
            f"atomic {op.value} done as {other.value}",
            atomic(
                lambda x, op=op, other=other: Atomic(other, x.buffer, x.index, x.value) if x.op is op else x
            ),
            f"atomic = {op.value}",
        )
