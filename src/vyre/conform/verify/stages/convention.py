"""The calling conventions: asked for, found without being asked for, and refused where they are not kept.

A backend says which conventions it declares; without one, the cases that need it are refused before anything
is compiled. A program that does not have its buffers where the convention says is refused everywhere.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.dispatch import compile_program
from vyre.conform.registry import spec
from vyre.conform.verify.dispatch import dispatch_op
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt, random_u32
from vyre.errors import DispatchError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import InvocationId, LitU32, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.signature import V1, V2
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.ir.signature import Convention

U32 = DataType.U32
LOOKUP = V2(lookup_binding=3)
CASES = 3
_LENGTHS = (1, 255, 4097)
_SYMBOLS = 256


def lookup_program() -> Program:
    """An encoding map: `output[i] = table[(input[i] + params[0]) % 256]`."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    params = BufferDecl.uniform("params", 2, U32, count=4)
    table = BufferDecl.read("table", LOOKUP.lookup_binding, U32, count=_SYMBOLS)
    i = Var("i")
    symbol = (source[i] + params[LitU32(0)]) % LitU32(_SYMBOLS)
    entry = [Let("i", InvocationId(0)), If(i < output.length, [Store("output", i, table[symbol])])]
    return Program((source, output, params, table), (64, 1, 1), entry)


def affine_program() -> Program:
    """`output[i] = input[i] * params[0] + params[1]`, in the order of V1."""
    source = BufferDecl.read("input", 0, U32)
    output = BufferDecl.read_write("output", 1, U32)
    params = BufferDecl.uniform("params", 2, U32, count=4)
    i = Var("i")
    value = source[i] * params[LitU32(0)] + params[LitU32(1)]
    entry = [Let("i", InvocationId(0)), If(i < output.length, [Store("output", i, value)])]
    return Program((source, output, params), (64, 1, 1), entry)


def _plain(backend: Backend, seed: int, count: int) -> tuple[Any, Any]:
    left, right = random_u32(seed, count), random_u32(seed + 1, count)
    (found,) = dispatch_op(backend, spec("primitive.math.sub"), (left, right), convention=V1())
    return left - right, found


def _lookup(backend: Backend, seed: int, count: int, asked: Convention | None = LOOKUP) -> tuple[Any, Any]:
    data, table = random_u32(seed, count), random_u32(seed + 1, _SYMBOLS)
    shift = np.uint32(seed % _SYMBOLS)
    compiled = compile_program(lookup_program(), backend=backend, convention=asked)
    if compiled.convention != LOOKUP:
        return _answer(right=False)
    params = np.array([shift, 0, 0, 0], np.uint32)
    found = compiled({"input": data, "params": params, "table": table}, lengths={"output": count})
    return table[(data + shift) % np.uint32(_SYMBOLS)], found["output"]


def _found(backend: Backend, seed: int, count: int) -> tuple[Any, Any]:
    """V1 without being asked for."""
    data, params = random_u32(seed, count), random_u32(seed + 1, 4)
    compiled = compile_program(affine_program(), backend=backend)
    if compiled.convention != V1():
        return _answer(right=False)
    found = compiled({"input": data, "params": params}, lengths={"output": count})
    return data * params[0] + params[1], found["output"]


def _refusal(buffers: Sequence[BufferDecl], asked: Convention) -> Callable[[Any, int, int], tuple[Any, Any]]:
    """A program with these buffers must be refused under the convention."""

    def ask(backend: Backend, seed: int, count: int) -> tuple[Any, Any]:
        output = next(b for b in buffers if b.access is BufferAccess.ReadWrite)
        program = Program(buffers, (64, 1, 1), [Store(output.name, InvocationId(0), LitU32(count))])
        try:
            compile_program(program, backend=backend, convention=asked)
        except DispatchError:
            return _answer(right=True)
        return _answer(right=False)

    return ask


def _answer(*, right: bool) -> tuple[Any, Any]:
    return np.ones(1, np.uint32), np.array([right], np.uint32)


_LOOKED_UP = lookup_program().buffers
SUBJECTS: dict[str, Callable[[Any, int, int], tuple[Any, Any]]] = {
    "V1": _plain,
    "V2": _lookup,
    "V2 without its table": _refusal(_LOOKED_UP, V2(lookup_binding=9)),
    "V1 unasked": _found,
    "V2 unasked": partial(_lookup, asked=None),
    "V1 without its input": _refusal([BufferDecl.read_write("output", 7, U32)], V1()),
    "V1 out of order": _refusal(
        [BufferDecl.read_write("output", 0, U32), BufferDecl.read("input", 1, U32)], V1()
    ),
    "V1 with a table": _refusal(_LOOKED_UP, V1()),
    "V2 with its table writable": _refusal(
        [*_LOOKED_UP[:3], BufferDecl.read_write("table", LOOKUP.lookup_binding, U32)], LOOKUP
    ),
}
"""New ones go to the end: their order is part of the names of cases."""


class Conventions:
    """Every way to ask for a convention, on a few lengths."""

    name = "convention"
    group = CASES * len(SUBJECTS)

    def count(self, plan: RunPlan) -> int:
        return self.group

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        return list(SUBJECTS)[number // CASES]

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        subject = self.subject(number)
        name = f"{self.name}/{subject}/{number}"
        ask = partial(_asked, backend, plan.seed + number, subject, name, _LENGTHS[number % CASES])
        return attempt(name, subject, _program(subject), ask)


def _program(subject: str) -> Program | None:
    return {"V2": lookup_program(), "V2 unasked": lookup_program(), "V1 unasked": affine_program()}.get(
        subject
    )


def _asked(backend: Backend, seed: int, subject: str, name: str, count: int) -> Outcome:
    expected, found = SUBJECTS[subject](backend, seed, count)
    wrong = np.flatnonzero(expected != found)
    if not wrong.size:
        return Outcome(name, subject, PASSED)
    at = int(wrong[0])
    return Outcome(
        name,
        subject,
        FAILED,
        "value",
        (f"output[{at}]",),
        f"0x{int(expected[at]):X}",
        f"0x{int(found[at]):X}",
        program=program.to_text() if (program := _program(subject)) else "",
    )


STAGE = Conventions()
