"""Buffers: bounds, packing, words of bytes, and what the host may hand over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.reference_programs import LID, OUT, TILE, elements, when, words
from vyre.errors import DispatchError, InterpreterError, VyreError
from vyre.ir import (
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    Cast,
    DataType,
    InvocationId,
    Let,
    LitBool,
    LitU32,
    Program,
    WorkgroupId,
)
from vyre.reference import AccessKind, run

T = DataType
U = LitU32
TOP = 0xFFFFFFFF


@pytest.mark.parametrize("index", [4, 5, 1 << 30, TOP])
def test_out_of_bounds_loads_zero_and_stores_nothing_in_storage(index: int) -> None:
    entry = [OUT.store(index, U(77)), OUT.store(0, OUT[index] + 1)]
    result = run(Program([OUT], (1,), entry), {"out": words(9, 9, 9, 9)}, (1, 1, 1), detect=True)
    assert elements(result.buffers["out"]) == [1, 9, 9, 9]
    kinds = [(finding.access.kind, finding.index, finding.length) for finding in result.report.out_of_bounds]
    assert kinds == [(AccessKind.Write, index, 4), (AccessKind.Read, index, 4)]
    assert result.report.out_of_bounds[0].access.place == "entry[0]"


@pytest.mark.parametrize("index", [8, TOP])
def test_out_of_bounds_loads_zero_and_stores_nothing_in_workgroup_memory(index: int) -> None:
    fill = [TILE.store(LID, U(5)), Barrier(), when(LID.eq(0), [TILE.store(index, U(77))]), Barrier()]
    entry = [*fill, OUT.store(LID, TILE[LID] * 100 + TILE[index])]
    result = run(Program([OUT, TILE], (8,), entry), {"out": bytes(32)}, (1, 1, 1))
    assert elements(result.buffers["out"]) == [500] * 8


@pytest.mark.parametrize("op", list(AtomicOp))
def test_out_of_bounds_atomics_return_zero_and_change_nothing(op: AtomicOp) -> None:
    expected = U(0) if op is AtomicOp.CompareExchange else None
    entry = [OUT.store(1, Atomic(op, "out", U(2), U(0xFF), expected) + 1)]
    result = run(Program([OUT], (1,), entry), {"out": words(3, 3)}, (1, 1, 1), detect=True)
    assert elements(result.buffers["out"]) == [3, 1]
    assert [f.access.kind for f in result.report.out_of_bounds] == [AccessKind.Atomic]
    assert result.report.atomic_history == ()


def test_every_element_type_keeps_its_stride_and_byte_order() -> None:
    for kind in [t for t in T if t not in (T.Bytes, T.Bool)]:
        buffer = BufferDecl.read_write("data", 0, kind)
        size = kind.stride
        data = bytes(range(1, 1 + 3 * size))
        entry = [Let("first", buffer[0]), buffer.store(0, buffer[2]), buffer.store(2, buffer[kind.bits])]
        result = run(Program([buffer], (1,), entry), {"data": data}, (1, 1, 1))
        assert result.buffers["data"] == data[2 * size :] + data[size : 2 * size] + bytes(size), kind


@pytest.mark.parametrize("kind", [T.F16, T.BF16])
def test_half_floats_are_packed_two_bytes_an_element(kind: DataType) -> None:
    halves = BufferDecl.read_write("halves", 1, kind, count=3)
    entry = [halves.store(1, Cast(kind, U(0x1234))), OUT.store(0, halves.length)]
    result = run(Program([OUT, halves], (1,), entry), {"out": words(0)}, (1, 1, 1))
    assert result.buffers["halves"] == bytes([0, 0, 0x34, 0x12, 0, 0])
    assert elements(result.buffers["out"]) == [3]


def test_bytes_are_read_and_written_in_words() -> None:
    raw = BufferDecl.read_write("raw", 1, T.Bytes)
    entry = [OUT.store(0, raw[1]), OUT.store(1, raw.length), raw.store(0, U(0xDDCCBBAA))]
    result = run(Program([OUT, raw], (1,), entry), {"raw": bytes(range(8)), "out": bytes(8)}, (1, 1, 1))
    assert elements(result.buffers["out"]) == [0x07060504, 2]
    assert result.buffers["raw"] == bytes.fromhex("aabbccdd04050607")


def test_a_stored_bool_is_zero_or_one() -> None:
    flags = BufferDecl.read_write("flags", 0, T.Bool)
    entry = [flags.store(0, flags[1]), flags.store(2, LitBool(True))]
    result = run(Program([flags], (1,), entry), {"flags": words(0, 0x80, 0)}, (1, 1, 1))
    assert elements(result.buffers["flags"]) == [1, 0x80, 1]


def test_workgroup_memory_starts_as_zeros_in_every_workgroup() -> None:
    entry = [OUT.store(WorkgroupId(0), TILE[0]), TILE.store(0, U(9))]
    result = run(Program([OUT, TILE], (1,), entry), {"out": words(5, 5, 5)}, (3, 1, 1), detect=True)
    assert elements(result.buffers["out"]) == [0, 0, 0]
    [finding] = result.report.uninitialised_reads
    assert (finding.buffer, finding.element, finding.access.place) == ("tile", 0, "entry[0]")
    assert finding.access.invocation.workgroup == (0, 0, 0)


def test_a_read_after_a_write_by_another_invocation_is_initialised() -> None:
    entry = [TILE.store(LID, LID), Barrier(), OUT.store(LID, TILE[U(7) - LID])]
    result = run(Program([OUT, TILE], (8,), entry), {"out": bytes(32)}, (1, 1, 1), detect=True)
    assert result.report.uninitialised_reads == ()


def test_an_atomic_on_untouched_workgroup_memory_is_an_uninitialised_read() -> None:
    bins = BufferDecl.workgroup("bins", T.U32, 2, atomic=True)
    bump = Let("before", Atomic(AtomicOp.Add, "bins", U(0), U(1)))
    result = run(Program([OUT, bins], (1,), [bump]), {"out": b""}, (1, 1, 1), detect=True)
    assert [f.access.kind for f in result.report.uninitialised_reads] == [AccessKind.Atomic]


def test_the_host_bytes_are_never_changed() -> None:
    data = bytearray(words(1, 2))
    result = run(Program([OUT], (1,), [OUT.store(0, U(7))]), {"out": data}, (1, 1, 1))
    assert (bytes(data), result.buffers["out"]) == (words(1, 2), words(7, 2))


def test_a_memoryview_of_another_item_size_is_taken_by_its_bytes() -> None:
    view = memoryview(bytearray(words(1, 2))).cast("I")
    assert run(Program([OUT], (1,), []), {"out": view}, (1, 1, 1)).buffers["out"] == words(1, 2)


def test_only_read_write_buffers_come_back() -> None:
    given, knob = BufferDecl.read("given", 1, T.U32), BufferDecl.uniform("knob", 2, T.U32)
    program = Program([OUT, given, knob, TILE], (1,), [OUT.store(0, given[0] + knob[0])])
    result = run(program, {"out": words(0), "given": words(2), "knob": words(3)}, (1, 1, 1))
    assert result.buffers == {"out": words(5)}


def test_a_missing_read_write_buffer_is_zeros_of_its_count() -> None:
    sized = BufferDecl.read_write("sized", 1, T.U32, count=3)
    result = run(Program([OUT, sized], (1,), []), {}, (1, 1, 1))
    assert result.buffers == {"out": b"", "sized": bytes(12)}


GIVEN = BufferDecl.read("given", 1, T.U32)
SIZED = BufferDecl.read_write("sized", 1, T.U32, count=3)
KNOB = BufferDecl.uniform("knob", 1, T.U32)


@pytest.mark.parametrize(
    ("decl", "supplied", "message"),
    [
        (GIVEN, {}, "no bytes were supplied for the ReadOnly buffer given"),
        (KNOB, {}, "no bytes were supplied for the Uniform buffer knob"),
        (GIVEN, {"given": b"12345"}, "5 bytes.*U32 elements of 4 bytes"),
        (SIZED, {"sized": bytes(8)}, "8 bytes.*3 U32 elements take 12"),
        (SIZED, {"other": bytes(8)}, "no storage or uniform buffer named 'other'"),
        (GIVEN, {"given": [1, 2]}, "given is a list, not bytes"),
        (KNOB, {"knob": bytes(65_540)}, "65540 bytes; the limit is 65536"),
        (TILE, {"tile": bytes(32)}, "no storage or uniform buffer named 'tile'"),
    ],
)
def test_host_buffers_that_do_not_fit_are_refused(
    decl: BufferDecl, supplied: dict[str, Any], message: str
) -> None:
    with pytest.raises(DispatchError, match=message):
        run(Program([decl], (1,), []), supplied, (1, 1, 1))


@pytest.mark.parametrize("groups", [(1, 1), (1, 1, -1), (1 << 32, 1, 1)])
def test_a_grid_that_is_no_grid_is_refused(groups: Any) -> None:
    with pytest.raises(DispatchError, match=r"is not a grid|workgroups along"):
        run(Program([], (1,), []), {}, groups)


@pytest.mark.parametrize("size", [(0, 1, 1), (1025, 1, 1)])
def test_a_workgroup_that_cannot_exist_is_refused(size: tuple[int, int, int]) -> None:
    with pytest.raises(InterpreterError, match="workgroup of"):
        run(Program([], size, []), {}, (1, 1, 1), check=False)


def test_two_buffers_of_one_name_are_refused() -> None:
    with pytest.raises(VyreError, match="out"):
        run(Program([OUT, OUT], (1,), []), {"out": b""}, (1, 1, 1), check=False)


def test_sixty_four_mebibytes_bound_each_buffer_and_workgroup_memory() -> None:
    limit = 64 * 1024 * 1024
    for decl, supplied in [
        (BufferDecl.read_write("big", 0, T.U32, count=limit // 4 + 1), {}),
        (BufferDecl.read("big", 0, T.U32), {"big": bytes(limit + 4)}),
        (BufferDecl.workgroup("big", T.U32, limit // 4 + 1), {}),
    ]:
        with pytest.raises(InterpreterError, match=rf"{limit + 4} bytes.*{limit} \(64 MiB\)"):
            run(Program([decl], (1,), []), supplied, (1, 1, 1), check=False)


def test_invocation_ids_wrap_at_u32() -> None:
    from vyre.reference.actions import Budget
    from vyre.reference.code import Code, IdRegister, Leave
    from vyre.reference.invocations import Workgroup
    from vyre.reference.machine import Machine

    code = Code((Leave(None),), (0,), (IdRegister(0, "InvocationId", 0),))
    group = Workgroup((1 << 31, 0, 0), (2, 1, 1), [])
    machine = Machine(code, (2, 1, 1), {}, budget=Budget(10))
    assert machine._start(group.invocations[1]) == [1]


def test_workgroups_run_along_x_first() -> None:
    entry = [OUT.store(InvocationId(0) + InvocationId(1) * 3, WorkgroupId(0) * 10 + WorkgroupId(1))]
    result = run(Program([OUT], (1,), entry), {"out": bytes(24)}, (3, 2, 1))
    assert elements(result.buffers["out"]) == [0, 10, 20, 1, 11, 21]
