"""Bounds, lengths, layouts and atomics, in storage, uniform and workgroup memory."""

from __future__ import annotations

import pytest

from tests.backends.cpu.cpu_programs import EDGES, U32, agree, backend, kernel, numbers, on_cpu, words
from vyre.backends.cpu.backend import CpuBackend
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BufferDecl,
    BufLen,
    Cast,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    LocalId,
    Node,
    Program,
    Store,
    Var,
    WorkgroupId,
)

T = DataType
I = InvocationId(0)  # noqa: E741 - short, because it stands in every line
L = LocalId(0)
FAR = (7, 8, 9, 0x40000000, 0x80000000, 0xFFFFFFFF)


@pytest.mark.parametrize("count", [0, 8], ids=["host-sized", "declared"])
@pytest.mark.parametrize("kind", [U32, T.U64, T.Vec4U32, T.F16, T.Bool], ids=lambda t: t.value)
def test_out_of_bounds_loads_are_zero_and_stores_do_nothing(kind: DataType, count: int) -> None:
    data = b"\x01\x02" * (8 * kind.stride // 2)
    entry: list[Node] = []
    for k, index in enumerate(FAR):
        entry.append(Store("out", LitU32(k), Load("a", Load("at", LitU32(k)))))
        entry.append(Store("b", Load("at", LitU32(k)), Load("a", LitU32(0))))
        entry.append(Store("out", LitU32(8 + k), Load("u", LitU32(index))))
    program = kernel(
        entry,
        BufferDecl.read("a", 1, kind, count=count),
        BufferDecl.read_write("b", 2, kind, count=count),
        BufferDecl.uniform("u", 3, kind, count=count),
        BufferDecl.read("at", 4, U32),
        size=(1,),
        out=kind,
        count=16,
    )
    result = agree(program, {"a": data, "b": bytes(len(data)), "u": data, "at": words(*FAR)})
    stored = numbers(result["b"], kind.stride)
    assert [bool(v) for v in stored] == [False] * 7 + [True]


def test_out_of_bounds_in_workgroup_memory() -> None:
    tile = BufferDecl.workgroup("tile", U32, 5)
    bins = BufferDecl.workgroup("bins", U32, 5, atomic=True)
    index = I * 3
    entry: list[Node] = [
        Store("tile", index, I + 1),
        Let("old", Atomic(AtomicOp.Add, "bins", index, I + 10)),
        Barrier(),
        Store("out", I, Load("tile", L) * 1000 + Load("bins", L) * 10 + Load("tile", L + 5)),
        Store("out", I + 8, Var("old")),
    ]
    agree(kernel(entry, tile, bins, count=16))


def test_an_index_that_wraps() -> None:
    entry: list[Node] = [
        Store("out", I, Load("a", I - 1) + Load("a", I + 1) * 16 + Load("a", I * 2 + 1) * 256),
        Store("b", I - 2, I + 100),
        Store("b", I + 0xFFFFFFFD, I + 200),
    ]
    program = kernel(
        entry, BufferDecl.read("a", 1, U32), BufferDecl.read_write("b", 2, U32), size=(4,), count=40
    )
    agree(program, {"a": words(*range(1, 41)), "b": bytes(160)}, (10, 1, 1))


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 63, 64, 65, 130])
def test_the_fast_range_ends_where_the_shortest_buffer_does(length: int) -> None:
    """Three buffers of different lengths around the ends of workgroups; beyond them loads are zero."""
    i = Var("i")
    body = Store("out", i, Load("a", i) + Load("b", i + 1) * 3 + Load("a", i - 2))
    program = Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32), BufferDecl.read_write("out", 2, U32)],
        (4,),
        [Let("i", I), If(i < BufLen("out"), (body,), (Store("out", i - BufLen("out"), LitU32(9)),))],
    )
    data = {"a": words(*range(1, length + 1)), "b": words(*range(7, 57)), "out": bytes(4 * 101)}
    agree(program, data, (33, 1, 1))


