"""Faults of compilers in what is computed: integers, floats, atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions, statements
from vyre.ir.environment import Types
from vyre.ir.expr import (
    Atomic,
    BinOp,
    Cast,
    Expr,
    FMulAdd,
    InvocationId,
    LitU32,
    Select,
    Var,
)
from vyre.ir.node import Assign, Let, Node, Store
from vyre.ir.operators import AtomicOp, BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, transform
from vyre.ir.walk import statements as all_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program


def faults() -> Iterator[Fault]:
    yield from _integers()
    yield from _floats()
    yield from _atomics()


_SWAPS: Mapping[BinaryOp, BinaryOp] = {
    BinaryOp.Lt: BinaryOp.Le,
    BinaryOp.Ge: BinaryOp.Gt,
    BinaryOp.Add: BinaryOp.BitOr,
    BinaryOp.Sub: BinaryOp.BitXor,
    BinaryOp.Shr: BinaryOp.Shl,
    BinaryOp.BitAnd: BinaryOp.BitXor,
    BinaryOp.MulHi: BinaryOp.Mul,
    BinaryOp.Mod: BinaryOp.Div,
    BinaryOp.Div: BinaryOp.MulHi,
    BinaryOp.BitXor: BinaryOp.BitOr,
}


def _integers() -> Iterator[Fault]:
    """One operation is emitted as another, in values that are bound or stored: not in indices or bounds."""
    for op, other in _SWAPS.items():

        def swap(x: Expr, op: BinaryOp = op, other: BinaryOp = other) -> Expr:
            return BinOp(other, x.left, x.right) if isinstance(x, BinOp) and x.op is op else x

        yield program_fault(f"{op.value} as {other.value}", _in_values(swap), f"operator = {op.value}")
    yield program_fault(
        "choice exchanged",
        _in_values(lambda x: Select(x.condition, x.if_false, x.if_true) if isinstance(x, Select) else x),
        "operator = Select",
    )
    yield program_fault(
        "large literals one less",
        _in_values(lambda x: LitU32(x.value - 1) if isinstance(x, LitU32) and x.value > 0xFFFF else x),
    )


def _in_values(rule: Callable[[Expr], Expr]) -> Change:
    def one(n: Node) -> Sequence[Node]:
        match n:
            case Let(name=name, value=value):
                return [Let(name, transform(value, rule))]
            case Assign(name=name, value=value):
                return [Assign(name, transform(value, rule))]
            case Store(buffer=buffer, index=index, value=value):
                return [Store(buffer, index, transform(value, rule))]
            case _:
                return [n]

    return statements(one)


def _floats() -> Iterator[Fault]:
    def off(op: BinaryOp) -> Change:
        """Wrong in the last place at one result in four."""

        def change(program: Program) -> Program:
            types = Types.of(program.entry, program.buffers)

            def rule(x: Expr) -> Expr:
                if not isinstance(x, BinOp) or x.op is not op or types.type(x) is not DataType.F32:
                    return x
                if x.size > 2_000:  # what is below is wrong already, and each level repeats it
                    return x
                bits = Cast(DataType.U32, x)
                return Cast(DataType.F32, Select((bits & 3).eq(1), bits + 1, bits))

            return expressions(rule)(program)

        return change

    for op in (BinaryOp.FAdd, BinaryOp.FMul, BinaryOp.FSub, BinaryOp.FDiv):
        yield program_fault(f"{op.value} off in the last place", off(op), f"operator = {op.value}")
    yield program_fault("product and sum fused", _fused, "operator = FMul", "operator = FAdd")
    yield program_fault(
        "sums reassociated", expressions(_reassociated), "float chain >= 2", "operator = FAdd"
    )
    yield program_fault(
        "fused product taken apart",
        expressions(
            lambda x: (
                BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, x.a, x.b), x.c) if isinstance(x, FMulAdd) else x
            )
        ),
        "operator = FMulAdd",
    )
    yield program_fault(
        "comparison of floats not strict",
        expressions(
            lambda x: (
                BinOp(BinaryOp.FLe, x.left, x.right) if isinstance(x, BinOp) and x.op is BinaryOp.FLt else x
            )
        ),
        "operator = FLt",
    )


def _fused(program: Program) -> Program:
    """Products are seen through variables, as an optimiser sees them."""
    lets = {n.name: n.value for _, n in all_statements(program.entry) if isinstance(n, Let)}
    assigned = {n.name for _, n in all_statements(program.entry) if isinstance(n, Assign)}

    def product(x: Expr) -> BinOp | None:
        if isinstance(x, Var) and x.name in lets and x.name not in assigned:
            x = lets[x.name]
        return x if isinstance(x, BinOp) and x.op is BinaryOp.FMul and not _names(x) else None

    def rule(x: Expr) -> Expr:
        if not isinstance(x, BinOp) or x.op is not BinaryOp.FAdd:
            return x
        for one, two in ((x.left, x.right), (x.right, x.left)):
            found = one if isinstance(one, BinOp) and one.op is BinaryOp.FMul else product(one)
            if isinstance(found, BinOp):
                return FMulAdd(found.left, found.right, two)
        return x

    return expressions(rule)(program)


def _names(x: Expr) -> bool:
    """Whether variables stand in it, which may have changed since."""
    return any(isinstance(part, Var) for part in postorder(x))


def _reassociated(x: Expr) -> Expr:
    if (
        isinstance(x, BinOp)
        and x.op is BinaryOp.FAdd
        and isinstance(x.left, BinOp)
        and x.left.op is BinaryOp.FAdd
    ):
        return BinOp(BinaryOp.FAdd, x.left.left, BinOp(BinaryOp.FAdd, x.left.right, x.right))
    return x


def _atomics() -> Iterator[Fault]:
    def lost(x: Expr) -> Expr:
        if not isinstance(x, Atomic):
            return x
        index = Select((InvocationId(0) % 5).eq(3), LitU32(0xFFFF_FFFF), x.index)
        return Atomic(x.op, x.buffer, index, x.value, x.expected)

    def first_lost(x: Expr) -> Expr:
        if not isinstance(x, Atomic):
            return x
        here = InvocationId(0).eq(0).and_(InvocationId(1).eq(0)).and_(InvocationId(2).eq(0))
        return Atomic(x.op, x.buffer, Select(here, LitU32(0xFFFF_FFFF), x.index), x.value, x.expected)

    yield program_fault("atomics lost", expressions(lost), "atomic memory = storage")
    yield program_fault("first atomic lost", expressions(first_lost), "atomic memory = storage")
    yield program_fault("atomics of workgroup memory lost", _in_shared(lost), "atomic memory = workgroup")
    # What an atomic gives depends on the order, unless it has its location for itself.
    yield program_fault(
        "atomic gives the wrong value",
        expressions(lambda x: x ^ 1 if isinstance(x, Atomic) else x),
        "atomic memory = storage",
        "contention = 1",
    )
    swaps = {AtomicOp.Add: AtomicOp.Xor, AtomicOp.Min: AtomicOp.Max, AtomicOp.Or: AtomicOp.Add}
    for op, other in swaps.items():

        def swap(x: Expr, op: AtomicOp = op, other: AtomicOp = other) -> Expr:
            return Atomic(other, x.buffer, x.index, x.value) if isinstance(x, Atomic) and x.op is op else x

        yield program_fault(f"atomic {op.value} as {other.value}", expressions(swap), f"atomic = {op.value}")


def _in_shared(rule: Callable[[Expr], Expr]) -> Change:
    def change(program: Program) -> Program:
        shared = {b.name for b in program.buffers if b.access.shared}
        return expressions(lambda x: rule(x) if isinstance(x, Atomic) and x.buffer in shared else x)(program)

    return change
