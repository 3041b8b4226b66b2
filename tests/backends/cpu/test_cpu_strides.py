"""Programs whose invocations take several elements: in vectors, and with the bytes of the reference."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from tests.backends.cpu.cpu_assembly import V2, V3, V4, in_range, loops_of
from tests.backends.cpu.cpu_programs import U32, agree, words
from vyre.backends.cpu.llvm import TUNINGS
from vyre.engines import elementwise
from vyre.ir import (
    BinaryOp,
    BinOp,
    BufferDecl,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    LocalId,
    Loop,
    Node,
    Program,
    Return,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.lower.llvm import affine, emit, strands
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

A = BufferDecl.read("a", 0, U32)
B = BufferDecl.read_write("b", 1, U32)
OUT = BufferDecl.read_write("out", 2, U32)
G, L, X, Y = WorkgroupId(0), LocalId(0), InvocationId(0), InvocationId(1)
AT, K = Var("at"), Var("k")
F32 = DataType.F32


def mixed(value: Expr) -> Expr:
    step = value * 0x9E3779B1
    return step ^ (step >> 15)


def stored(index: Expr) -> list[Node]:
    return [Let("at", index), If(OUT.length > AT, [OUT.store(AT, mixed(A[AT]))])]


def moved(index: Expr, source: BufferDecl = A) -> Node:
    return OUT.store(index, mixed(source[index]))


def items(count: int, whole: int, *, apart: int = 64) -> list[Node]:
    at = Var("i")
    places = [at + k * apart for k in range(count)]
    inside = [If(place < OUT.length, [OUT.store(place, mixed(A[place]))]) for place in places]
    return [Let("i", G * whole + L), *inside]


SHAPES: dict[str, tuple[tuple[int, ...], list[Node], tuple[int, int, int], int]] = {
    "items": ((64,), items(4, 256), (5, 1, 1), 1280),
    "items with gaps": ((64,), items(3, 300, apart=70), (5, 1, 1), 1500),
    "loop": ((64,), [Loop("k", LitU32(0), LitU32(40), stored(G * 2560 + K * 64 + L))], (2, 1, 1), 5120),
    "rows": ((64,), stored((WorkgroupId(1) * 4 + G) * 64 + L), (4, 3, 1), 768),
    "image": ((16, 4), stored(Y * 96 + X), (6, 3, 1), 1152),
    "pairs": ((32,), [moved(G * 64 + L * 2 + k) for k in (0, 1)], (6, 1, 1), 384),
    "uniform": ((64,), [Let("s", A[G]), OUT.store(X, mixed(A[X] + Var("s")))], (6, 1, 1), 384),
    "table": ((64,), [OUT.store(X, mixed(A[X] + B[L]))], (6, 1, 1), 384),
    "in place": ((64,), [moved(G * 128 + L + k, OUT) for k in (0, 64)], (5, 1, 1), 640),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_at_every_end(shape: str) -> None:
    size, entry, grid, whole = SHAPES[shape]
    rng = random.Random(shape)
    for lengths in ((whole, whole, whole), (whole, 64, whole - 1), (whole - 65, 63, whole + 9), (1, 1, 1)):
        data = [words(*(rng.getrandbits(32) for _ in range(length))) for length in lengths]
        agree(Program([A, B, OUT], size, entry), dict(zip(("a", "b", "out"), data, strict=True)), grid)


@pytest.mark.parametrize("cpu", [V2, V3, V4, *TUNINGS])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_computed_in_vectors(shape: str, cpu: str) -> None:
    text = in_range(Program([A, B, OUT], SHAPES[shape][0], SHAPES[shape][1]), cpu)
    assert re.search(r"mulld\s.*%[xyz]mm", text)
    assert "gather" not in text
    assert "scatter" not in text


def plus(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, a, b)


def times(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FMul, a, b)


def exp(a: Expr, b: Expr) -> Expr:
    return UnOp(UnaryOp.FExp, a) if b is not a else a


def arithmetic(lines: Iterable[str]) -> int:
    """How many instructions compute floats; where there is no fused one, a call of `fma` does."""
    return sum(bool(re.match(r"v?(?:add|mul)[ps][sd]\b|vfn?m(?:add|sub)|call", x)) for x in lines)


@pytest.mark.parametrize("cpu", [V2, V3, V4, *TUNINGS])
@pytest.mark.parametrize("value", [plus, times, exp])
def test_four_items_are_no_more_instructions_than_one(value: Callable[[Expr, Expr], Expr], cpu: str) -> None:
    """Each loop is the same, only that it may end where a workgroup does.

    The whole function may be longer: for some processors LLVM writes the loop over workgroups twice.
    """

    def longest(count: int) -> int:
        text = in_range(elementwise(value, F32, F32, output=F32, items=count), cpu)
        assert "gather" not in text
        loops = loops_of(text)
        assert loops
        return max(arithmetic(loop) for loop in loops)

    assert 0 < longest(4) <= longest(1)


@pytest.mark.parametrize("cpu", [V3, V4])
@pytest.mark.parametrize("value", [plus, times, exp])
def test_four_items_are_no_longer_a_function_than_one(value: Callable[[Expr, Expr], Expr], cpu: str) -> None:
    """At a level, which is not a processor's own, LLVM copies nothing; and nothing is done one by one."""

    def lines(count: int) -> list[str]:
        text = in_range(elementwise(value, F32, F32, output=F32, items=count), cpu)
        return [line.strip() for line in text.splitlines()]

    four = lines(4)
    assert 0 < arithmetic(four) <= arithmetic(lines(1))
    assert not any(re.match(r"v(?:add|mul|fn?m\w+)s[sd]\b", line) for line in four)


