"""A domain whose words are IR expressions: a definition run over it is a composition of the language.

Every step is bound to a name, so that a value used twice is computed once, however deep the definition.
"""

from __future__ import annotations

from vyre.ir.expr import BinOp, Expr, LitU32, Select, UnOp, Var
from vyre.ir.node import Let
from vyre.ir.operators import BinaryOp, UnaryOp


class IrDomain:
    """Words as expressions; `lets` are the statements that must stand before any use of them."""

    def __init__(self, *, prefix: str = "w") -> None:
        self.lets: list[Let] = []
        self._prefix = prefix

    def bind(self, value: Expr) -> Expr:
        """The value under a name of its own."""
        name = f"{self._prefix}{len(self.lets)}"
        self.lets.append(Let(name, value))
        return Var(name)

    def _binary(self, op: BinaryOp, a: Expr, b: Expr) -> Expr:
        return self.bind(BinOp(op, a, b))

    def const(self, bits: int) -> Expr:
        return LitU32(bits & 0xFFFF_FFFF)

    def add(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Add, a, b)

    def sub(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Sub, a, b)

    def mul(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Mul, a, b)

    def udiv(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Div, a, b)

    def urem(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Mod, a, b)

    def and_(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.BitAnd, a, b)

    def or_(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.BitOr, a, b)

    def xor(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.BitXor, a, b)

    def not_(self, a: Expr) -> Expr:
        return self.bind(UnOp(UnaryOp.BitNot, a))

    def shl(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Shl, a, b)

    def shr(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Shr, a, b)

    def eq(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Eq, a, b)

    def ne(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Ne, a, b)

    def ult(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Lt, a, b)

    def ule(self, a: Expr, b: Expr) -> Expr:
        return self._binary(BinaryOp.Le, a, b)

    def ite(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        return self.bind(Select(condition, a, b))
