"""Inputs that the backend makes itself, from the number of the case.

The random generator is a composition of the language, so a kernel can write its own operands where they are
used, several times faster than the host could. All of them are held against the host's (`host_inputs.py`);
where one is another, that is a fault of the backend, and the host's own inputs are used instead, as they are
where a comparison fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.execute import execute
from vyre.conform.process.inspection import inspect
from vyre.conform.spec.program import WORKGROUP
from vyre.conform.verify.bench import grid_of
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, InvocationId, LitU32, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.host_inputs import Mistake
    from vyre.conform.verify.layout import Memory

    Words = NDArray[np.uint32]

U32 = DataType.U32
_WORD = 1 << 32


def maker_program(stream: CaseStream, *, positions: Sequence[int] | None = None) -> Program:
    """Invocation i writes the operand words of case start + i; `start` is the number's two halves.

    `positions` are the words that are wanted, all of them unless some are named.
    """
    start = BufferDecl.read("start", 0, U32, count=2)
    wanted = range(stream.words) if positions is None else positions
    outputs = [BufferDecl.read_write(f"w{k}", n + 1, U32) for n, k in enumerate(wanted)]
    low: Expr = start[LitU32(0)] + Var("i")
    lets, words = stream.statements(Var("low"), Var("high"), prefix="m")
    stores = [Store(b.name, Var("i"), words[k]) for b, k in zip(outputs, wanted, strict=True)]
    body: list[Node] = [Let("low", low), Let("high", start[LitU32(1)]), *lets, *stores]
    entry: list[Node] = [Let("i", InvocationId(0)), If(Var("i") < outputs[0].length, body)]
    return Program((start, *outputs), WORKGROUP, entry)


class InputMaker:
    """The operands of one stream, made by a backend."""

    def __init__(self, bench: Bench, stream: CaseStream, memory: Memory) -> None:
        self._held = bench.inputs
        self._stream = stream
        self._memory = memory
        self._program = maker_program(stream)
        self._executable = bench.backend.compile(self._program)

    @property
    def source(self) -> str:
        """What the backend made of the generator, where it tells."""
        return inspect(self._executable).source

    def block(self, start: int, count: int) -> dict[int, Words] | None:
        """Operand words of these cases by position; None where the host should make them."""
        low = start % _WORD
        if low + count > _WORD:
            return None
        self._memory.reset()
        words = [self._memory.take(U32, count) for _ in range(self._stream.words)]
        first = np.array([low, start // _WORD], np.uint32)
        memory = {"start": first, **{f"w{k}": w for k, w in enumerate(words)}}
        execute(self._executable, self._program, memory, grid_of(count))
        return dict(enumerate(words))

    def mistake(self, start: int, words: dict[int, Words]) -> Mistake | None:
        """What is wrong with words that `block` gave, once they have been used."""
        return self._held.mistake(self._stream, words, start)
