"""I8, U8, I16, U16 and I64 are elements of buffers: what a store to them takes, and that no value is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vyre.compose import Op, Param
from vyre.errors import OpError
from vyre.ir import (
    Atomic,
    AtomicOp,
    BufferDecl,
    Cast,
    Convert,
    DataType,
    FReduce,
    Let,
    Literal,
    LitI32,
    LitU32,
    MakeVec,
    Program,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    Var,
)
from vyre.ir.types import NARROW_TYPES, STORED_TYPES
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.ir.expr import Expr

T = DataType
STORED = sorted(STORED_TYPES, key=lambda t: t.value)
VALUES: dict[DataType, Expr] = {
    T.U32: LitU32(1),
    T.I32: LitI32(-1),
    T.U64: Literal(T.U64, 1),
    T.F32: Literal(T.F32, 0),
    T.Bool: Cast(T.Bool, LitU32(1)),
}


def codes(decl: BufferDecl, *entry: Let) -> list[str]:
    return [d.code for d in validate(Program([decl], (1,), entry))]


@pytest.mark.parametrize("element", STORED)
def test_stores_take_words_of_either_sign_and_i64_takes_its_lanes(element: DataType) -> None:
    decl = BufferDecl.read_write("x", 0, element)
    taken = {T.U32, T.I32} if element in NARROW_TYPES else {T.U64}
    for t, value in VALUES.items():
        found = validate(Program([decl], (1,), [decl.store(0, value)]))
        assert [d.code for d in found] == ([] if t in taken else ["V036"]), (element, t)


@pytest.mark.parametrize("element", STORED)
def test_nothing_but_loads_and_stores_touches_such_an_element(element: DataType) -> None:
    decl = BufferDecl.read_write("x", 0, element)
    assert codes(decl, Let("a", decl[0]), Let("n", decl.length)) == []
    assert codes(decl, Let("a", Atomic(AtomicOp.Add, "x", LitU32(0), LitU32(1)))) == ["V014"]
    fold = FReduce(ReduceOrder.Strict, ReduceOp.Add, "x", LitU32(0), LitU32(1))
    assert codes(decl, Let("a", fold)) == ["V026"]


@pytest.mark.parametrize("element", STORED)
def test_no_value_is_of_such_a_type(element: DataType) -> None:
    decl = BufferDecl.read_write("x", 0, element)
    [cast] = validate(Program([decl], (1,), [Let("a", Cast(element, LitU32(1)))]))
    assert cast.code == "V012"
    assert f"a store to a buffer of {element.value} keeps the low {element.bits} bits" in cast.fix
    assert codes(decl, Let("a", Convert(element, RoundMode.Nearest, Literal(T.F32, 0)))) == ["V026"]
    assert codes(decl, Let("a", MakeVec(element, (LitU32(1), LitU32(1))))) == ["V026"]
    for params, output in [((Param("a", element),), T.U32), ((), element)]:
        with pytest.raises(OpError, match=f"is {element.value}, a type of buffer elements") as caught:
            Op("acme.narrow", params, output, LitU32(1))
        assert f"declare {element.loaded.value}" in caught.value.fix


@pytest.mark.parametrize("element", STORED)
def test_a_loaded_element_has_the_type_of_its_width(element: DataType) -> None:
    decl = BufferDecl.read_write("x", 0, element)
    loaded = {T.I8: T.I32, T.I16: T.I32, T.I64: T.U64}.get(element, T.U32)
    out = BufferDecl.read_write("out", 1, loaded)
    program = Program([decl, out], (1,), [Let("a", decl[0]), out.store(0, Var("a"))])
    assert validate(program) == []
