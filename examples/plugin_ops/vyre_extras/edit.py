"""The edit distance of two strings of four bytes, one in each word: bytes changed, put in or left out."""

from typing import Any

from vyre import DataType, Expr, Let, LitU32, Op, Param, Select, Var
from vyre.conform.spec.law import Bounded, Commutative, SelfInverse
from vyre_extras.promise import promise

U32 = DataType.U32


def least(x: Expr, y: Expr) -> Expr:
    return Select(x < y, x, y)


def _cell(i: int, j: int) -> Expr:
    return Var(f"d{i}{j}") if i and j else LitU32(i + j)


def _step(i: int, j: int) -> Let:
    differ = (((Var("a") >> (8 * i - 8)) ^ (Var("b") >> (8 * j - 8))) & 255).ne(0)
    return Let(f"d{i}{j}", least(least(_cell(i - 1, j), _cell(i, j - 1)) + 1, _cell(i - 1, j - 1) + differ))


DISTANCE = Op(
    "extras.edit.distance",
    (Param("a", U32), Param("b", U32)),
    U32,
    _cell(4, 4),
    tuple(_step(i, j) for i in range(1, 5) for j in range(1, 5)),
    doc="The edit distance of the four bytes of each word.",
)


def distance(d: Any, a: Any, b: Any) -> Any:
    def byte(word: Any, k: int) -> Any:
        return d.and_(d.shr(word, d.const(8 * k)), d.const(255))

    row = [d.const(j) for j in range(5)]
    for i in range(4):
        above, row = row, [d.const(i + 1)]
        for j in range(4):
            found = d.add(above[j], d.ne(byte(a, i), byte(b, j)))
            for other in (d.add(above[j + 1], d.const(1)), d.add(row[j], d.const(1))):
                found = d.ite(d.ult(other, found), other, found)
            row.append(found)
    return row[4]


SPEC = promise(
    DISTANCE,
    distance,
    Commutative(),
    SelfInverse(0),
    Bounded(0, 4),
    edges=(0, 0x61626364, 0x62636461, 0x61616161, 0x616263, 0xFFFFFFFF),
)
