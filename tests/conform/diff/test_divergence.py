"""The first value on which two backends part: element, writer, operation."""

from __future__ import annotations

import pytest

from tests.wrong.values import Wrong, minimum_is_maximum, off_by_one_popcount
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.diff.differential import INTEGER_PROGRAMS, Agreement, judge
from vyre.conform.diff.divergence import Divergence, diverge
from vyre.conform.diff.host_data import grid_for, host_inputs, value_text
from vyre.conform.diff.trace import trace_program
from vyre.conform.generate.programs import generate_program
from vyre.errors import DispatchError, ValidationError
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import Expr, LitU32, LocalId, MakeVec, UnOp, Var
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Store
from vyre.ir.operators import UnaryOp
from vyre.reference import run

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
REFERENCE = ReferenceBackend()


def parted(program: Program, fault: Wrong, *, length: int = 8) -> Divergence:
    inputs = host_inputs(program, {}, seed=1, length=length)
    found = diverge(program, inputs, grid_for(program, inputs, None), REFERENCE, fault)
    assert found is not None
    return found


def popcount(x: Expr) -> Expr:
    return UnOp(UnaryOp.Popcount, x)


def test_equal_backends_do_not_part() -> None:
    for seed in range(5):
        g = generate_program(seed, INTEGER_PROGRAMS)
        assert diverge(g.program, g.inputs, g.workgroups, REFERENCE, ReferenceBackend()) is None


def test_the_operation_at_fault_is_named_with_both_values() -> None:
    body = [Let("x", A[ID] ^ 5), Let("y", popcount(Var("x") * 3) + 1), OUT.store(ID, Var("y") * 2)]
    found = parted(Program([A, OUT], [4], body), Wrong(off_by_one_popcount))
    assert (found.buffer, found.element, found.type) == ("out", 0, DataType.U32)
    assert [w.path for w in found.writers] == ["entry[2]"]
    value = found.intermediate
    assert value is not None
    assert value.path == "entry[1]"
    assert value.expression == "popcount(x * 3)"
    assert value.statement == "let y = popcount(x * 3) + 1"
    assert value.second == value.first + 1
    assert value.invocation == (0, 0, 0)


def test_the_invocation_that_wrote_the_element_is_the_one_that_is_asked() -> None:
    guarded = If(ID.eq(5), (OUT.store(ID - 2, popcount(A[ID])),))
    found = parted(Program([A, OUT], [4], [guarded]), Wrong(off_by_one_popcount))
    assert found.element == 3
    assert found.intermediate is not None
    assert found.intermediate.invocation == (5, 0, 0)


def test_the_turn_of_a_loop_is_counted() -> None:
    turn: list[Node] = [
        If(Var("k").eq(3), (Assign("n", Var("n") + popcount(Var("k"))),), (Assign("n", Var("n") + 1),)),
    ]
    body = [Let("n", LitU32(0)), Loop("k", LitU32(0), LitU32(5), turn), OUT.store(ID, Var("n"))]
    found = parted(Program([A, OUT], [1], body), Wrong(off_by_one_popcount), length=1)
    assert found.intermediate is not None
    assert found.intermediate.path == "entry[1].body[0].then[0]"
    assert found.intermediate.expression == "popcount(k)"


def test_a_value_read_from_shared_memory_leads_to_the_one_who_computed_it() -> None:
    tile = BufferDecl.workgroup("tile", DataType.U32, 4)
    body = [
        tile.store(LocalId(0), popcount(A[ID]) * LocalId(0).eq(3)),
        Barrier(),
        OUT.store(ID, tile[LitU32(3) - LocalId(0)]),
    ]
    found = parted(Program([A, OUT, tile], [4], body), Wrong(off_by_one_popcount), length=4)
    assert found.element == 0
    assert found.intermediate is not None
    assert found.intermediate.path == "entry[0]"
    assert found.intermediate.expression == "popcount(a[invocation.x])"


