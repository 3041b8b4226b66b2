"""Loops, branches, returns, barriers, ids and grids."""

from __future__ import annotations

import pytest

from tests.backends.cpu.cpu_programs import U32, agree, kernel, numbers, on_cpu, words
from vyre.backends.cpu.backend import CpuBackend
from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    Block,
    BufferDecl,
    BufLen,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    Literal,
    LitU32,
    Load,
    LocalId,
    Loop,
    MakeVec,
    Node,
    Program,
    Return,
    Store,
    Var,
    WorkgroupId,
)

T = DataType
I = InvocationId(0)  # noqa: E741 - short, because it stands in every line
L = LocalId(0)
LAST = 0xFFFFFFFF
TILE = BufferDecl.workgroup("tile", U32, 8)


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, 3), (0, 0), (3, 3), (5, 2), (LAST, 0), (LAST - 2, LAST), (LAST, LAST), (0x7FFFFFFE, 0x80000003)],
)
def test_loop_bounds(start: int, stop: int) -> None:
    program = kernel(
        [
            Let("n", LitU32(0)),
            Let("last", LitU32(77)),
            Loop(
                "k",
                Load("bounds", LitU32(0)),
                Load("bounds", LitU32(1)),
                (Assign("n", Var("n") + 1), Assign("last", Var("k"))),
            ),
            Store("out", LitU32(0), Var("n")),
            Store("out", LitU32(1), Var("last")),
        ],
        BufferDecl.read("bounds", 1, U32),
        size=(1,),
    )
    result = agree(program, {"bounds": words(start, stop)})
    assert numbers(result["out"])[0] == max(0, stop - start)


def test_bounds_are_evaluated_once() -> None:
    body: tuple[Node, ...] = (Assign("n", Var("n") + 2), Store("out", I, Var("n")))
    agree(kernel([Let("n", LitU32(3)), Loop("k", LitU32(0), Var("n"), body)]))


def test_early_return_and_dead_code() -> None:
    entry: list[Node] = [
        If(I > 5, (Store("out", I, LitU32(1)), Return(), Store("out", I, LitU32(9)))),
        Loop("k", LitU32(0), LitU32(9), (If(Var("k").eq(I), (Store("out", I, Var("k") + 50), Return())),)),
        Store("out", I, LitU32(99)),
    ]
    assert numbers(agree(kernel(entry))["out"]) == [50, 51, 52, 53, 54, 55, 1, 1]


def test_both_branches_return() -> None:
    entry: list[Node] = [
        If(I % 2, (Store("out", I, LitU32(1)), Return()), (Store("out", I, LitU32(2)), Return())),
        Store("out", I, LitU32(3)),
    ]
    assert numbers(agree(kernel(entry))["out"]) == [2, 1] * 4


def test_sixty_four_nested_ifs() -> None:
    body: tuple[Node, ...] = (Store("out", I, Load("out", I) + 1000),)
    for k in range(64):
        body = (If(64 - k + 3 > I, body, (Store("out", I, LitU32(k)),)),)
    agree(kernel(body, count=80), {}, (10, 1, 1))


def test_names_that_are_keywords() -> None:
    names = ("define", "entry", "ret", "i32", "first", "last", "workgroup_y", "t", "phi", "id", "group")
    entry: list[Node] = [Let(name, I * (k + 3)) for k, name in enumerate(names)]
    total: Expr = LitU32(0)
    for name in names:
        total = total ^ Var(name)
    entry.append(Store("global", I, total + Load("ptr", I) + BufLen("ptr")))
    program = Program([BufferDecl.read("ptr", 0, U32), BufferDecl.read_write("global", 1, U32)], (8,), entry)
    agree(program, {"ptr": words(*range(8)), "global": bytes(32)})


@pytest.mark.parametrize("size", [(4, 1, 1), (2, 3, 1), (1, 2, 3), (3, 2, 2)])
@pytest.mark.parametrize("barrier", [False, True])
def test_ids(size: tuple[int, int, int], barrier: bool) -> None:
    grid = (3, 2, 2)
    x, y = size[0] * grid[0], size[1] * grid[1]
    at = I + InvocationId(1) * x + InvocationId(2) * (x * y)
    entry: list[Node] = [Let("at", at)]
    kinds = (InvocationId, WorkgroupId, LocalId)
    ids: list[Expr] = [kind(axis) for kind in kinds for axis in range(3)]
    entry += [Let(f"v{k}", value + 1) for k, value in enumerate(ids)]
    entry += [Barrier()] if barrier else []
    entry += [Store("out", Var("at") * 9 + k, Var(f"v{k}")) for k in range(9)]
    count = size[0] * size[1] * size[2] * 12 * 9
    agree(kernel(entry, size=size, count=count), {}, grid)


