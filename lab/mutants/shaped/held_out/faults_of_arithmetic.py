"""Faults of compilers in what is computed: corners of integers, floats kept or folded wrongly, atomics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions
from vyre.ir.environment import Types
from vyre.ir.expr import (
    Atomic,
    BinOp,
    Cast,
    Convert,
    Expr,
    FMulAdd,
    FReduce,
    Literal,
    LitU32,
    LocalId,
    Select,
    UnOp,
    Var,
    f32,
)
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import statements as all_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Binary = Callable[[BinOp], Expr]
    Unary = Callable[[UnOp], Expr]


def faults() -> Iterator[Fault]:
    yield from _integers()
    yield from _floats()
    yield from _chains()
    yield from _atomics()


def _binary(op: BinaryOp, rule: Binary) -> Change:
    return expressions(lambda x: rule(x) if isinstance(x, BinOp) and x.op is op else x)


def _unary(op: UnaryOp, rule: Unary) -> Change:
    return expressions(lambda x: rule(x) if isinstance(x, UnOp) and x.op is op else x)


def _zero(x: BinOp, otherwise: Expr) -> Expr:
    return Select(x.right.eq(0), otherwise, x)


def _signed(x: BinOp) -> Expr:
    top = LitU32(0x8000_0000)
    return BinOp(x.op, x.left ^ top, x.right ^ top)


def _integers() -> Iterator[Fault]:
    ones = LitU32(0xFFFF_FFFF)
    binary: tuple[tuple[str, BinaryOp, Binary], ...] = (
        ("division by 0 gives all ones", BinaryOp.Div, lambda x: _zero(x, ones)),
        ("remainder by 0 gives the dividend", BinaryOp.Mod, lambda x: _zero(x, x.left)),
        ("left shift past 31 gives 0", BinaryOp.Shl, lambda x: Select(x.right > 31, LitU32(0), x)),
        ("right shift past 31 gives 0", BinaryOp.Shr, lambda x: Select(x.right > 31, LitU32(0), x)),
        ("right shift keeps the sign", BinaryOp.Shr,
         lambda x: Select(x.left >= 0x8000_0000, x | ~(ones >> x.right), x)),
        ("below is signed", BinaryOp.Lt, _signed),
        ("at least is signed", BinaryOp.Ge, _signed),
        ("product of 24 bits", BinaryOp.Mul, lambda x: (x.left & 0xFF_FFFF) * (x.right & 0xFF_FFFF)),
        ("high product loses the carry", BinaryOp.MulHi, lambda x: (x.left >> 16) * (x.right >> 16)),
        ("sum saturates", BinaryOp.Add, lambda x: Select(x < x.left, ones, x)),
        ("difference saturates", BinaryOp.Sub, lambda x: Select(x.left < x.right, LitU32(0), x)),
    )  # fmt: skip
    for name, op, rule in binary:
        yield program_fault(name, _words(op, rule), f"operator = {op.value}")
    unary: tuple[tuple[str, UnaryOp, Unary], ...] = (
        ("leading zeros of 0 are 31", UnaryOp.Clz, lambda x: Select(x.operand.eq(0), LitU32(31), x)),
        ("trailing zeros of 0 are all ones", UnaryOp.Ctz, lambda x: Select(x.operand.eq(0), ones, x)),
        ("set bits of 16 counted", UnaryOp.Popcount, lambda x: UnOp(x.op, x.operand & 0xFFFF)),
        ("bits reversed by halves", UnaryOp.ReverseBits, lambda x: (x << 16) | (x >> 16)),
    )
    for name, kind, change in unary:
        yield program_fault(name, _unary(kind, change), f"operator = {kind.value}")
    yield program_fault(
        "choice by the lowest bit",
        expressions(lambda x: Select(x.condition & 1, x.if_true, x.if_false) if isinstance(x, Select) else x),
        "operator = Select",
    )
    yield program_fault(
        "literals of 31 bits",
        expressions(lambda x: LitU32(x.value & 0x7FFF_FFFF) if isinstance(x, LitU32) else x),
        "literal >= 2147483648",
    )
    yield program_fault(
        "literals of 24 bits",
        expressions(lambda x: LitU32(x.value & 0xFF_FFFF) if isinstance(x, LitU32) else x),
        "literal >= 16777216",
    )


def _words(op: BinaryOp, rule: Binary) -> Change:
    """For U32 alone: sums and products of I32 are left as they are."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)
        return _binary(op, lambda x: rule(x) if types.type(x.left) is DataType.U32 else x)(program)

    return change


def _bits(x: Expr) -> Expr:
    return Cast(DataType.U32, x)


def _float(x: Expr) -> Expr:
    return Cast(DataType.F32, x)


def _flushed(x: Expr) -> Expr:
    bits = _bits(x)
    return _float(Select((bits & 0x7F80_0000).eq(0), bits & 0x8000_0000, bits))