@pytest.mark.parametrize("length", [0, 7, 16, 33, 48])
def test_the_fast_range_of_workgroups(length: int) -> None:
    group = WorkgroupId(0)
    entry: list[Node] = [
        Store("tile", L, Load("a", group * 8 + L) + Load("a", group * 8 + L + 4)),
        Barrier(),
        If(BufLen("out") > I, (Store("out", I, Load("tile", LitU32(3) - L) + Load("a", LitU32(5))),)),
        If(L.eq(0), (Store("sums", group, Load("tile", LitU32(0)) + 1),)),
    ]
    program = Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read_write("out", 1, U32),
            BufferDecl.read_write("sums", 2, U32),
            BufferDecl.workgroup("tile", U32, 4),
        ],
        (4,),
        entry,
    )
    data = {"a": words(*range(1, length + 1)), "out": bytes(4 * 18), "sums": bytes(4 * 5)}
    agree(program, data, (6, 1, 1))


def test_lengths() -> None:
    entry: list[Node] = [
        Store("out", LitU32(k), BufLen(name))
        for k, name in enumerate(("bytes", "half", "wide", "none", "tile"))
    ]
    program = kernel(
        entry,
        BufferDecl.read("bytes", 1, T.Bytes),
        BufferDecl.read("half", 2, T.F16),
        BufferDecl.read("wide", 3, T.U128),
        BufferDecl.read("none", 4, U32),
        BufferDecl.workgroup("tile", T.F16, 3),
        size=(1,),
    )
    result = agree(program, {"bytes": bytes(12), "half": bytes(10), "wide": bytes(48), "none": b""})
    assert numbers(result["out"])[:5] == [3, 5, 3, 0, 3]


def test_bytes_are_words() -> None:
    program = kernel(
        [Store("b", I, Load("a", I) * 3), Store("out", I, Load("a", I + 1))],
        BufferDecl.read("a", 1, T.Bytes),
        BufferDecl.read_write("b", 2, T.Bytes),
    )
    agree(program, {"a": words(*EDGES[:5]), "b": bytes(20)})


def test_booleans_are_normalised_by_loads_only() -> None:
    program = kernel([Store("out", I, Load("a", I))], BufferDecl.read("a", 1, T.Bool), out=T.Bool)
    result = agree(program, {"a": words(0, 1, 2, 0x80000000, 0xFFFFFFFF, 0x100, 0, 7)})
    assert numbers(result["out"]) == [0, 1, 1, 1, 1, 1, 0, 1]


def test_zero_size_buffers() -> None:
    program = Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read_write("out", 1, U32),
            BufferDecl.read_write("one", 2, U32),
        ],
        (8,),
        [Store("out", I, Load("a", I)), Store("one", I, Load("a", I) + BufLen("a") + 3)],
    )
    assert numbers(agree(program, {"a": b"", "out": b"", "one": bytes(4)}, (3, 1, 1))["one"]) == [3]


@pytest.mark.parametrize("op", list(AtomicOp), ids=lambda op: op.value)
@pytest.mark.parametrize("shared", [False, True], ids=["storage", "workgroup"])
def test_atomics_give_the_value_before(op: AtomicOp, shared: bool) -> None:
    """One invocation, so that the order is the program's."""
    name = "bins" if shared else "cells"
    entry: list[Node] = []
    for k, (before, value) in enumerate(zip(EDGES, reversed(EDGES), strict=True)):
        expected = LitU32(before if k % 2 else value) if op is AtomicOp.CompareExchange else None
        entry.append(Store(name, LitU32(k), LitU32(before)))
        entry.append(Let(f"old{k}", Atomic(op, name, LitU32(k), LitU32(value), expected)))
        entry.append(Store("out", LitU32(k), Var(f"old{k}")))
        entry.append(Store("out", LitU32(20 + k), Load(name, LitU32(k))))
    outside = Atomic(
        op, name, Load("at", LitU32(0)), LitU32(3), LitU32(0) if op is AtomicOp.CompareExchange else None
    )
    entry.append(Store("out", LitU32(40), outside + 77))
    program = kernel(
        entry,
        BufferDecl.read_write("cells", 1, U32, count=16),
        BufferDecl.workgroup("bins", U32, 16, atomic=True),
        BufferDecl.read("at", 2, U32),
        size=(1,),
        count=48,
    )
    assert numbers(agree(program, {"at": words(16)})["out"])[40] == 77


