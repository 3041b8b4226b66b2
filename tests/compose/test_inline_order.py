"""The order of memory accesses survives inlining: accesses are traced, atomics would tell."""

from __future__ import annotations

import random
import struct

import pytest

from tests.compose.call_oracle import Trace, observe
from tests.compose.sample_ops import REGISTRY, SAMPLES
from vyre.compose import inline
from vyre.ir import (
    Atomic,
    AtomicOp,
    BufferDecl,
    Call,
    DataType,
    Expr,
    If,
    Let,
    LitU32,
    Load,
    Loop,
    Node,
    Program,
    Select,
    Store,
    Var,
)
from vyre.ir.expr import call
from vyre.ir.walk import expressions
from vyre.reference import run
from vyre.validate import check

BUFFERS = [BufferDecl.read_write(name, i, DataType.U32, count=8) for i, name in enumerate(("a", "b", "o"))]
START = {"a": [3, 1, 4, 1, 5, 9, 2, 6], "b": [2, 7, 1, 8, 2, 8, 1, 8], "o": [0] * 8}


def fresh_memory() -> dict[str, list[int]]:
    return {name: list(cells) for name, cells in START.items()}


def tick(by: int = 1) -> Atomic:
    """A counter that numbers its own evaluations."""
    return Atomic(AtomicOp.Add, "a", LitU32(0), LitU32(by))


def traced(program: Program) -> tuple[Trace, dict[str, list[int]]]:
    memory = fresh_memory()
    return observe(program, REGISTRY, memory), memory


def interpreted(program: Program) -> dict[str, list[int]]:
    supplied = {name: struct.pack("<8I", *cells) for name, cells in START.items()}
    found = run(program, supplied, (1, 1, 1), registry=REGISTRY).buffers
    return {name: list(struct.unpack("<8I", data)) for name, data in found.items()}


def assert_same(program: Program) -> None:
    expected, memory = traced(program)
    flat = inline(program, REGISTRY)
    assert not any(isinstance(x, Call) for x in expressions(flat.entry))
    assert traced(flat) == (expected, memory)


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (call("t.swapped", tick(), tick()), 4 - 3),
        (tick() - call("t.twice", tick()), (3 - 8) & 0xFFFFFFFF),
        (call("t.xor", tick(), call("t.first", tick(), tick())) * tick(), (3 ^ 4) * 6),
        (call("t.choose", tick(), tick(), tick()), 4),
        (Select(call("t.ignored", tick(), tick()), tick(), call("t.local", tick())), 5),
        (call("t.early", call("t.late", tick(), tick()), tick()), ((3 - 12) * 3 - 5) & 0xFFFFFFFF),
        (call("t.assigned", tick(), call("t.assigned", tick(), tick())), 3 * 5 + (4 * 5 + 1 + 5)),
    ],
)
def test_atomics_give_the_values_of_left_to_right_evaluation(expr: Expr, value: int) -> None:
    program = Program(BUFFERS, (1,), [Store("o", LitU32(0), expr)])
    assert traced(program)[1]["o"][0] == value
    assert interpreted(program)["o"][0] == value
    assert_same(program)


def test_the_oracle_sees_a_reordering() -> None:
    """The control: exchanging two loads changes the trace, so equal traces mean equal order."""
    program = Program(BUFFERS, (1,), [Let("r", Load("a", LitU32(0)) + Load("b", LitU32(0)))])
    swapped = Program(BUFFERS, (1,), [Let("r", Load("b", LitU32(0)) + Load("a", LitU32(0)))])
    assert traced(program)[1] == traced(swapped)[1]
    assert traced(program) != traced(swapped)


class Generator:
    """Random statements over calls; effects are drawn often, so that order matters."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: list[str] = []
        self.counter = 0

    def expr(self, depth: int) -> Expr:
        kind = self.random.random()
        if depth == 0 or kind < 0.1:
            return self.leaf()
        if kind < 0.6:
            op = self.random.choice(SAMPLES)
            return Call(op.id, tuple(self.expr(depth - 1) for _ in op.params))
        if kind < 0.75:
            return self.expr(depth - 1) - self.expr(depth - 1)
        if kind < 0.85:
            return Select(self.expr(depth - 1) & 1, self.expr(depth - 1), self.expr(depth - 1))
        if kind < 0.95:
            return Load(self.random.choice("ab"), self.expr(depth - 1) & 7)
        return Atomic(AtomicOp.Add, "a", self.expr(depth - 1) & 7, self.expr(depth - 1))

    def leaf(self) -> Expr:
        kind = self.random.random()
        if kind < 0.3:
            return Load(self.random.choice("ab"), LitU32(self.random.randrange(8)))
        if kind < 0.5:
            return Atomic(AtomicOp.Add, "a", LitU32(self.random.randrange(8)), LitU32(1))
        if kind < 0.8 and self.names:
            return Var(self.random.choice(self.names))
        return LitU32(self.random.randrange(100))

    def name(self) -> str:
        self.counter += 1
        return f"temp{self.counter}"

    def block(self, depth: int) -> tuple[Node, ...]:
        visible = list(self.names)
        nodes = tuple(self.statement(depth) for _ in range(self.random.randrange(1, 4)))
        self.names = visible
        return nodes

    def statement(self, depth: int) -> Node:
        kind = self.random.random()
        if depth and kind < 0.2:
            return If(self.expr(2) & 1, self.block(depth - 1), self.block(depth - 1))
        if depth and kind < 0.35:
            var, start, stop = self.name(), self.expr(2) & 1, self.expr(2) & 3
            self.names.append(var)
            body = self.block(depth - 1)
            self.names.remove(var)
            return Loop(var, start, stop, body)
        if kind < 0.65:
            return Store(self.random.choice("abo"), self.expr(2) & 7, self.expr(3))
        value = self.expr(3)
        self.names.append(self.name())
        return Let(self.names[-1], value)


def random_program(seed: int) -> Program:
    return Program(BUFFERS, (1,), Generator(seed).block(2))


def test_random_call_nests_keep_every_access_in_order() -> None:
    calls = 0
    for seed in range(300):
        program = random_program(seed)
        calls += sum(isinstance(x, Call) for x in expressions(program.entry))
        assert_same(program)
    assert calls > 3_000


@pytest.mark.parametrize("seed", range(12))
def test_random_call_nests_validate_and_interpret_alike(seed: int) -> None:
    program = random_program(seed)
    check(program, registry=REGISTRY)
    flat = inline(program, REGISTRY)
    check(flat, allow_reserved=True)
    expected = traced(program)[1]
    assert interpreted(program) == expected
