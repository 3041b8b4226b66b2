"""`bytes.*`: bytes inside u32 words. Byte i of a Bytes buffer is lane i % 4 of word i / 4 (decision 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Cast, LitU32, Var
from vyre.ir.node import Let
from vyre.ir.op import Op, Param
from vyre.ops.build import I32, U32, A, B, binary, fold, unary

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Expr

_WORD, _INDEX = Var("word"), Var("byte_index")
_OFFSET = (_INDEX & 3) << 3


def _unsigned(word: Expr, k: int) -> Expr:
    return (word >> 8 * k) & 0xFF


def _signed(word: Expr, k: int) -> Expr:
    """Byte k as a word, its highest bit as often as there is room."""
    return (_unsigned(word, k) ^ 0x80) - 0x80


def _dot(byte: Callable[[Expr, int], Expr]) -> Expr:
    return fold([byte(A, k) * byte(B, k) for k in range(4)], lambda a, b: a + b)


def ops() -> list[Op]:
    word, index, byte = Param("word", U32), Param("byte_index", U32), Param("byte", U32)
    offset = Var("offset")
    parts = tuple(Param(f"b{i}", U32) for i in range(4))
    b0, b1, b2, b3 = (Var(p.name) & 0xFF for p in parts)
    return [
        unary("bytes.word_index", A >> 2, "The word that holds byte `a` of a buffer."),
        Op(
            "bytes.lane",
            (word, index),
            U32,
            (_WORD >> _OFFSET) & 0xFF,
            doc="Byte `byte_index` % 4 of a word; byte 0 is the lowest.",
        ),
        Op(
            "bytes.with_lane",
            (word, index, byte),
            U32,
            (_WORD & ~(LitU32(0xFF) << offset)) | ((Var("byte") & 0xFF) << offset),
            body=(Let("offset", _OFFSET),),
            doc="The word with byte `byte_index` % 4 replaced by the low 8 bits of `byte`.",
        ),
        Op(
            "bytes.pack",
            parts,
            U32,
            b0 | b1 << 8 | b2 << 16 | b3 << 24,
            doc="A word from the low 8 bits of four values, `b0` lowest.",
        ),
        unary(
            "bytes.swap",
            A << 24 | (A & 0xFF00) << 8 | (A >> 8 & 0xFF00) | A >> 24,
            "The four bytes in reverse order.",
        ),
        binary("bytes.dot4_u8", _dot(_unsigned), "The sum of the products of bytes in the same place."),
        binary(
            "bytes.dot4_i8",
            Cast(I32, _dot(_signed)),
            "The sum of the products of bytes in the same place, each from -128 to 127.",
            gives=I32,
        ),
    ]