def _floats() -> Iterator[Fault]:
    def f32_only(op: BinaryOp, rule: Binary) -> Change:
        def change(program: Program) -> Program:
            types = Types.of(program.entry, program.buffers)
            return _binary(op, lambda x: rule(x) if types.type(x) is DataType.F32 else x)(program)

        return change

    for op in (BinaryOp.FAdd, BinaryOp.FMul, BinaryOp.FSub, BinaryOp.FDiv):
        need = f"operator = {op.value}"
        yield program_fault(f"tiny results of {op.value} flushed", f32_only(op, _flushed), need)
        yield program_fault(
            f"tiny operands of {op.value} flushed",
            f32_only(op, lambda x: BinOp(x.op, _flushed(x.left), _flushed(x.right))),
            need,
        )
    yield program_fault(
        "sum loses the sign of zero",
        f32_only(BinaryOp.FAdd, lambda x: _float(Select(_bits(x).eq(0x8000_0000), LitU32(0), _bits(x)))),
        "operator = FAdd",
    )
    yield program_fault(
        "product by 0 folded",
        f32_only(
            BinaryOp.FMul,
            lambda x: _float(Select((_bits(x.right) << 1).eq(0), LitU32(0), _bits(x))),
        ),
        "operator = FMul",
    )
    yield program_fault(
        "quotient by a reciprocal",
        f32_only(
            BinaryOp.FDiv, lambda x: BinOp(BinaryOp.FMul, x.left, BinOp(BinaryOp.FDiv, f32(1.0), x.right))
        ),
        "operator = FDiv",
    )
    yield program_fault(
        "difference and product fused",
        f32_only(
            BinaryOp.FSub,
            lambda x: (
                FMulAdd(x.left.left, x.left.right, UnOp(UnaryOp.FNeg, x.right))
                if isinstance(x.left, BinOp) and x.left.op is BinaryOp.FMul
                else x
            ),
        ),
        "operator = FSub",
        "operator = FMul",
    )
    yield program_fault(
        "maximum without NaN",
        f32_only(
            BinaryOp.FMax,
            lambda x: Select(
                UnOp(UnaryOp.FIsNaN, x.left), x.right, Select(UnOp(UnaryOp.FIsNaN, x.right), x.left, x)
            ),
        ),
        "operator = FMax",
    )
    yield program_fault(
        "minimum takes the first zero",
        f32_only(BinaryOp.FMin, lambda x: Select(BinOp(BinaryOp.FLe, x.left, x.right), x.left, x)),
        "operator = FMin",
    )
    yield program_fault(
        "root off in the last place",
        expressions(lambda x: _float(_bits(x) + 1) if isinstance(x, UnOp) and x.op is UnaryOp.FSqrt else x),
        "operator = FSqrt",
    )
    yield program_fault(
        "conversions truncate",
        expressions(
            lambda x: (
                Convert(x.target, RoundMode.Truncate, x.value)
                if isinstance(x, Convert) and x.mode is not RoundMode.Truncate
                else x
            )
        ),
        "operator = Convert",
    )
    yield program_fault(
        "float literals one place off",
        expressions(
            lambda x: Literal(x.type, x.bits ^ 1) if isinstance(x, Literal) and x.type is DataType.F32 else x
        ),
    )


def _chains() -> Iterator[Fault]:
    yield program_fault("sum of a loop kept as a double", _doubled, "float loop = FAdd", "loop turns >= 2")
    yield program_fault(
        "tiny sums of a loop flushed", _in_loops(_flushed_sum), "float loop = FAdd", "loop turns >= 1"
    )
    yield program_fault(
        "tiny products of a loop flushed", _in_loops(_flushed_product), "float loop = FMul", "loop turns >= 1"
    )
    yield program_fault(
        "sum of 8 terms by halves", expressions(_halves), "float chain >= 7", "operator = FAdd"
    )
    yield program_fault(
        "products reassociated", expressions(_regrouped), "float chain >= 2", "operator = FMul"
    )
    for one, two in ((ReduceOp.Min, ReduceOp.Max), (ReduceOp.Max, ReduceOp.Min)):
        yield program_fault(
            f"reduction {one.value} as {two.value}",
            expressions(
                lambda x, one=one, two=two: (
                    FReduce(x.order, two, x.buffer, x.start, x.stop)
                    if isinstance(x, FReduce) and x.op is one
                    else x
                )
            ),
            f"reduction = Strict {one.value}",
            "reduction length >= 2",
        )
    yield program_fault(
        "reduction without its first element",
        expressions(
            lambda x: (
                FReduce(x.order, x.op, x.buffer, Select(x.stop > x.start, x.start + 1, x.start), x.stop)
                if isinstance(x, FReduce)
                else x
            )
        ),
        "reduction length >= 1",
    )


