"""The whole condition of a removed check, for a solver: whoever gets there has an index below the length.

A program is run on bit-vectors once. What memory holds is anything at each load; a variable that a loop
assigns is anything in it and after it; the variable of a loop is anything from start to stop. Nothing here
knows what the analysis or its checker concluded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.lower.prepare import Prepared

z3: Any = pytest.importorskip("z3", reason="z3-solver is not installed")

_WORDS = (DataType.U32, DataType.I32, DataType.Bool)
_ONE, _ZERO = z3.BitVecVal(1, 32), z3.BitVecVal(0, 32)

Condition = tuple[n.Node, str, e.Expr, Any, Any]
"""Statement, buffer and index of an access; the condition under which it is made; the index as a term."""


class Whole:
    """Every access of a program with the condition under which it is made."""

    def __init__(self, prepared: Prepared) -> None:
        self._prepared = prepared
        self._fresh = 0
        self.facts: list[Any] = []
        self.lengths: dict[str, Any] = {}
        for decl in prepared.buffers:
            length = z3.BitVec(f"length {decl.name}", 32)
            self.lengths[decl.name] = z3.BitVecVal(decl.count, 32) if decl.count else length
        self._ids: dict[e.Expr, Any] = {}
        for axis, size in enumerate(prepared.workgroup_size):
            group, local = z3.BitVec(f"group {axis}", 32), z3.BitVec(f"local {axis}", 32)
            self.facts.append(z3.ULT(local, size))
            self._ids[e.WorkgroupId(axis)], self._ids[e.LocalId(axis)] = group, local
            self._ids[e.InvocationId(axis)] = group * size + local

    def conditions(self) -> Iterator[Condition]:
        env: dict[str, Any] = {}
        yield from self._body(self._prepared.entry, env, [z3.BoolVal(True)])

    def _anything(self) -> Any:
        self._fresh += 1
        return z3.BitVec(f"any {self._fresh}", 32)

    def _body(self, body: tuple[n.Node, ...], env: dict[str, Any], alive: list[Any]) -> Iterator[Condition]:
        """`alive` holds the condition of the place; statements replace it."""
        for node in body:
            known: dict[e.Expr, Any] = {}
            for root in node.exprs:
                for expr in postorder(root):
                    if isinstance(expr, e.Load | e.Atomic):
                        yield node, expr.buffer, expr.index, alive[0], self._value(expr.index, env, known)
            if isinstance(node, n.Store):
                yield node, node.buffer, node.index, alive[0], self._value(node.index, env, known)
            match node:
                case n.Let(name=name, value=value) | n.Assign(name=name, value=value):
                    env[name] = self._value(value, env, known)
                case n.If(condition=condition, then=then, orelse=orelse):
                    holds = self._value(condition, env, known) != 0
                    yes, no = dict(env), dict(env)
                    there, elsewhere = [z3.And(alive[0], holds)], [z3.And(alive[0], z3.Not(holds))]
                    yield from self._body(then, yes, there)
                    yield from self._body(orelse, no, elsewhere)
                    for name in env:
                        env[name] = env[name] if yes[name] is no[name] else z3.If(holds, yes[name], no[name])
                    alive[0] = z3.Or(there[0], elsewhere[0])
                case n.Loop(var=var, start=start, stop=stop, body=inner):
                    first, end = self._value(start, env, known), self._value(stop, env, known)
                    for _, changed in statements(inner):
                        if isinstance(changed, n.Assign) and changed.name in env:
                            env[changed.name] = self._anything()
                    inside = dict(env)
                    inside[var] = turn = self._anything()
                    yield from self._body(
                        inner, inside, [z3.And(alive[0], z3.ULE(first, turn), z3.ULT(turn, end))]
                    )
                    for _, changed in statements(inner):
                        if isinstance(changed, n.Assign) and changed.name in env:
                            env[changed.name] = self._anything()
                case n.Block(body=inner):
                    yield from self._body(inner, env, alive)
                case n.Return():
                    alive[0] = z3.BoolVal(False)
                case _:
                    pass

    def _value(self, root: e.Expr, env: dict[str, Any], known: dict[e.Expr, Any]) -> Any:
        """Within one statement a load is made once."""
        for expr in postorder(root):
            if expr not in known:
                known[expr] = self._node(expr, env, known)
        return known[root]

    def _node(self, expr: e.Expr, env: dict[str, Any], known: dict[e.Expr, Any]) -> Any:
        if self._prepared.type(expr) not in _WORDS:
            return self._anything()
        operands = [known[child] for child in expr.children]
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return z3.BitVecVal(value, 32)
            case e.LitBool(value=value):
                return _ONE if value else _ZERO
            case e.BufLen(buffer=buffer):
                return self.lengths[buffer]
            case e.InvocationId() | e.LocalId() | e.WorkgroupId():
                return self._ids[expr]
            case e.Var(name=name):
                return env[name]
            case e.Select():
                return z3.If(operands[0] != 0, operands[1], operands[2])
            case e.BinOp(op=op):
                return _binary(op, *operands)
            case e.UnOp(op=UnaryOp.BitNot):
                return ~operands[0]
            case e.UnOp(op=UnaryOp.LogicalNot):
                return z3.If(operands[0] == 0, _ONE, _ZERO)
            case e.Cast(target=target, value=value) if self._prepared.type(value) in _WORDS:
                return z3.If(operands[0] == 0, _ZERO, _ONE) if target is DataType.Bool else operands[0]
            case _:
                return self._anything()


def _binary(op: BinaryOp, a: Any, b: Any) -> Any:
    truths = {
        BinaryOp.Eq: lambda: a == b,
        BinaryOp.Ne: lambda: a != b,
        BinaryOp.Lt: lambda: z3.ULT(a, b),
        BinaryOp.Le: lambda: z3.ULE(a, b),
        BinaryOp.Gt: lambda: z3.UGT(a, b),
        BinaryOp.Ge: lambda: z3.UGE(a, b),
        BinaryOp.And: lambda: z3.And(a != 0, b != 0),
        BinaryOp.Or: lambda: z3.Or(a != 0, b != 0),
    }
    words = {
        BinaryOp.Add: lambda: a + b,
        BinaryOp.Sub: lambda: a - b,
        BinaryOp.Mul: lambda: a * b,
        BinaryOp.Div: lambda: z3.If(b == 0, _ZERO, z3.UDiv(a, b)),
        BinaryOp.Mod: lambda: z3.If(b == 0, _ZERO, z3.URem(a, b)),
        BinaryOp.BitAnd: lambda: a & b,
        BinaryOp.BitOr: lambda: a | b,
        BinaryOp.BitXor: lambda: a ^ b,
        BinaryOp.Shl: lambda: a << (b & 31),
        BinaryOp.Shr: lambda: z3.LShR(a, b & 31),
        BinaryOp.MulHi: lambda: z3.Extract(63, 32, z3.ZeroExt(32, a) * z3.ZeroExt(32, b)),
    }
    return z3.If(truths[op](), _ONE, _ZERO) if op in truths else words[op]()
