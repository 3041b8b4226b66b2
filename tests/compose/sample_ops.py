"""Ops that stress inlining: each parameter pattern once."""

from __future__ import annotations

from vyre.compose import Op, Param, Registry
from vyre.ir import Assign, Block, DataType, Expr, If, Let, LitU32, Loop, Node, Var
from vyre.ir.expr import call, select

U32 = DataType.U32
X, Y, Z = Var("x"), Var("y"), Var("z")
T = Var("temp")


def op(op_id: str, params: str, result: Expr, *body: Node) -> Op:
    return Op(op_id, tuple(Param(p, U32) for p in params.split()), U32, result, body)


SAMPLES = [
    op("t.xor", "x y", X ^ Y),
    op("t.swapped", "x y", Y - X),
    op("t.twice", "x", X + X),
    op("t.first", "x y", X),
    op("t.none", "", LitU32(7)),
    op("t.ignored", "x y", LitU32(9)),
    op("t.choose", "x y z", select(X & 1, Y, Z)),
    op("t.local", "x", T * X, Let("temp", X + 1)),
    op("t.early", "x y", T - Y, Let("temp", X * 3)),
    op("t.late", "x y", X - T, Let("temp", Y * 3)),
    op("t.assigned", "x y", X + Y, Assign("x", X * 5), If(Y & 1, (Assign("x", X + 1),), ())),
    op("t.overwritten", "x y", X, Assign("x", Y + 1)),
    op(
        "t.loop",
        "x y",
        T,
        Let("temp", LitU32(0)),
        Loop("i", LitU32(0), X & 3, (Let("step", Y * Var("i")), Assign("temp", T + Var("step")))),
    ),
    op(
        "t.branches",
        "x y",
        T,
        Let("temp", Y),
        If(X < Y, (Let("inner", X + 2), Assign("temp", Var("inner"))), (Block((Let("inner", Y ^ 5),)),)),
    ),
    op("t.nested", "x y", call("t.local", X) - call("t.swapped", Y, call("t.loop", X, Y))),
    op("t.deeper", "x y", call("t.nested", T, call("t.assigned", Y, X)), Let("temp", call("t.twice", X + Y))),
    op(
        "t.bounds",
        "x",
        T,
        Let("temp", X),
        Loop("i", call("t.none"), call("t.local", X) & 15, (Assign("temp", call("t.early", T, Var("i"))),)),
    ),
]
REGISTRY = Registry(SAMPLES)
