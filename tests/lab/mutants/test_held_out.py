"""The shaped mutants that were written without knowing the shapes: sound as a set, of sound parts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lab.mutants.shaped import FAULTS, ShapedMutant, when, wrong
from lab.mutants.shaped.held_out import held_out
from lab.mutants.shaped.held_out.table import KNOWN
from vyre.backends.cpu.backend import CpuBackend
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, Expr, InvocationId, LitU32, Load, f32, fadd
from vyre.ir.limits import MAX_NODES
from vyre.ir.node import Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.node import Node

OUT = BufferDecl.read_write("out", 0, DataType.U32)
HERE = InvocationId(0)


def results(mutant: ShapedMutant, program: Program) -> bytes:
    memory = bytearray(16)
    wrong(CpuBackend(), mutant).compile(program).run({"out": memoryview(memory)}, (1, 1, 1))
    return bytes(memory)


def program(body: Sequence[Node], *more: BufferDecl) -> Program:
    return Program((OUT, *more), (4, 1, 1), body)


def test_every_mutant_has_its_name_and_one_or_two_conditions() -> None:
    found = held_out()
    assert not [name for name, n in Counter(m.name for m in found).items() if n > 1]
    conditions = Counter(len(m.trigger.tests) for m in found)
    assert set(conditions) == {1, 2}
    assert min(conditions.values()) >= 175


def test_every_fault_of_its_own_is_used() -> None:
    assert KNOWN.keys() - FAULTS.keys() <= {m.fault.name for m in held_out()}


@pytest.mark.parametrize("name", ["FAdd off in the last place", "tiny results of FAdd flushed"])
def test_a_float_fault_stays_small_in_a_deep_chain(name: str) -> None:
    value: Expr = Cast(DataType.F32, HERE + 1)
    for _ in range(40):
        value = fadd(value, f32(1.1))
    chain = program([Store("out", HERE, Cast(DataType.U32, value))])
    changed = KNOWN[name].change(chain)
    assert changed != chain
    assert changed.size < MAX_NODES


def test_a_program_with_private_memory_and_a_table_is_read() -> None:
    table = BufferDecl.constant("table", DataType.U32, b"".join(k.to_bytes(4, "little") for k in range(5)))
    body = [
        Store("own", LitU32(5), Load("table", HERE) + 7),
        Store("out", HERE, Load("own", LitU32(5))),
    ]
    made = program(body, BufferDecl.private("own", DataType.U32, 8), table)
    fault = KNOWN["constant table read one on"]
    right = results(ShapedMutant(fault, when("access = Private", "workgroup x odd")), made)
    found = results(ShapedMutant(fault, when("access = Private", "workgroup x = 4")), made)
    assert list(right[::4]) == [7, 8, 9, 10]
    assert list(found[::4]) == [8, 9, 10, 11]
