"""Faults of compilers in floats: flushed, folded, fused, regrouped, or kept in more precision."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions
from vyre.ir.environment import Types
from vyre.ir.expr import (
    BinOp,
    Cast,
    Convert,
    Expr,
    FMulAdd,
    FReduce,
    Literal,
    LitU32,
    Select,
    UnOp,
    Var,
    f32,
    fadd,
    fsub,
)
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.operators import BinaryOp, ReduceOp, RoundMode, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import statements as all_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

    Binary = Callable[[BinOp], Expr]


def faults() -> Iterator[Fault]:
    yield from _floats()
    yield from _chains()


def _binary(op: BinaryOp, rule: Binary) -> Change:
    return expressions(lambda x: rule(x) if isinstance(x, BinOp) and x.op is op else x)


_LARGEST = 2_000


def _bits(x: Expr) -> Expr:
    return Cast(DataType.U32, x)


def _float(x: Expr) -> Expr:
    return Cast(DataType.F32, x)


def _flushed(x: Expr) -> Expr:
    bits = _bits(x)
    return _float(Select((bits & 0x7F80_0000).eq(0), bits & 0x8000_0000, bits))


def _floats() -> Iterator[Fault]:
    def wanted(types: Types, x: BinOp) -> bool:
        """The rules repeat operands: deep chains are changed at their lower levels alone."""
        return types.type(x) is DataType.F32 and x.size <= _LARGEST

    def f32_only(op: BinaryOp, rule: Binary) -> Change:
        def change(program: Program) -> Program:
            types = Types.of(program.entry, program.buffers)
            return _binary(op, lambda x: rule(x) if wanted(types, x) else x)(program)

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
        "maximum gives NaN for one NaN",
        f32_only(
            BinaryOp.FMax,
            lambda x: Select(
                UnOp(UnaryOp.FIsNaN, x.left), x.left, Select(UnOp(UnaryOp.FIsNaN, x.right), x.right, x)
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
        _truncating,
        "operator = Convert",
    )
    yield program_fault(
        "float literals one place off",
        expressions(
            lambda x: Literal(x.type, x.bits ^ 1) if isinstance(x, Literal) and x.type is DataType.F32 else x
        ),
    )


def _truncating(program: Program) -> Program:
    types = Types.of(program.entry, program.buffers)

    def rule(x: Expr) -> Expr:
        if not isinstance(x, Convert):
            return x
        if not x.target.is_float:
            return Convert(x.target, RoundMode.Truncate, x.value)
        if x.target is not DataType.F32 or types.type(x.value) is not DataType.U32:
            return x
        free = UnOp(UnaryOp.Clz, x.value)
        dropped = Select(free < 8, 8 - free, LitU32(0))
        return Convert(x.target, x.mode, x.value & (LitU32(0xFFFF_FFFF) << dropped))

    return expressions(rule)(program)


def _chains() -> Iterator[Fault]:
    yield program_fault(
        "sum of a loop kept in two words", _in_two_words, "float loop = FAdd", "loop turns >= 2"
    )
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


def _in_two_words(program: Program) -> Program:
    """A sum of a loop is kept with what rounding lost of it; both are added where it is read."""
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
    numbers = count()

    def read(x: Expr) -> Expr:
        return fadd(x, Var(f"{x.name}_low")) if isinstance(x, Var) and x.name in sums else x

    def rule(n: Node) -> list[Node]:
        match n:
            case Let(name=name, value=value) if name in sums:
                return [Let(name, value), Let(f"{name}_low", f32(0.0))]
            case Assign(name=name, value=BinOp(op=BinaryOp.FAdd, right=right)) if name in sums:
                return _added(name, right, next(numbers))
            case Assign(name=name, value=value) if name in sums:
                return [Assign(name, value), Assign(f"{name}_low", f32(0.0))]
            case _:
                return [n]

    return rewrite(program, expr=read, node=rule)


def _added(name: str, value: Expr, number: int) -> list[Node]:
    """The sum, and its rounding error, exactly."""
    term, total, part = (Var(f"{name}_{number}_{what}") for what in ("term", "total", "part"))
    old, low = Var(name), Var(f"{name}_low")
    lost = fadd(fsub(old, fsub(total, part)), fsub(term, part))
    return [
        Let(term.name, value),
        Let(total.name, fadd(old, term)),
        Let(part.name, fsub(total, old)),
        Assign(low.name, fadd(low, lost)),
        Assign(name, total),
    ]


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
