"""An op of U32 formulas as SMT-LIB text: each `Let` becomes one definition over 32-bit vectors.

`cuts` replaces the definition of named steps by other terms, for proofs that go through a lemma; the
record of such a proof names the lemma.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir import expr as e
from vyre.ir.node import Let
from vyre.ir.operators import BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op

WORD = "(_ BitVec 32)"

_SIMPLE = {
    BinaryOp.Add: "bvadd",
    BinaryOp.Sub: "bvsub",
    BinaryOp.Mul: "bvmul",
    BinaryOp.BitAnd: "bvand",
    BinaryOp.BitOr: "bvor",
    BinaryOp.BitXor: "bvxor",
}
_COMPARE = {
    BinaryOp.Eq: "=",
    BinaryOp.Ne: "distinct",
    BinaryOp.Lt: "bvult",
    BinaryOp.Gt: "bvugt",
    BinaryOp.Le: "bvule",
    BinaryOp.Ge: "bvuge",
}


def word(value: int) -> str:
    return f"#x{value:08x}"


def _leading_zeros() -> str:
    """Halving: where the upper half is empty, count it and move the lower half up."""
    value, count = "x", word(0)
    steps = ""
    for i, half in enumerate((16, 8, 4, 2, 1)):
        empty = f"(= ((_ extract 31 {32 - half}) {value}) (_ bv0 {half}))"
        steps += (
            f"(let ((x{i} (ite {empty} (bvshl {value} {word(half)}) {value}))"
            f" (n{i} (ite {empty} (bvadd {count} {word(half)}) {count}))) "
        )
        value, count = f"x{i}", f"n{i}"
    return f"(define-fun clz ((x {WORD})) {WORD} (ite (= x {word(0)}) {word(32)} {steps}{count}{')' * 5}))"


PRELUDE = f"""(set-logic QF_BVFP)
{_leading_zeros()}
(define-fun mulhi ((x {WORD}) (y {WORD})) {WORD}
  ((_ extract 63 32) (bvmul (concat {word(0)} x) (concat {word(0)} y))))
(define-fun div ((x {WORD}) (y {WORD})) {WORD} (ite (= y {word(0)}) {word(0)} (bvudiv x y)))
"""


def definitions(op: Op, *, cuts: Mapping[str, str] | None = None, result: str = "result") -> str:
    """Definitions of every step, named as in the op, and of its result. Parameters stay free."""
    cuts = cuts or {}
    lines: list[str] = []
    for node in op.body:
        if not isinstance(node, Let):
            raise _unsupported(op, type(node).__name__)
        text = cuts.get(node.name) or _term(op, node.value)
        lines.append(f"(define-fun {node.name} () {WORD} {text})")
    if op.result is None:
        raise _unsupported(op, "its missing result")
    lines.append(f"(define-fun {result} () {WORD} {_term(op, op.result)})")
    return "\n".join(lines) + "\n"


def _term(op: Op, expr: e.Expr) -> str:
    """Formulas are a few levels deep, so plain recursion over one is safe."""
    match expr:
        case e.LitU32(value=value):
            return word(value)
        case e.Var(name=name):
            return name
        case e.BinOp(op=operator, left=a, right=b) if operator in _SIMPLE:
            return f"({_SIMPLE[operator]} {_term(op, a)} {_term(op, b)})"
        case e.BinOp(op=BinaryOp.Shl | BinaryOp.Shr as operator, left=a, right=b):
            name = "bvshl" if operator is BinaryOp.Shl else "bvlshr"
            # The amount counts modulo 32.
            amount = word(b.value & 31) if isinstance(b, e.LitU32) else f"(bvand {_term(op, b)} {word(31)})"
            return f"({name} {_term(op, a)} {amount})"
        case e.BinOp(op=BinaryOp.MulHi, left=a, right=b):
            return f"(mulhi {_term(op, a)} {_term(op, b)})"
        case e.BinOp(op=BinaryOp.Div, left=a, right=b):
            return f"(div {_term(op, a)} {_term(op, b)})"
        case e.BinOp(op=operator) if operator in _COMPARE:
            return f"(ite {_condition(op, expr)} {word(1)} {word(0)})"
        case e.UnOp(op=UnaryOp.Negate, operand=a):
            return f"(bvneg {_term(op, a)})"
        case e.UnOp(op=UnaryOp.BitNot, operand=a):
            return f"(bvnot {_term(op, a)})"
        case e.UnOp(op=UnaryOp.Clz, operand=a):
            return f"(clz {_term(op, a)})"
        case e.Select(condition=c, if_true=a, if_false=b):
            return f"(ite {_condition(op, c)} {_term(op, a)} {_term(op, b)})"
        case _:
            raise _unsupported(op, repr(expr))


def _condition(op: Op, expr: e.Expr) -> str:
    if isinstance(expr, e.BinOp) and expr.op in _COMPARE:
        return f"({_COMPARE[expr.op]} {_term(op, expr.left)} {_term(op, expr.right)})"
    return f"(distinct {_term(op, expr)} {word(0)})"


def _unsupported(op: Op, what: str) -> OpError:
    return OpError(
        f"{op.id} cannot be translated for a solver because of {what}.",
        fix="use Let, Select and integer operators over U32, and inline calls first.",
    )