def test_atomics_are_writers_too() -> None:
    from vyre.ir.expr import Atomic
    from vyre.ir.operators import AtomicOp

    body = [Let("old", Atomic(AtomicOp.Min, "out", LitU32(0), A[ID]))]
    found = parted(Program([A, OUT], [4], body), Wrong(minimum_is_maximum))
    assert [w.path for w in found.writers] == ["entry[0]"]
    assert "atomic_min" in found.writers[0].text


def test_wide_values_are_shown_whole() -> None:
    wide = BufferDecl.read_write("wide", 2, DataType.Vec4U32)
    lanes = [ID, LitU32(7), popcount(A[ID]), LitU32(9)]
    body = [Let("v", MakeVec(DataType.Vec4U32, lanes)), wide.store(ID, Var("v"))]
    found = parted(Program([A, wide], [4], body), Wrong(off_by_one_popcount))
    assert found.type is DataType.Vec4U32
    assert found.second - found.first == 1 << 64
    assert found.intermediate is not None
    assert found.intermediate.expression == "popcount(a[invocation.x])"


def test_generated_programs_lead_to_the_operation_that_is_wrong() -> None:
    named = 0
    for seed in range(25):
        g = generate_program(seed, INTEGER_PROGRAMS)
        if judge(g, Wrong(off_by_one_popcount))[0] is not Agreement.Differs:
            continue
        found = diverge(g.program, g.inputs, g.workgroups, REFERENCE, Wrong(off_by_one_popcount))
        assert found is not None
        assert found.intermediate is not None
        assert found.intermediate.expression.startswith("popcount(")
        named += 1
    assert named >= 2


def test_a_log_does_not_change_the_results() -> None:
    for seed in range(15):
        g = generate_program(seed, INTEGER_PROGRAMS)
        from vyre.compose.inline import inline

        flat = inline(g.program)
        traced = trace_program(flat, watched=(flat.buffers[-1].name, 0))
        plain = run(flat, g.inputs, g.workgroups, check=False).buffers
        inputs = {**g.inputs, **traced.inputs((0, 0, 0))}
        logged = run(traced.program, inputs, g.workgroups, check=False)
        assert {name: logged.buffers[name] for name in plain} == plain
        assert list(traced.entries(logged.buffers))


def test_a_program_without_room_for_a_log_says_so() -> None:
    many = [BufferDecl.read_write(f"b{k}", k, DataType.U32, count=1) for k in range(255)]
    program = Program(many, [1], [many[0].store(0, popcount(LitU32(3)))])
    with pytest.raises(ValidationError):
        trace_program(program)
    found = parted(program, Wrong(off_by_one_popcount))
    assert found.intermediate is None
    assert "cannot be logged" in found.note


def test_inputs_follow_the_seed_and_the_rules_of_a_dispatch() -> None:
    program = Program([A, OUT], [4], [Store("out", ID, A[ID])])
    first, same, other = (host_inputs(program, {}, seed=s, length=9) for s in (1, 1, 2))
    assert first == same != other
    assert len(first["a"]) == 36
    assert grid_for(program, first, None) == (3, 1, 1)
    assert grid_for(program, first, (2, 5)) == (2, 5, 1)
    with pytest.raises(DispatchError, match="no buffer 'b'"):
        host_inputs(program, {"b": b""}, seed=0, length=1)


@pytest.mark.parametrize(
    ("bits", "t", "text"),
    [
        (0xFFFFFFFF, DataType.I32, "0xFFFFFFFF  -1"),
        (0x7FC00000, DataType.F32, "0x7FC00000  nan"),
        (0x3C00, DataType.F16, "0x3C00  1.0"),
        (0xBF80, DataType.BF16, "0xBF80  -1.0"),
        (1 << 32, DataType.Vec2U32, "0x0000000100000000  (0, 1)"),
        (1, DataType.Bool, "0x00000001  true"),
        (0x3FF0000000000000, DataType.F64, "0x3FF0000000000000  1.0"),
        (7, DataType.U128, f"0x{7:032X}  7"),
    ],
)
def test_values_are_shown_as_bits_and_as_their_type(bits: int, t: DataType, text: str) -> None:
    assert value_text(bits, t) == text
