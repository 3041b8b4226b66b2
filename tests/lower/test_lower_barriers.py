"""OpenCL's barriers are met by every invocation, whatever branches and returns stand around them."""

from __future__ import annotations

import re

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program, WorkgroupId
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import GeneratedProgram, generate_program
from vyre.ir.expr import LitU32, LocalId, Var
from vyre.ir.node import Barrier, Block, Break, If, Loop, Node, Return, Store
from vyre.ir.walk import statements
from vyre.lower import opencl
from vyre.lower.barriers import _is_left, free_barriers
from vyre.lower.prepare import prepare
from vyre.reference import run

OUT = BufferDecl.read_write("out", 0, DataType.U32, count=64)
TILE = BufferDecl.workgroup("tile", DataType.U32, 8)
ID, GROUP = InvocationId(0), WorkgroupId(0)
K, M = Var("k"), Var("m")


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


def left_early() -> Program:
    """Workgroups leave a loop with barriers at other turns, at its beginning or in a branch; the one inside
    has none."""
    counted = Loop("m", LitU32(0), LitU32(4), (If(M.eq(GROUP), (Break(),)), Store("out", ID, ID ^ M)))
    body = (
        If((K + GROUP).eq(4), (Store("out", ID, K), Break())),
        Store("tile", LocalId(0), ID + K),
        Barrier(),
        If(K.eq(2), (counted, If(GROUP.eq(0), (Break(),)))),
        Store("out", ID, OUT[ID] * 31 + TILE[LitU32(7) - LocalId(0)]),
        Barrier(),
    )
    return program(Loop("k", LitU32(0), LitU32(5), body), Store("out", ID, OUT[ID] + 1))


def left_by_a_break(entry: tuple[Node, ...]) -> list[str]:
    return [x.var for _, x in statements(entry) if isinstance(x, Loop) and _is_left(x)]


def test_a_loop_with_barriers_is_left_by_its_condition() -> None:
    before = prepare(left_early())
    after = free_barriers(before)
    assert left_by_a_break(before.entry) == list(after.left) == ["k"]
    assert left_by_a_break(after.entry) == []
    assert same_bytes(GeneratedProgram(0, left_early(), {}, (5, 1, 1)))


def test_opencl_ends_such_a_loop_and_no_other_by_its_condition() -> None:
    text = opencl.emit(prepare(left_early())).text
    assert re.search(r"v_k < stop_k && v_going\w* != 0u; v_k\+\+", text)
    assert re.search(r"v_m < stop_m; v_m\+\+", text)
    assert text.count("break;") == 1


def test_generated_programs_keep_their_bytes() -> None:
    changed = 0
    for seed in range(120):
        case = generate_program(seed, INTEGER_PROGRAMS)
        prepared = prepare(case.program)
        if free_barriers(prepared) is not prepared:
            changed += 1
            assert same_bytes(case), seed
    assert changed > 20
