"""V043: calls that double at every level are refused before anything expands them."""

from __future__ import annotations

import pytest

from vyre.compose import Op, Param, Registry
from vyre.compose.inline import inline
from vyre.errors import ValidationError
from vyre.ir import BufferDecl, Call, DataType, Expr, LitU32, Loop, Program, Store, Var
from vyre.ir.limits import MAX_EXPANSION
from vyre.reference import run
from vyre.validate import validate, validate_op

OUT = BufferDecl.read_write("out", 0, DataType.U32, count=1)


def ladder(levels: int, width: int = 2) -> Registry:
    """`t.l0` adds one; each further op calls the one below it `width` times."""
    params = (Param("x", DataType.U32),)
    ops = [Op("t.l0", params, DataType.U32, Var("x") + 1)]
    for i in range(1, levels):
        value: Expr = Var("x")
        for _ in range(width):
            value = Call(f"t.l{i - 1}", (value,))
        ops.append(Op(f"t.l{i}", params, DataType.U32, value))
    return Registry(ops)


def storing(*values: Expr) -> Program:
    return Program([OUT], (1,), [Store("out", LitU32(0), value) for value in values])


def top(registry: Registry) -> Call:
    return Call(f"t.l{len(registry) - 1}", (LitU32(1),))


def test_a_ladder_of_doubling_calls_is_refused_at_once() -> None:
    registry = ladder(32)
    program = storing(top(registry))
    (found,) = validate(program, registry=registry)
    assert (found.code, found.path) == ("V043", "entry[0].value")
    assert validate_op(registry["t.l31"], registry=registry)[0].code == "V043"
    for attempt in (
        lambda: run(program, {}, (1, 1, 1), registry=registry),
        lambda: inline(program, registry),
    ):
        with pytest.raises(ValidationError, match="V043"):
            attempt()


def test_validation_and_inlining_agree_where_the_limit_lies() -> None:
    registry = ladder(17)
    programs = [storing(*[top(registry)] * calls) for calls in range(1, 9)]
    lawful = [p for p in programs if not validate(p, registry=registry)]
    assert 0 < len(lawful) < 8
    for program in programs:
        if program in lawful:
            assert inline(program, registry).size < MAX_EXPANSION * 2
        else:
            with pytest.raises(ValidationError, match="V043"):
                inline(program, registry)


def test_thirty_two_lawful_levels_run() -> None:
    registry = ladder(32, width=1)
    assert validate(storing(top(registry)), registry=registry) == []
    result = run(storing(top(registry)), {}, (1, 1, 1), registry=registry)
    assert result.buffers["out"] == (2).to_bytes(4, "little")


def test_one_call_in_a_loop_is_one_expansion() -> None:
    registry = ladder(16)
    body = [Store("out", LitU32(0), top(registry))]
    program = Program([OUT], (1,), [Loop("i", LitU32(0), LitU32(1000), body)])
    assert validate(program, registry=registry) == []
