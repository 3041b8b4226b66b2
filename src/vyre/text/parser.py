"""Text to programs, ops and expressions; every mistake is a `ParseError` with line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.errors import OpError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.op import BackendAvailability, Category, Op, Param
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.text.climbing import expression
from vyre.text.functions import member
from vyre.text.operands import op_id
from vyre.text.reading import expect_end, expect_header, expect_word, reading, take_word
from vyre.text.statements import Body, check_size
from vyre.text.tables import table
from vyre.text.vocabulary import ACCESS_WORDS

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.text.lexer import Cursor

_ACCESS: Final = {word: access for access, word in ACCESS_WORDS.items()}


def parse_program(text: str, *, file: str = "<text>") -> Program:
    """The program of a text. Its statements know the lines they came from (`Program.locations`)."""
    with reading(text, file) as c:
        return _program(c)


def parse_expr(text: str) -> Expr:
    """The expression of a text."""
    with reading(text, "<text>") as c:
        expr = expression(c)
        check_size(c, expr.size)
        expect_end(c, "an operator or the end of the expression")
        return expr


def parse_op(text: str, *, file: str = "<text>") -> Op:
    """The op of a text."""
    with reading(text, file) as c:
        return _op(c)


def _program(c: Cursor) -> Program:
    expect_header(c, "vyre", "Graph.from_text reads graphs")
    size = _workgroup(c)
    buffers: list[BufferDecl] = []
    while take_word(c, "buffer"):
        buffers.append(_buffer(c))
    if not take_word(c, "entry"):
        raise c.error(
            f"expected `buffer` or `entry`, found {c.describe()}.",
            fix="declare buffers as `buffer a: readonly U32 @0`, then write `entry { … }`.",
        )
    body = Body(c, "entry")
    c.expect("{", context="after `entry`", fix="write entry { … }.")
    entry = body.statements()
    expect_end(c, "the end of the program")
    return Program(buffers, size, entry, locations=body.locations())


def _op(c: Cursor) -> Op:
    if not take_word(c, "op"):
        raise c.error(
            f"expected `op`, found {c.describe()}.", fix="start with op acme.mix(a: U32) -> U32 { … }."
        )
    start = c.at
    name = op_id(c)
    params = _params(c)
    c.expect("->", context="after the parameters", fix="write the result type, as in -> U32.")
    output = member(c, DataType, "a type")
    c.expect("{", context="after the result type", fix="write the body, as in { => a + 1 }.")
    category = Category.A
    if c.kinds[c.at + 1 : c.at + 2] == ["name"] and take_word(c, "category"):
        category = member(c, Category, "a category")
    hardware, backends, lanes = _hardware(c) if c.kinds[c.at + 1 : c.at + 2] == ["string"] else _NO_HARDWARE
    doc: list[str] = []
    if c.kinds[c.at + 1 : c.at + 2] == ["string"] and take_word(c, "doc"):
        while c.take("string"):
            doc.append(c.values[c.at - 1])
    body = Body(c, "body")
    nodes = body.statements(result=True)
    expect_end(c, "the end of the op")
    try:
        return Op(name, params, output, body.result, nodes, category, "".join(doc), hardware, backends, lanes)
    except OpError as error:
        raise c.error(error.message, fix=error.fix, at=start) from None


_Hardware = tuple[str, BackendAvailability | None, int]
_NO_HARDWARE: _Hardware = ("", None, 1)


def _hardware(c: Cursor) -> _Hardware:
    """What an instruction declares: `hardware "unit.name" lanes 8 backends "a" "b" where "…"`."""
    if not take_word(c, "hardware"):
        return _NO_HARDWARE
    fix = 'write hardware "unit.name" lanes 1 backends "mine".'
    name = c.values[c.at]
    c.at += 1
    expect_word(c, "lanes", fix)
    lanes = c.integer("the number of lanes", low=1, fix=fix)
    expect_word(c, "backends", fix)
    backends: list[str] = []
    while c.take("string"):
        backends.append(c.values[c.at - 1])
    where = take_word(c, "where")
    if where:
        c.expect("string", context="after `where`", fix=fix)
    return name, BackendAvailability(tuple(backends), c.values[c.at - 1] if where else ""), lanes


def _workgroup(c: Cursor) -> list[int]:
    fix = "write the workgroup size as in workgroup 64 1 1."
    if not c.take("workgroup"):
        raise c.error(f"expected `workgroup`, found {c.describe()}.", fix=fix)
    size = [c.integer("a workgroup size", fix=fix)]
    while len(size) < 3 and c.kind in ("int", "-"):
        size.append(c.integer("a workgroup size", fix=fix))
    return size


def _buffer(c: Cursor) -> BufferDecl:
    name = c.name("the name of the buffer")
    c.expect(":", context="after the name", fix="write it as in buffer a: readonly U32 @0.")
    access = _ACCESS.get(c.value) if c.kind in ("name", "workgroup") else None
    if access is None:
        words = ", ".join(_ACCESS)
        raise c.error(f"expected the access of the buffer, found {c.describe()}.", fix=f"use one of {words}.")
    c.at += 1
    element = member(c, DataType, "a type")
    count, data = 0, b""
    if access is not BufferAccess.Constant and c.take("["):
        count = c.integer("the number of elements", fix="write it as in U32[64], or leave it out.")
        c.expect("]", context="after the number of elements", fix="write it as in U32[64].")
    binding = None
    if c.take("@"):
        binding = c.integer("a binding", fix="write the binding as in @0.")
    if access is BufferAccess.Constant:
        data = table(c, element)
        count = len(data) // element.stride
    return BufferDecl(name, binding, access, element, count, data)


def _params(c: Cursor) -> tuple[Param, ...]:
    fix = "write parameters as in (a: U32, b: F32)."
    c.expect("(", context="after the op id", fix=fix)
    params: list[Param] = []
    while c.kind != ")":
        name = c.name("the name of a parameter")
        c.expect(":", context="after the name", fix=fix)
        params.append(Param(name, member(c, DataType, "a type")))
        if not c.take(","):
            break
    c.expect(")", context="after the parameters", fix=fix)
    return tuple(params)