def _doubled(program: Program) -> Program:
    """A variable to which a loop adds is a double, rounded where it is read."""
    types = Types.of(program.entry, program.buffers)
    loops = [n for _, n in all_statements(program.entry) if isinstance(n, Loop)]
    sums = {
        n.name
        for loop in loops
        for _, n in all_statements(loop.body)
        if isinstance(n, Assign)
        and isinstance(n.value, BinOp)
        and n.value.op is BinaryOp.FAdd
        and n.value.left is Var(n.name)
        and types.type(n.value) is DataType.F32
    }

    def wide(x: Expr) -> Expr:
        return Convert(DataType.F64, RoundMode.Nearest, x)

    def read(x: Expr) -> Expr:
        named = isinstance(x, Var) and x.name in sums
        return Convert(DataType.F32, RoundMode.Nearest, x) if named else x

    def rule(n: Node) -> list[Node]:
        match n:
            case Let(name=name, value=value) if name in sums:
                return [Let(name, wide(value))]
            case Assign(name=name, value=BinOp(op=BinaryOp.FAdd, right=right)) if name in sums:
                return [Assign(name, BinOp(BinaryOp.FAdd, Var(name), wide(right)))]
            case Assign(name=name, value=value) if name in sums:
                return [Assign(name, wide(value))]
            case _:
                return [n]

    return rewrite(program, expr=read, node=rule)


def _in_loops(rule: Callable[[Expr], Expr]) -> Change:
    """For what is assigned in loops alone."""

    def one(n: Node) -> list[Node]:
        if not isinstance(n, Loop):
            return [n]
        body = [Assign(x.name, rule(x.value)) if isinstance(x, Assign) else x for x in n.body]
        return [Loop(n.var, n.start, n.stop, tuple(body))]

    return lambda program: rewrite(program, node=one)


def _flushed_sum(x: Expr) -> Expr:
    return _flushed(x) if isinstance(x, BinOp) and x.op is BinaryOp.FAdd else x


def _flushed_product(x: Expr) -> Expr:
    return _flushed(x) if isinstance(x, BinOp) and x.op is BinaryOp.FMul else x


def _terms(x: Expr, op: BinaryOp) -> list[Expr]:
    """Of a chain that leans to the left, first term first."""
    found = list[Expr]()
    while isinstance(x, BinOp) and x.op is op:
        found.append(x.right)
        x = x.left
    return [x, *reversed(found)]


def _halves(x: Expr) -> Expr:
    terms = _terms(x, BinaryOp.FAdd)
    if len(terms) < 8:
        return x
    level = terms
    while len(level) > 1:
        pairs = [BinOp(BinaryOp.FAdd, a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
        level = [*pairs, *level[len(pairs) * 2 :]]
    return level[0]


def _regrouped(x: Expr) -> Expr:
    match x:
        case BinOp(op=BinaryOp.FMul, left=BinOp(op=BinaryOp.FMul, left=a, right=b), right=c):
            return BinOp(BinaryOp.FMul, a, BinOp(BinaryOp.FMul, b, c))
        case _:
            return x


def _atomics() -> Iterator[Fault]:
    def atomic(rule: Callable[[Atomic], Expr]) -> Change:
        return expressions(lambda x: rule(x) if isinstance(x, Atomic) else x)

    swaps: Mapping[AtomicOp, AtomicOp] = {
        AtomicOp.And: AtomicOp.Or,
        AtomicOp.Xor: AtomicOp.Or,
        AtomicOp.Max: AtomicOp.Add,
        AtomicOp.Exchange: AtomicOp.Or,
    }
    for op, other in swaps.items():
        yield program_fault(
            f"atomic {op.value} emitted as {other.value}",
            atomic(
                lambda x, op=op, other=other: Atomic(other, x.buffer, x.index, x.value) if x.op is op else x
            ),
            f"atomic = {op.value}",
        )
    yield program_fault(
        "compare-exchange always exchanges",
        atomic(
            lambda x: (
                Atomic(AtomicOp.Exchange, x.buffer, x.index, x.value)
                if x.op is AtomicOp.CompareExchange
                else x
            )
        ),
        "atomic = CompareExchange",
    )
    yield program_fault(
        "compare-exchange never exchanges",
        atomic(
            lambda x: (
                Atomic(AtomicOp.Or, x.buffer, x.index, LitU32(0)) if x.op is AtomicOp.CompareExchange else x
            )
        ),
        "atomic = CompareExchange",
    )
    yield program_fault(
        "atomic sum of 16 bits",
        atomic(lambda x: Atomic(x.op, x.buffer, x.index, x.value & 0xFFFF) if x.op is AtomicOp.Add else x),
        "atomic = Add",
    )
    yield program_fault(
        "atomics of upper lanes lost",
        atomic(
            lambda x: Atomic(
                x.op,
                x.buffer,
                Select((LocalId(0) & 63) >= 32, LitU32(0xFFFF_FFFF), x.index),
                x.value,
                x.expected,
            )
        ),
        "workgroup x >= 33",
    )