@pytest.mark.parametrize("grid", [(70_000, 1, 1), (1, 70_000, 1), (1, 1, 70_000), (300, 20, 40)])
def test_grids_past_65535_workgroups(grid: tuple[int, int, int]) -> None:
    x, y, z = grid
    linear = WorkgroupId(0) + WorkgroupId(1) * x + WorkgroupId(2) * (x * y)
    program = Program([BufferDecl.read_write("out", 0, U32)], (1,), [Store("out", linear, linear * 3 + 1)])
    result = on_cpu(program, {"out": bytes(4 * x * y * z)}, grid)
    assert numbers(result["out"]) == [k * 3 + 1 for k in range(x * y * z)]


def tree(step_first: int, *, rounds: int) -> list[Node]:
    """A reduction whose step is halved by assignment: a uniform variable that changes."""
    add = Store("tile", L, Load("tile", L) + Load("tile", L + Var("step")))
    return [
        Store("tile", L, I * I + 1),
        Barrier(),
        Let("step", LitU32(step_first)),
        Loop(
            "k",
            LitU32(0),
            LitU32(rounds),
            (If(LocalId(0) < Var("step"), (add,)), Barrier(), Assign("step", Var("step") >> 1)),
        ),
        If(L.eq(0), (Store("out", WorkgroupId(0), Load("tile", LitU32(0))),)),
    ]


def test_a_tree_reduction() -> None:
    program = kernel(tree(4, rounds=3), TILE)
    sums = [sum(i * i + 1 for i in range(8 * g, 8 * g + 8)) for g in range(8)]
    assert numbers(agree(program, {}, (8, 1, 1))["out"]) == sums


@pytest.mark.parametrize("bound", [0, 3, 8, 100, 0xFFFFFFFF])
def test_a_region_for_the_first_invocations_only(bound: int) -> None:
    entry: list[Node] = [
        Let("l", L),
        Let("n", Load("bound", LitU32(0))),
        Barrier(),
        If(Var("l") < Var("n"), (Store("tile", L, L + 40),)),
        Barrier(),
        If(Var("n") > L, (Store("out", I, Load("tile", L) + Var("n")),)),
    ]
    program = kernel(entry, TILE, BufferDecl.read("bound", 1, U32), count=16)
    agree(program, {"bound": words(bound)}, (2, 1, 1))


def test_variables_live_across_barriers() -> None:
    """Wide, assigned, divergent and derived ones, and a loop around the barrier."""
    wide = Literal(T.U128, 0x0123456789ABCDEF_0FEDCBA987654321)
    entry: list[Node] = [
        Let("mine", Load("a", I) * 3),
        Let("id", I * 2 + 1),
        Let("pair", MakeVec(T.U64, (I, Var("mine")))),
        Let("big", wide),
        Let("twice", Var("id") + Var("id")),
        Loop(
            "k",
            LitU32(0),
            BufLen("a") % 5 + 2,
            (
                Store("tile", L, Var("mine") + Var("k")),
                Barrier(),
                Let("other", Load("tile", (L + Var("k") + 1) % 8)),
                Block((Let("inner", Var("other") ^ Var("id")), Barrier(), Assign("mine", Var("inner") + 7))),
            ),
        ),
        Store("out", I * 4, Var("mine")),
        Store("out", I * 4 + 1, Var("pair").lane(0) + Var("pair").lane(1)),
        Store("out", I * 4 + 2, Var("big").lane(3) + I),
        Store("out", I * 4 + 3, Var("twice")),
    ]
    program = kernel(entry, TILE, BufferDecl.read("a", 1, U32), count=64)
    agree(program, {"a": words(*range(90, 104))}, (2, 1, 1))


