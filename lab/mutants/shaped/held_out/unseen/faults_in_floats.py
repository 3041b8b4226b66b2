"""Faults of compilers in floats: short operands, shortcuts, other rounding, sums of loops, reductions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.held_out.unseen.faults_in_arithmetic import LARGEST
from lab.mutants.shaped.rewrites import expressions
from vyre.ir.environment import Types
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd, FReduce, LitU32, Select, UnOp, Var, f32, fadd
from vyre.ir.node import Assign, If, Let, Loop, Node
from vyre.ir.operators import BinaryOp, ReduceOp, UnaryOp
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
    yield from _reductions()


def _float_rule(op: BinaryOp, rule: Binary) -> Change:
    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)

        def one(x: Expr) -> Expr:
            if not isinstance(x, BinOp) or x.op is not op or x.size > LARGEST:
                return x
            return rule(x) if types.type(x.left) is DataType.F32 else x

        return expressions(one)(program)

    return change


def _short(x: Expr, mask: int) -> Expr:
    return Cast(DataType.F32, Cast(DataType.U32, x) & mask)


def _floats() -> Iterator[Fault]:
    for op in (BinaryOp.FMul, BinaryOp.FAdd):
        for name, mask in (("19", 0xFFFF_E000), ("16", 0xFFFF_0000)):
            yield program_fault(
                f"operands of {op.value} kept in {name} bits",
                _float_rule(
                    op, lambda x, mask=mask: BinOp(x.op, _short(x.left, mask), _short(x.right, mask))
                ),
                f"operator = {op.value}",
            )
    yield program_fault(
        "difference of equal floats folded",
        _float_rule(
            BinaryOp.FSub,
            lambda x: Select(Cast(DataType.U32, x.left).eq(Cast(DataType.U32, x.right)), f32(0.0), x),
        ),
        "operator = FSub",
    )
    yield program_fault(
        "quotient of an approximate reciprocal",
        _float_rule(
            BinaryOp.FDiv,
            lambda x: BinOp(
                BinaryOp.FMul, x.left, _short(BinOp(BinaryOp.FDiv, f32(1.0), x.right), 0xFFFF_FFFC)
            ),
        ),
        "operator = FDiv",
    )
    for op, zero in ((BinaryOp.FAdd, "sum"), (BinaryOp.FMul, "product"), (BinaryOp.FSub, "difference")):
        yield program_fault(
            f"float {zero} rounded towards 0",
            _float_rule(op, _towards_zero),
            f"operator = {op.value}",
        )
    yield program_fault("negation of a float is a difference", _negated, "operator = FNeg")
    yield program_fault("addend of a fused product dropped", _dropped, "operator = FMulAdd")


def _dropped(program: Program) -> Program:
    """Where the first factor is odd."""
    types = Types.of(program.entry, program.buffers)

    def rule(x: Expr) -> Expr:
        if not isinstance(x, FMulAdd) or x.size > LARGEST or types.type(x) is not DataType.F32:
            return x
        return Select(Cast(DataType.U32, x.a) & 1, BinOp(BinaryOp.FMul, x.a, x.b), x)

    return expressions(rule)(program)


def _towards_zero(x: BinOp) -> Expr:
    """By the exact result in doubles, which a sum, difference or product of near floats fits."""
    exact = BinOp(x.op, _wide(x.left), _wide(x.right))
    away = BinOp(BinaryOp.FGt, UnOp(UnaryOp.FAbs, _wide(x)), UnOp(UnaryOp.FAbs, exact))
    return Cast(DataType.F32, Cast(DataType.U32, x) - Select(away, LitU32(1), LitU32(0)))


def _wide(x: Expr) -> Expr:
    return Cast(DataType.F64, x)


def _negated(program: Program) -> Program:
    types = Types.of(program.entry, program.buffers)

    def rule(x: Expr) -> Expr:
        if not isinstance(x, UnOp) or x.op is not UnaryOp.FNeg or types.type(x) is not DataType.F32:
            return x
        return BinOp(BinaryOp.FSub, f32(0.0), x.operand)

    return expressions(rule)(program)


def _chains() -> Iterator[Fault]:
    for op, name in ((BinaryOp.FAdd, "sums"), (BinaryOp.FMul, "products")):

        def wide(x: BinOp, op: BinaryOp = op) -> Expr:
            if not isinstance(x.left, BinOp) or x.left.op is not op:
                return x
            inner = BinOp(op, _wide(x.left.left), _wide(x.left.right))
            return Cast(DataType.F32, BinOp(op, inner, _wide(x.right)))

        yield program_fault(
            f"{name} of three rounded once",
            _float_rule(op, wide),
            "float chain >= 2",
            f"operator = {op.value}",
        )
    yield program_fault("sum of a loop in two halves", _two_sums, "float loop = FAdd", "loop turns >= 3")
    yield program_fault(
        "product of a loop kept in 19 bits", _product_kept, "float loop = FMul", "loop turns >= 2"
    )


def _own(n: Node, op: BinaryOp) -> bool:
    return (
        isinstance(n, Assign)
        and isinstance(n.value, BinOp)
        and n.value.op is op
        and n.value.left is Var(n.name)
    )


def _two_sums(program: Program) -> Program:
    """A sum of a loop is kept in two variables, which take turns and are added where the sum is read."""
    types = Types.of(program.entry, program.buffers)
    sums = {
        n.name
        for _, loop in all_statements(program.entry)
        if isinstance(loop, Loop)
        for _, n in all_statements(loop.body)
        if isinstance(n, Assign) and _own(n, BinaryOp.FAdd) and types.type(n.value) is DataType.F32
    }

    def read(x: Expr) -> Expr:
        return fadd(x, Var(f"{x.name}_half")) if isinstance(x, Var) and x.name in sums else x

    def rule(n: Node) -> list[Node]:
        match n:
            case Let(name=name) if name in sums:
                return [n, Let(f"{name}_half", f32(0.0)), Let(f"{name}_turn", LitU32(0))]
            case Assign(name=name, value=BinOp(op=BinaryOp.FAdd, right=term)) if name in sums:
                half, turn = Var(f"{name}_half"), Var(f"{name}_turn")
                first, second = Assign(name, fadd(Var(name), term)), Assign(half.name, fadd(half, term))
                return [Assign(turn.name, turn ^ 1), If(turn, (first,), (second,))]
            case Assign(name=name) if name in sums:
                return [n, Assign(f"{name}_half", f32(0.0))]
            case _:
                return [n]

    return rewrite(program, expr=read, node=rule)


def _product_kept(program: Program) -> Program:
    types = Types.of(program.entry, program.buffers)

    def rule(n: Node) -> list[Node]:
        if not isinstance(n, Loop):
            return [n]
        body = [
            Assign(x.name, _short(x.value, 0xFFFF_E000))
            if isinstance(x, Assign) and _own(x, BinaryOp.FMul) and types.type(x.value) is DataType.F32
            else x
            for x in n.body
        ]
        return [Loop(n.var, n.start, n.stop, body)]

    return rewrite(program, node=rule)


def _reductions() -> Iterator[Fault]:
    def bounds(change: Callable[[FReduce, Expr], tuple[Expr, Expr]]) -> Change:
        """New bounds by the reduction and its length."""

        def rule(x: Expr) -> Expr:
            if not isinstance(x, FReduce):
                return x
            span = Select(x.stop > x.start, x.stop - x.start, LitU32(0))
            return FReduce(x.order, x.op, x.buffer, *change(x, span))

        return expressions(rule)

    for most in (32, 256, 1_000):
        yield program_fault(
            f"reduction ends after {most:,}",
            bounds(lambda x, n, most=most: (x.start, x.start + Select(n > most, LitU32(most), n))),
            f"reduction length >= {most + 1}",
        )
    for by in (2, 8, 64):
        yield program_fault(
            f"reduction without what {by} leave over",
            bounds(lambda x, n, by=by: (x.start, x.start + (n & ~LitU32(by - 1)))),
            "reduction length >= 1",
        )
    yield program_fault(
        "reduction starts at place 0", bounds(lambda x, n: (LitU32(0), x.stop)), "reduction length >= 1"
    )
    yield program_fault(
        "reduction takes one past its end",
        bounds(lambda x, n: (x.start, x.stop + 1)),
        "reduction length >= 1",
    )
    for one, two in ((ReduceOp.Add, ReduceOp.Max), (ReduceOp.Mul, ReduceOp.Add)):
        yield program_fault(
            f"reduction {one.value} done as {two.value}",
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
