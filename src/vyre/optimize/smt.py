"""What an expression means, as SMT-LIB text over bit-vectors, for any solver.

One translation for every proof. It is written from the language's definition and says nothing about
the rules; tests hold it against the reference interpreter value by value. A value is a bit-vector as
wide as its type (Bool: one bit), lane 0 in the low bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule, type_of
from vyre.ir.walk import postorder
from vyre.optimize.fold import constant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.signature import OpSignature

_PLAIN = {
    BinaryOp.Add: "bvadd",
    BinaryOp.Sub: "bvsub",
    BinaryOp.Mul: "bvmul",
    BinaryOp.BitAnd: "bvand",
    BinaryOp.BitOr: "bvor",
    BinaryOp.BitXor: "bvxor",
}
_DIVIDE = {BinaryOp.Div: "bvudiv", BinaryOp.Mod: "bvurem"}
_SHIFT = {BinaryOp.Shl: "bvshl", BinaryOp.Shr: "bvlshr"}
_COMPARE = {
    BinaryOp.Eq: "=",
    BinaryOp.Ne: "distinct",
    BinaryOp.Lt: "bvult",
    BinaryOp.Gt: "bvugt",
    BinaryOp.Le: "bvule",
    BinaryOp.Ge: "bvuge",
}
_LOGIC = {BinaryOp.And: "and", BinaryOp.Or: "or"}


def width(t: DataType) -> int:
    return 1 if t is DataType.Bool else t.bits


def sort(t: DataType) -> str:
    return f"(_ BitVec {width(t)})"


class Translation:
    """Collects definitions; `term` gives the name that stands for an expression.

    `types` are the types of the variables; `declare` names the ones that are free, which is all of them
    unless some are given a value by `define`.
    """

    def __init__(self, types: Mapping[str, DataType]) -> None:
        self._types = dict(types)
        self._known: dict[e.Expr, tuple[str, DataType]] = {}
        self.lines: list[str] = [f"(declare-const {name} {sort(t)})" for name, t in types.items()]

    def variable(self, name: str) -> DataType | None:
        return self._types.get(name)

    def element(self, buffer: str) -> DataType | None:
        return None

    def signature(self, op_id: str) -> OpSignature | None:
        return None

    def type(self, root: e.Expr) -> DataType:
        self.term(root)
        return self._known[root][1]

    def term(self, root: e.Expr) -> str:
        for expr in postorder(root):
            if expr not in self._known:
                self._define(expr)
        return self._known[root][0]

    def condition(self, root: e.Expr) -> str:
        """The formula that an expression is not zero."""
        return _is_set(self.term(root), self.type(root))

    def _define(self, expr: e.Expr) -> None:
        operands = tuple(self._known[child] for child in expr.children)
        t = type_of(expr, tuple(operand[1] for operand in operands), self)
        if t is None:
            raise TypeError(f"{expr!r} has no type over {[o[1].value for o in operands]}")
        if isinstance(expr, e.Var):
            self._known[expr] = (expr.name, t)
            return
        name = f"t{len(self._known)}"
        self.lines.append(f"(define-fun {name} () {sort(t)} {_meaning(expr, t, operands)})")
        self._known[expr] = (name, t)


def _meaning(expr: e.Expr, t: DataType, operands: tuple[tuple[str, DataType], ...]) -> str:
    names = tuple(name for name, _ in operands)
    known = constant(expr) if not operands else None
    if known is not None:
        return f"(_ bv{known.bits} {width(t)})"
    match expr:
        case e.BinOp(op=op):
            return _binary(op, names[0], names[1], operands[0][1])
        case e.UnOp(op=op):
            return _unary(op, names[0], operands[0][1])
        case e.Select():
            return f"(ite {_is_set(*operands[0])} {names[1]} {names[2]})"
        case e.Lane(index=index):
            return f"((_ extract {32 * index + 31} {32 * index}) {names[0]})"
        case e.MakeVec():
            return f"(concat {' '.join(reversed(names))})"
        case e.Cast(target=target):
            return _cast(names[0], operands[0][1], target)
        case _:
            raise TypeError(f"{expr!r} has no translation")


def _is_set(term: str, t: DataType) -> str:
    return f"(distinct {term} (_ bv0 {width(t)}))"


def _from_bool(formula: str) -> str:
    return f"(ite {formula} (_ bv1 32) (_ bv0 32))"


def _binary(op: BinaryOp, a: str, b: str, t: DataType) -> str:
    if op in _PLAIN:
        return f"({_PLAIN[op]} {a} {b})"
    if op in _DIVIDE:
        return f"(ite (= {b} (_ bv0 32)) (_ bv0 32) ({_DIVIDE[op]} {a} {b}))"
    if op in _SHIFT:
        return f"({_SHIFT[op]} {a} (bvand {b} (_ bv31 32)))"
    if op in _COMPARE:
        return _from_bool(f"({_COMPARE[op]} {a} {b})")
    if op in _LOGIC:
        return _from_bool(f"({_LOGIC[op]} {_is_set(a, t)} {_is_set(b, t)})")
    if op is BinaryOp.MulHi:
        wide = f"(bvmul ((_ zero_extend 32) {a}) ((_ zero_extend 32) {b}))"
        return f"((_ extract 63 32) {wide})"
    raise TypeError(f"{op.value} has no translation")


def _unary(op: UnaryOp, a: str, t: DataType) -> str:
    match op:
        case UnaryOp.Negate:
            return f"(bvneg {a})"
        case UnaryOp.BitNot:
            return f"(bvnot {a})"
        case UnaryOp.LogicalNot:
            return f"(ite {_is_set(a, t)} (_ bv0 32) (_ bv1 32))"
        case UnaryOp.Popcount:
            return f"(bvadd {' '.join(f'((_ zero_extend 31) {_bit(a, i)})' for i in range(32))})"
        case UnaryOp.ReverseBits:
            return f"(concat {' '.join(_bit(a, i) for i in range(32))})"
        case UnaryOp.Clz | UnaryOp.Ctz:
            text = "(_ bv32 32)"
            for zeros in reversed(range(32)):
                bit = 31 - zeros if op is UnaryOp.Clz else zeros
                text = f"(ite (= {_bit(a, bit)} (_ bv1 1)) (_ bv{zeros} 32) {text})"
            return text
        case _:
            raise TypeError(f"{op.value} has no translation")


def _bit(a: str, position: int) -> str:
    return f"((_ extract {position} {position}) {a})"


def _cast(a: str, source: DataType, target: DataType) -> str:
    have, want = width(source), width(target)
    match CAST_TABLE[source, target]:
        case CastRule.ToBool:
            return f"(ite {_is_set(a, source)} (_ bv1 1) (_ bv0 1))"
        case CastRule.SignExtend:
            return f"((_ sign_extend {want - have}) {a})"
        case CastRule.Splat:
            lane = f"((_ zero_extend {32 - have}) {a})"
            return f"(concat {' '.join([lane] * target.lanes)})"
        case CastRule.Widen | CastRule.Round:
            raise TypeError(f"the cast from {source.value} to {target.value} has no translation")
        case _ if want > have:
            return f"((_ zero_extend {want - have}) {a})"
        case _ if want < have:
            return f"((_ extract {want - 1} 0) {a})"
        case _:
            return a
