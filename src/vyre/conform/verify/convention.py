"""The calling conventions: an op under V1, and one that needs the lookup table of V2.

A backend says which conventions it keeps; without one, the case that needs it is refused before anything is
compiled, and a program that does not have its table where the convention says is refused everywhere.
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
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, LitU32, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.signature import V1, V2
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.results import RunPlan

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


def _plain(backend: Any, seed: int, count: int) -> tuple[Any, Any]:
    left, right = random_u32(seed, count), random_u32(seed + 1, count)
    (found,) = dispatch_op(backend, spec("primitive.math.sub"), (left, right), convention=V1())
    return left - right, found


def _lookup(backend: Any, seed: int, count: int) -> tuple[Any, Any]:
    data, table = random_u32(seed, count), random_u32(seed + 1, _SYMBOLS)
    shift = np.uint32(seed % _SYMBOLS)
    compiled = compile_program(lookup_program(), backend=backend, convention=LOOKUP)
    params = np.array([shift, 0, 0, 0], np.uint32)
    found = compiled({"input": data, "params": params, "table": table}, lengths={"output": count})
    return table[(data + shift) % np.uint32(_SYMBOLS)], found["output"]


def _missing_table(backend: Any, seed: int, count: int) -> tuple[Any, Any]:
    """A program without a ReadOnly buffer on the lookup binding does not keep V2."""
    elsewhere = V2(lookup_binding=9)
    try:
        compile_program(lookup_program(), backend=backend, convention=elsewhere)
    except DispatchError:
        return np.ones(1, np.uint32), np.ones(1, np.uint32)
    return np.ones(1, np.uint32), np.zeros(1, np.uint32)


SUBJECTS = {"V1": _plain, "V2": _lookup, "V2 without its table": _missing_table}


class Conventions:
    """Each convention on a few lengths."""

    name = "convention"
    group = CASES * len(SUBJECTS)

    def count(self, plan: RunPlan) -> int:
        return self.group

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        return list(SUBJECTS)[number // CASES]

    def run(self, backend: Any, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _one(self, backend: Any, plan: RunPlan, number: int) -> Outcome:
        subject = self.subject(number)
        name = f"{self.name}/{subject}/{number}"
        ask = partial(_asked, backend, plan.seed + number, subject, name, _LENGTHS[number % CASES])
        return attempt(name, subject, lookup_program() if "V2" in subject else None, ask)


def _asked(backend: Any, seed: int, subject: str, name: str, count: int) -> Outcome:
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
        program=lookup_program().to_text() if "V2" in subject else "",
    )


STAGE = Conventions()