def test_atomics_of_many_threads_lose_nothing() -> None:
    commuting = (AtomicOp.Add, AtomicOp.Or, AtomicOp.And, AtomicOp.Xor, AtomicOp.Min, AtomicOp.Max)
    mixed = I * 0x9E3779B9 ^ (I >> 3)
    entry: list[Node] = [
        Let(f"old{k}", Atomic(op, "out", LitU32(k), mixed)) for k, op in enumerate(commuting)
    ]
    program = Program([BufferDecl.read_write("out", 0, U32)], (64,), entry)
    start = words(0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0)
    count = 64 * 1000
    total, union, common, parity, low, high = 0, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF, 0
    for i in range(count):
        v = (i * 0x9E3779B9 ^ (i >> 3)) & 0xFFFFFFFF
        total, union, common, parity = (total + v) & 0xFFFFFFFF, union | v, common & v, parity ^ v
        low, high = min(low, v), max(high, v)
    result = on_cpu(program, {"out": start}, (1000, 1, 1), on=CpuBackend(threads=4))
    assert numbers(result["out"]) == [total, union, common, parity, low, high]


def test_neighbouring_halves_are_stored_without_a_race() -> None:
    program = Program(
        [BufferDecl.read_write("out", 0, T.F16)], (64,), [Store("out", I, Cast(T.F16, I * 7 + 3))]
    )
    count = 64 * 2000 - 1
    result = on_cpu(program, {"out": bytes(2 * count)}, (2000, 1, 1), on=CpuBackend(threads=4))
    assert numbers(result["out"], 2) == [(i * 7 + 3) & 0xFFFF for i in range(count)]


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_memory_of_any_alignment(offset: int) -> None:
    program = Program(
        [BufferDecl.read("a", 0, U32), BufferDecl.read_write("out", 1, U32)],
        (8,),
        [Let("old", Atomic(AtomicOp.Add, "out", I, Load("a", I)))],
    )
    source, target = bytearray(64 + offset), bytearray(64 + offset)
    source[offset:] = words(*range(16))
    target[offset:] = words(*range(100, 116))
    views = {"a": memoryview(source)[offset:].toreadonly(), "out": memoryview(target)[offset:]}
    backend().compile(program).run(views, (2, 1, 1))
    assert numbers(bytes(target[offset:])) == [100 + 2 * k for k in range(16)]


def test_workgroup_memory_is_zero_in_every_workgroup() -> None:
    entry: list[Node] = [
        Let("seen", Load("tile", L) + Load("bins", L)),
        Barrier(),
        Store("tile", L, LitU32(0xFFFFFFFF)),
        Let("old", Atomic(AtomicOp.Or, "bins", L, LitU32(0xFFFFFFFF))),
        Let("sum", LitU32(0)),
        Assign("sum", Var("seen") + 5),
        Store("out", I, Var("sum")),
    ]
    program = kernel(
        entry,
        BufferDecl.workgroup("tile", U32, 8),
        BufferDecl.workgroup("bins", U32, 8, atomic=True),
        count=80,
    )
    assert numbers(agree(program, {}, (10, 1, 1))["out"]) == [5] * 80


def test_a_huge_workgroup_buffer() -> None:
    """Beyond any stack: scratch memory comes from the heap."""
    tile = BufferDecl.workgroup("tile", U32, 4 << 20)
    index: Expr = LitU32((4 << 20) - 8) + L
    program = kernel([Store("tile", index, L + 1), Barrier(), Store("out", L, Load("tile", index))], tile)
    assert numbers(agree(program)["out"]) == list(range(1, 9))
