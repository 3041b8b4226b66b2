"""Programs with instructions, and the instructions themselves, come back from text and from bytes."""

from __future__ import annotations

import pytest

from vyre.compose import BackendAvailability, Category, Op, Param, inline
from vyre.errors import ParseError
from vyre.ir import BufferDecl, DataType, LocalId, Program
from vyre.ir.expr import Call, Expr, Literal, MakeVec
from vyre.ir.node import Store
from vyre.ops.intrinsics import intrinsic_ops
from vyre.text import parse_op, parse_program, print_op
from vyre.wire import meaning_digest


def operand(t: DataType, number: int) -> Expr:
    if t is DataType.F64:
        return Literal(t, number)
    return MakeVec(t, [LocalId(0) + number] * t.lanes) if t.lanes > 1 else LocalId(0) + number


def program(op: Op) -> Program:
    call = Call(op.id, [operand(param.type, number) for number, param in enumerate(op.params)])
    value = Call("integer.min", (call, call + 1)) if op.output is DataType.U32 else call
    return Program([BufferDecl.read_write("out", 0, op.output)], (64,), [Store("out", LocalId(0), value)])


@pytest.mark.parametrize("op", intrinsic_ops(), ids=lambda op: op.id)
def test_round_trips(op: Op) -> None:
    assert parse_op(print_op(op)) == op
    for made in (program(op), inline(program(op))):
        assert parse_program(made.to_text()) == made
        assert Program.from_wire(made.to_wire()) == made


def test_different_instructions_have_different_meanings() -> None:
    digests = {meaning_digest(inline(program(op))) for op in intrinsic_ops()}
    assert len(digests) == len(intrinsic_ops())


def test_an_instruction_reads_like_this() -> None:
    op = Op(
        "acme.rcp",
        (Param("x", DataType.U32),),
        DataType.U32,
        None,
        category=Category.C,
        hardware='unit "rcp"',
        backend_availability=BackendAvailability(("mine", "yours")),
    )
    text = (
        "op acme.rcp(x: U32) -> U32 {\n"
        "  category C\n"
        '  hardware "unit \\"rcp\\"" lanes 1\n'
        '      backends "mine" "yours"\n'
        "}\n"
    )
    assert print_op(op) == text
    assert parse_op(text) == op


@pytest.mark.parametrize(
    "declared",
    [
        'hardware "u.r" 1 backends "mine"',
        'hardware "u.r" lanes 0 backends "mine"',
        'hardware "u.r" lanes 3 backends "mine"',
        'hardware "u.r" lanes 1 where "x"',
        'hardware "u.r" lanes 1 backends "mine" where 3',
        'hardware "" lanes 8 backends "mine"',
    ],
)
def test_mistakes_are_told_at_their_place(declared: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_op(f"op acme.rcp(x: U32) -> U32 {{\n  category C\n  {declared}\n}}")
    assert caught.value.fix


def test_a_variable_may_be_called_hardware() -> None:
    text = "op acme.same(hardware: U32) -> U32 {\n  let lanes = hardware\n  => lanes\n}\n"
    assert print_op(parse_op(text)) == text
