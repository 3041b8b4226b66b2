"""The definitions of the operators against the reference interpreter, which shares nothing with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.ir import BufferDecl, DataType, LitU32, Program, Store
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.reference import integers, run
from vyre.semantics import operators
from vyre.semantics.arrays import NUMPY
from vyre.semantics.domain import CONCRETE
from vyre.semantics.emitted import IrDomain
from vyre.semantics.solvers import Answer, solve
from vyre.semantics.spellings import CALLED, DIRECT, PRELUDE
from vyre.semantics.terms import SmtDomain
from vyre.semantics.vector import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.semantics.evaluate import Definition, Spelling

    Words = NDArray[np.uint32]

Operator = BinaryOp | UnaryOp
OPERATORS: tuple[Operator, ...] = (*operators.BINARY, *operators.UNARY)
EDGES = (0, 1, 2, 31, 32, 33, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF)
WORDS = 1_000_000


def definition_of(op: Operator) -> Definition:
    return operators.BINARY[op] if isinstance(op, BinaryOp) else operators.UNARY[op]


def truth_of(op: Operator) -> Callable[..., int]:
    return integers.BINARY[op] if isinstance(op, BinaryOp) else integers.UNARY[op]


def arity(op: Operator) -> int:
    return 2 if isinstance(op, BinaryOp) else 1


def bytes_of(op: Operator) -> list[Words]:
    """All pairs of u8, or all u8."""
    every = np.arange(256, dtype=np.uint32)
    return [np.repeat(every, 256), np.tile(every, 256)] if arity(op) == 2 else [every]


def words_of(op: Operator, count: int) -> list[Words]:
    """Random words of every size, edges among them."""
    rng = np.random.default_rng(OPERATORS.index(op))
    columns: list[Words] = []
    for _ in range(arity(op)):
        column = rng.integers(0, 1 << 32, count, dtype=np.uint32) >> rng.integers(
            0, 32, count, dtype=np.uint32
        )
        edges = rng.integers(0, count, count // 16)
        column[edges] = rng.choice(np.array(EDGES, np.uint32), edges.size)
        columns.append(column)
    return columns


def differences(op: Operator, definition: Definition, columns: list[Words]) -> int:
    """How many words on arrays are not the reference's."""
    got = np.broadcast_to(definition(NUMPY, *columns), columns[0].shape)
    wanted = np.fromiter(map(truth_of(op), *(c.tolist() for c in columns)), np.uint32, columns[0].size)
    return int(np.count_nonzero(got != wanted))


def test_the_table_has_every_operator_of_the_reference() -> None:
    assert set(operators.BINARY) == set(integers.BINARY)
    assert set(operators.UNARY) == set(integers.UNARY)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.value)
def test_all_bytes_and_a_million_words_agree(op: Operator) -> None:
    definition = definition_of(op)
    for columns in (bytes_of(op), words_of(op, WORDS)):
        assert differences(op, definition, columns) == 0
        assert definition not in ARRAYS or differences(op, ARRAYS[definition], columns) == 0


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.value)
def test_integers_and_compositions_agree(op: Operator) -> None:
    columns = words_of(op, 64)
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    wanted = [truth_of(op)(*row) for row in rows]
    assert [definition_of(op)(CONCRETE, *row) for row in rows] == wanted
    assert composed(op, columns) == wanted


def composed(op: Operator, columns: list[Words]) -> list[int]:
    """The definition as a program of the language, run by the interpreter."""
    u32, count = DataType.U32, columns[0].size
    inputs = [BufferDecl.read(f"in{k}", k, u32, count=count) for k in range(len(columns))]
    out = BufferDecl.read_write("out", len(inputs), u32, count=count)
    body: list[Any] = []
    for i in range(count):
        d = IrDomain(prefix=f"w{i}_")
        result = definition_of(op)(d, *(b[LitU32(i)] for b in inputs))
        body += [*d.lets, Store("out", LitU32(i), result)]
    given = {b.name: c.tobytes() for b, c in zip(inputs, columns, strict=True)}
    found = run(Program((*inputs, out), (1, 1, 1), body), given, (1, 1, 1), check=False)
    return np.frombuffer(found.buffers["out"], np.uint32).tolist()


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.value)
def test_solvers_read_every_spelling_as_the_reference_does(op: Operator) -> None:
    pytest.importorskip("bitwuzla")
    rows = list(zip(*(c.tolist() for c in words_of(op, 8)), strict=True))
    definition = definition_of(op)
    spellings: tuple[Spelling, ...] = ({}, DIRECT, CALLED)
    for spelling in spellings:
        d = SmtDomain(nested=bool(spelling))
        wrong = [
            f"(distinct {spelling.get(definition, definition)(d, *map(d.const, row)).name} "
            f"{d.const(truth_of(op)(*row)).name})"
            for row in rows
        ]
        text = d.query(f"(or {' '.join(wrong)})")
        if spelling is CALLED:
            text = PRELUDE + text.partition("\n")[2]
        assert solve(text).answer is Answer.Unsat


def _division_by_zero_gives_ones(d: Any, a: Any, b: Any) -> Any:
    return d.ite(b, d.udiv(a, b), d.const(0xFFFF_FFFF))


def _shift_saturates(d: Any, a: Any, b: Any) -> Any:
    return d.ite(d.ult(b, d.const(32)), d.shl(a, b), d.const(0))


def _product_without_the_carry(d: Any, a: Any, b: Any) -> Any:
    half = d.const(16)
    return d.mul(d.shr(a, half), d.shr(b, half))


@pytest.mark.parametrize(
    ("op", "wrong"),
    [
        (BinaryOp.Div, _division_by_zero_gives_ones),
        (BinaryOp.Shl, _shift_saturates),
        (BinaryOp.MulHi, _product_without_the_carry),
        (UnaryOp.Ctz, operators.clz),
        (BinaryOp.Le, operators.lt),
    ],
)
def test_a_wrong_definition_is_seen(op: Operator, wrong: Definition) -> None:
    assert differences(op, wrong, words_of(op, 10_000)) + differences(op, wrong, bytes_of(op)) > 0
