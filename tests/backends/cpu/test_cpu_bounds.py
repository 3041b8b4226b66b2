"""How often loops turn at most, where their ends are the least of two or a quotient."""

from __future__ import annotations

from vyre.backends.cpu.estimate import most_work
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BufLen, Expr, LitU32, Load, Select
from vyre.ir.node import Let, Loop, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.prepare import prepare

OUT = BufferDecl.read_write("out", 0, DataType.U32)


def bound(stop: Expr, length: int) -> int:
    """Of a loop to `stop` over a buffer of so many elements, whose first one nobody knows."""
    body = [
        Let("x", Load("out", LitU32(0))),
        Loop("k", LitU32(0), stop, [Store("out", LitU32(0), LitU32(7))]),
    ]
    return most_work(prepare(Program([OUT], (1, 1, 1), body))).most([length])


def test_the_least_of_a_number_and_something_unknown_is_the_number() -> None:
    x = Load("out", LitU32(1))
    unknown, least = bound(x, 64), bound(Select(x < 100, x, LitU32(100)), 64)
    assert unknown > 1 << 32
    assert least < 1000
    # The other way round it is the greatest of the two.
    assert bound(Select(x < 100, LitU32(100), x), 64) > 1 << 32


def test_a_quotient_is_as_much_less() -> None:
    whole, part, shifted = (
        bound(stop, 1 << 20) for stop in (BufLen("out"), BufLen("out") // 1000, BufLen("out") >> 10)
    )
    assert whole > 1 << 20
    assert part < whole // 500
    assert shifted < whole // 500
    # What is not known may be 1.
    assert bound(BufLen("out") // Load("out", LitU32(1)), 1 << 20) >= 1 << 20