@pytest.mark.parametrize("cpu", [V2, V3, V4, *TUNINGS])
def test_a_place_that_is_not_affine_would_be_seen(cpu: str) -> None:
    """The control: the index comes from memory, and so does a guard."""
    entry = [Let("i", G * 128 + L), *(OUT.store(Var("i") + k, mixed(A[B[Var("i") + k]])) for k in (0, 64))]
    text = in_range(Program([A, B, OUT], (64,), entry), cpu)
    assert "gather" in text or not re.search(r"mulld\s.*%[yz]mm", text)


def generated(seed: int) -> tuple[Program, tuple[int, int, int], list[int]]:
    """A barrier-free program of random strides; its items may overlap, end early, and use ids as values."""
    rng = random.Random(seed)
    width, height = rng.choice((1, 2, 3, 4, 8, 16, 33)), rng.choice((1, 1, 2))
    count, step = rng.randint(1, 4), rng.choice((1, 1, 1, 2, 3))
    span = width * step
    whole = span * count + rng.choice((0, 0, 1, width))
    at = G * whole + L * step + rng.choice((0, 0, 1, 5))
    if rng.random() < 0.4:
        at = at + rng.choice((WorkgroupId(1), Y)) * rng.choice((whole * 3, 7))
    offsets = [max(0, k * span // rng.choice((1, 1, 2)) + rng.choice((0, 0, 0, 1, -1))) for k in range(count)]
    if rng.random() < 0.5:
        offsets = [k * span for k in range(count)]
    places = [Var("i") + k for k in offsets]
    source, target = rng.choice((A, A, B, OUT)), rng.choice((OUT, OUT, B))
    factor, varied = rng.getrandbits(32), rng.random() < 0.5
    extra = rng.choice((LitU32(1), LitU32(2), L, G, X, LocalId(1), A[L], A[G]))

    def value(index: Expr, k: int) -> Expr:
        return source[index] * factor + extra + (k if varied else 0)

    body: list[Node] = [target.store(place, value(place, k)) for k, place in enumerate(places)]
    match rng.randrange(4):
        case 0:
            body = [If(place < target.length, [node]) for place, node in zip(places, body, strict=True)]
        case 1:
            names = [f"x{k}" for k in range(count)]
            body = [Let(name, value(places[k], k)) for k, name in enumerate(names)]
            body += [target.store(place, Var(name)) for place, name in zip(places, names, strict=True)]
            body = [
                If((places[-1] < target.length).and_(source.length > places[0]), body, [target.store(G, X)])
            ]
        case 2:
            index = Var("i") + K * rng.choice((span, span, 1, span + 1))
            first = rng.choice((0, 2))
            inner = [Let("at", index), If(target.length > AT, [target.store(AT, value(AT, 0))])]
            body = [Loop("k", LitU32(first), LitU32(first + count + 1), inner)]
        case _:
            if rng.random() < 0.5:
                leave = If((source[Var("i")] & 3).eq(1), [Return()])
                body.insert(rng.randrange(len(body) + 1), leave)
    grid = rng.choice((1, 2, 3, 5)), rng.choice((1, 1, 2)), 1
    total = whole * grid[0] * grid[1]
    lengths = [max(1, rng.choice((total, total + 3, 2 * total + 40, total // 2))) for _ in range(3)]
    return Program([A, B, OUT], (width, height, 1), [Let("i", at), *body]), grid, lengths


@pytest.mark.parametrize("part", range(4))
def test_generated_strides_agree_with_the_reference(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the widths from which on it is worth it set to one, so that short programs take every way."""
    monkeypatch.setattr(affine, "RICH", 1)
    monkeypatch.setattr(strands, "WIDE", 1)
    monkeypatch.setattr(strands, "NARROW", 1)
    for seed in range(40 * part, 40 * part + 40):
        program, grid, lengths = generated(seed)
        rng = random.Random(seed)
        data = [words(*(rng.getrandbits(32) for _ in range(length))) for length in lengths]
        agree(program, dict(zip(("a", "b", "out"), data, strict=True)), grid)


def row_walk(turns: int) -> Program:
    """Workgroups of one invocation, each with a row of its own, which it holds, and a table for all."""
    held = BufferDecl.workgroup("held", U32, turns)
    k, j, at = Var("k"), Var("j"), Var("at")
    body: list[Node] = [
        Loop("k", LitU32(0), LitU32(turns), [Let("x", A[G * turns + k]), held.store(k, mixed(Var("x")))]),
        Loop(
            "j",
            LitU32(0),
            LitU32(turns),
            [Let("at", G * turns + j), OUT.store(at, held[j] ^ B[j])],
        ),
    ]
    return Program([A, B, OUT, held], (1, 1, 1), body)


@pytest.mark.parametrize("turns", [1, 63, 64, 100])
@pytest.mark.parametrize("short", [0, 1, 70, 1000])
@pytest.mark.parametrize("table", [100, 99, 5])
def test_rows_of_single_invocations_keep_their_bounds(turns: int, short: int, table: int) -> None:
    total = 5 * turns
    lengths = {"a": max(1, total - short), "b": table, "out": max(1, total - short // 2)}
    rng = random.Random(turns + short)
    data = {name: words(*(rng.getrandbits(32) for _ in range(length))) for name, length in lengths.items()}
    agree(row_walk(turns), data, (5, 1, 1))


def test_a_long_walk_of_single_invocations_has_no_checks() -> None:
    checked = re.compile(r"icmp ult i32 %\S+, %len_")
    for turns, free in ((63, False), (64, True)):
        text = emit(prepare(row_walk(turns))).text
        assert ("@workgroups_in_range" in text) is free
        fast = text.partition("@workgroups_in_range")[2].partition("\n}")[0]
        assert checked.search(text)
        assert not checked.search(fast)