def test_barriers_under_uniform_conditions() -> None:
    entry: list[Node] = [
        Let("turn", WorkgroupId(0) % 3),
        Store("tile", L, I + 1),
        If(
            Var("turn").eq(1),
            (Barrier(), Store("out", I, Load("tile", LitU32(7) - L))),
            (
                If(Load("mode", Var("turn")), (Barrier(), Store("out", I, Load("tile", (L + 3) % 8) + 100))),
                Barrier(),
                Assign("turn", Var("turn") + 9),
            ),
        ),
        Barrier(),
        Let("seen", Load("out", I)),
        Store("out", I, Var("seen") * 10 + Var("turn")),
    ]
    program = kernel(entry, TILE, BufferDecl.uniform("mode", 1, U32), count=48)
    agree(program, {"mode": words(0, 0, 1)}, (6, 1, 1))


def test_a_uniform_return_before_a_barrier() -> None:
    entry: list[Node] = [
        Store("out", I, LitU32(1)),
        Loop(
            "k",
            LitU32(0),
            LitU32(5),
            (
                If(Var("k").eq(WorkgroupId(0)), (Store("out", I, Var("k") + 10), Return())),
                Store("tile", L, Var("k")),
                Barrier(),
                Assign("sum", Var("sum") + Load("tile", (L + 1) % 8)),
                Barrier(),
            ),
        ),
        Store("out", I, Var("sum") + 100),
    ]
    program = kernel([Let("sum", I), *entry], TILE, count=64)
    agree(program, {}, (8, 1, 1))


def test_a_return_in_the_loop_bound_of_the_dead_is_not_run() -> None:
    """All invocations are gone before a loop of four billion rounds."""
    entry: list[Node] = [
        Let("n", BufLen("a")),
        If(Var("n") > 2, (Return(),)),
        Loop("k", LitU32(0), LitU32(LAST), (Barrier(), Store("out", I, LitU32(7)))),
    ]
    program = kernel(entry, BufferDecl.read("a", 1, U32))
    assert numbers(on_cpu(program, {"a": bytes(12)})["out"]) == [0] * 8


def test_divergent_returns_after_the_last_barrier() -> None:
    entry: list[Node] = [
        Let("x", I * 3),
        If(
            BufLen("out") > 4,
            (
                Store("tile", L, Var("x")),
                Barrier(),
                If(Load("tile", L) % 2, (Store("out", I, LitU32(5)), Return())),
            ),
        ),
        Assign("x", Var("x") + Load("tile", L)),
        If(L > 5, (Return(),)),
        Store("out", I, Var("x") + 1),
    ]
    agree(kernel(entry, TILE, count=32), {}, (4, 1, 1))


def test_a_histogram_in_workgroup_memory() -> None:
    entry: list[Node] = [
        Let("bin", Load("a", I) >> 29),
        Let("before", Atomic(AtomicOp.Add, "bins", Var("bin"), LitU32(1))),
        Barrier(),
        If(L < 8, (Let("after", Atomic(AtomicOp.Add, "out", L, Load("bins", L))),)),
    ]
    program = Program(
        [
            BufferDecl.read("a", 0, U32),
            BufferDecl.read_write("out", 1, U32, count=8),
            BufferDecl.workgroup("bins", U32, 8, atomic=True),
        ],
        (64,),
        entry,
    )
    data = [(k * 0x9E3779B9) & 0xFFFFFFFF for k in range(64 * 500)]
    result = on_cpu(program, {"a": words(*data)}, (500, 1, 1), on=CpuBackend(threads=4))
    assert numbers(result["out"]) == [sum(v >> 29 == b for v in data) for b in range(8)]


def test_who_returned_is_not_run_again_by_the_loop_around_the_only_region() -> None:
    """The loop holds a barrier, so it belongs to the workgroup; its turns go on for nobody."""
    body: list[Node] = [
        If(Var("k").eq(Load("last", LitU32(0))), (Return(),)),
        Store("out", I, Load("out", I) + 1),
        Barrier(),
    ]
    program = Program(
        [BufferDecl.read("last", 0, U32, count=1), BufferDecl.read_write("out", 1, U32, count=4)],
        (4,),
        [Loop("k", LitU32(0), LitU32(5), body)],
    )
    for last in range(6):
        assert numbers(agree(program, {"last": words(last)})["out"]) == [min(last, 5)] * 4
