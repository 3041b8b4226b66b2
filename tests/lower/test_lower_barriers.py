"""OpenCL's barriers are met by every invocation, whatever branches and returns stand around them."""

from __future__ import annotations

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program, WorkgroupId
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import GeneratedProgram, generate_program
from vyre.ir.expr import LitU32, LocalId
from vyre.ir.node import Barrier, Block, If, Loop, Node, Return, Store
from vyre.ir.walk import statements
from vyre.lower.barriers import free_barriers
from vyre.lower.prepare import prepare
from vyre.reference import run

OUT = BufferDecl.read_write("out", 0, DataType.U32, count=64)
TILE = BufferDecl.workgroup("tile", DataType.U32, 8)
ID, GROUP = InvocationId(0), WorkgroupId(0)


def program(*entry: Node) -> Program:
    return Program([OUT, TILE], [8], entry)


def conditional(entry: tuple[Node, ...]) -> bool:
    """Whether a barrier stands in a branch, or a return anywhere beside barriers."""
    kinds = {type(n) for _, n in statements(entry)}
    inside = any(
        isinstance(x, Barrier)
        for _, n in statements(entry)
        if isinstance(n, If)
        for body in n.bodies
        for _, x in statements(body)
    )
    return inside or {Barrier, Return} <= kinds


def same_bytes(case: GeneratedProgram) -> bool:
    """The rewritten program, run by the reference, against the program itself."""
    before = run(case.program, case.inputs, case.workgroups).buffers
    prepared = free_barriers(prepare(case.program))
    assert not conditional(prepared.entry)
    after = Program(prepared.buffers, prepared.workgroup_size, prepared.entry)
    return run(after, case.inputs, case.workgroups).buffers == before


@pytest.mark.parametrize(
    "entry",
    [
        (Store("out", ID, LitU32(1)), If(ID, (Return(),))),
        (Barrier(), Store("out", ID, LitU32(1)), If(ID, (Store("out", ID, LitU32(2)),))),
        (Loop("k", LitU32(0), LitU32(3), (Barrier(), Block((Barrier(),)))),),
    ],
)
def test_programs_that_are_free_already_stay_as_they_are(entry: tuple[Node, ...]) -> None:
    prepared = prepare(program(*entry))
    assert free_barriers(prepared) is prepared


def test_a_barrier_in_a_branch_is_set_free() -> None:
    exchange = (Store("tile", LocalId(0), ID), Barrier(), Store("out", ID, TILE[LitU32(7) - LocalId(0)]))
    entry = (If(GROUP % 2, exchange, (Barrier(), Store("out", ID, LitU32(9)))),)
    assert conditional(prepare(program(*entry)).entry)
    assert same_bytes(GeneratedProgram(0, program(*entry), {}, (4, 1, 1)))


def test_a_barrier_behind_a_return_is_set_free() -> None:
    entry = (
        Store("tile", LocalId(0), ID),
        If(GROUP.eq(1), (Store("out", ID, LitU32(5)), Return())),
        Barrier(),
        Loop("k", LitU32(0), LitU32(3), (If(GROUP.eq(2), (Return(),)), Barrier())),
        If(ID % 3, (Store("out", ID, TILE[LocalId(0) ^ 1]), Return())),
        Store("out", ID, LitU32(77)),
    )
    assert same_bytes(GeneratedProgram(0, program(*entry), {}, (4, 1, 1)))


def test_generated_programs_keep_their_bytes() -> None:
    changed = 0
    for seed in range(120):
        case = generate_program(seed, INTEGER_PROGRAMS)
        prepared = prepare(case.program)
        if free_barriers(prepared) is not prepared:
            changed += 1
            assert same_bytes(case), seed
    assert changed > 20
