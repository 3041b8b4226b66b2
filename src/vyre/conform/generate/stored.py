"""Generated programs over I8, U8, I16, U16 and I64: some buffers of a finished program get narrower elements.

A U32 is loaded from a U8 or U16, an I32 from an I8 or I16, a U64 from an I64, and a store takes what it took
before. So the program stays valid, and free of races: the elements are as many as they were, and whose they
were. Buffers with atomics stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from vyre.ir.expr import Atomic
from vyre.ir.types import DataType
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

_T = DataType
_NARROWER = {
    _T.U32: (_T.U8, _T.U16),
    _T.I32: (_T.I8, _T.I16),
    _T.U64: (_T.I64,),
}


def with_stored_integers(
    seed: int, program: Program, inputs: Mapping[str, bytes]
) -> tuple[Program, dict[str, bytes]]:
    """Both as they are, or, for one seed in three, with the elements of some buffers narrowed."""
    rng = Random(f"vyre stored integers {seed}")
    given = dict(inputs)
    if rng.randrange(3):
        return program, given
    updated = {x.buffer for x in expressions(program.entry) if isinstance(x, Atomic)}
    buffers: list[BufferDecl] = []
    for decl in program.buffers:
        choices = () if decl.name in updated else _NARROWER.get(decl.element, ())
        if choices and rng.randrange(4):
            element = rng.choice(choices)
            low = partial(_low, wide=decl.element.stride, narrow=element.stride)
            if decl.name in given:
                given[decl.name] = low(given[decl.name])
            buffers.append(replace(decl, element=element, data=low(decl.data)))
        else:
            buffers.append(decl)
    return replace(program, buffers=tuple(buffers)), given


def _low(data: bytes, *, wide: int, narrow: int) -> bytes:
    """The low bytes of every element."""
    return b"".join(data[at : at + narrow] for at in range(0, len(data), wide))
