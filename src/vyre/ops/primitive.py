"""`primitive.*`: the integer operators of the language on U32, one op each (decision 20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ops.build import A, B, binary, unary

if TYPE_CHECKING:
    from vyre.ir.op import Op

_BINARY = {
    "math.add": (BinaryOp.Add, "Sum modulo 2^32."),
    "math.sub": (BinaryOp.Sub, "Difference modulo 2^32."),
    "math.mul": (BinaryOp.Mul, "Low 32 bits of the product."),
    "math.div": (BinaryOp.Div, "Quotient, rounded down; 0 when `b` is 0."),
    "math.mod": (BinaryOp.Mod, "Remainder of the division; 0 when `b` is 0."),
    "math.mul_hi": (BinaryOp.MulHi, "High 32 bits of the product."),
    "bitwise.and": (BinaryOp.BitAnd, "Bits set in both."),
    "bitwise.or": (BinaryOp.BitOr, "Bits set in either."),
    "bitwise.xor": (BinaryOp.BitXor, "Bits that differ."),
    "bitwise.shl": (BinaryOp.Shl, "`a` shifted left by the low 5 bits of `b`."),
    "bitwise.shr": (BinaryOp.Shr, "`a` shifted right by the low 5 bits of `b`, zeros moving in."),
    "compare.eq": (BinaryOp.Eq, "1 when equal, else 0."),
    "compare.ne": (BinaryOp.Ne, "1 when different, else 0."),
    "compare.lt": (BinaryOp.Lt, "1 when `a` is below `b`, else 0."),
    "compare.gt": (BinaryOp.Gt, "1 when `a` is above `b`, else 0."),
    "compare.le": (BinaryOp.Le, "1 when `a` is at most `b`, else 0."),
    "compare.ge": (BinaryOp.Ge, "1 when `a` is at least `b`, else 0."),
    "logical.and": (BinaryOp.And, "1 when neither is 0, else 0."),
    "logical.or": (BinaryOp.Or, "0 when both are 0, else 1."),
}

_UNARY = {
    "math.negate": (UnaryOp.Negate, "Two's complement: 0 - `a` modulo 2^32."),
    "bitwise.not": (UnaryOp.BitNot, "Every bit flipped."),
    "bitwise.popcount": (UnaryOp.Popcount, "How many bits are set."),
    "bitwise.clz": (UnaryOp.Clz, "Zero bits above the highest set bit; 32 for 0."),
    "bitwise.ctz": (UnaryOp.Ctz, "Zero bits below the lowest set bit; 32 for 0."),
    "bitwise.reverse_bits": (UnaryOp.ReverseBits, "Bit i moves to bit 31 - i."),
    "logical.not": (UnaryOp.LogicalNot, "1 when `a` is 0, else 0."),
}


def ops() -> list[Op]:
    return [
        *(binary(f"primitive.{name}", BinOp(op, A, B), doc) for name, (op, doc) in _BINARY.items()),
        *(unary(f"primitive.{name}", UnOp(op, A), doc) for name, (op, doc) in _UNARY.items()),
    ]
