"""Programs that several tests of the LLVM lowering look at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.ir import (
    BufferDecl,
    BufLen,
    DataType,
    If,
    InvocationId,
    Let,
    Load,
    Node,
    Program,
    Store,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.lower.llvm import LlvmSource, emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

U32 = DataType.U32
I = InvocationId(0)  # noqa: E741
A = BufferDecl.read("a", 0, U32)
B = BufferDecl.read("b", 1, U32)
OUT = BufferDecl.read_write("out", 2, U32)
TILE = BufferDecl.workgroup("tile", U32, 8)


def program(entry: Sequence[Node], *more: BufferDecl, size: Sequence[int] = (8,)) -> Program:
    return Program([A, B, OUT, *more], size, entry)


def source_of(entry: Sequence[Node], *more: BufferDecl, size: Sequence[int] = (8,)) -> LlvmSource:
    return emit(prepare(program(entry, *more, size=size)))


def popcount() -> LlvmSource:
    """`if i < len(out) { out[i] = popcount(a[i] ^ b[i]) }`."""
    i = Var("i")
    value = UnOp(UnaryOp.Popcount, Load("a", i) ^ Load("b", i))
    return source_of([Let("i", I), If(i < BufLen("out"), (Store("out", i, value),))], size=(64,))


def function(text: str, name: str) -> str:
    """The body of one function of a module."""
    found = re.search(rf"^define [^\n]*@{name}\(.*?^}}", text, re.MULTILINE | re.DOTALL)
    assert found, f"no function {name}"
    return found.group()
