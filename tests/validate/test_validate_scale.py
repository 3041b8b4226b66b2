"""Size, depth and garbage: every program gets an answer, and soon."""

from __future__ import annotations

import random
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pytest

from vyre.errors import VyreError
from vyre.ir import (
    Assign,
    Barrier,
    Block,
    BufferAccess,
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
    Store,
    Var,
    WorkgroupId,
)
from vyre.ir import expr as e
from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_NODES
from vyre.ir.walk import rebuild
from vyre.text import parse_program
from vyre.validate import validate
from vyre.validate.gathered import MAX_DIAGNOSTICS

if TYPE_CHECKING:
    from collections.abc import Callable
    from enum import Enum

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
_MUTABLE = [access for access in BufferAccess if access is not BufferAccess.Constant]
SOON = 10.0
"""Seconds of processor time that mean something grows faster than the program. The target is 2 s."""


def program(*nodes: Node) -> Program:
    return Program([OUT], (64, 1, 1), nodes)


def codes_soon(subject: Program) -> list[str]:
    start = time.process_time()
    found = [d.code for d in validate(subject)]
    assert time.process_time() - start < SOON
    return found


def chain(levels: int, start: Expr | None = None) -> Expr:
    value: Expr = start if start is not None else LitU32(0)
    while value.depth < levels:
        value = value + LitU32(value.depth)
    return value


def deep_expressions() -> Program:
    return program(*(OUT.store(i, chain(1_000, LitU32(i))) for i in range(49)))


def tiny_statements() -> Program:
    return program(*(Let(f"v{i}", LitU32(i)) for i in range(MAX_NODES // 2)))


def variables() -> Program:
    nodes = [Let(f"v{i}", Var(f"v{i - 1}") + Var(f"v{i // 2}")) for i in range(1, MAX_NODES // 4 - 1)]
    return program(Let("v0", LitU32(1)), *nodes)


def nested_ifs() -> Program:
    towers: list[Node] = []
    for j in range(230):
        body: tuple[Node, ...] = (OUT.store(j, 1), Return())
        for level in range(64):
            body = (If(InvocationId(0) < LitU32(level + j), body, (Return(),)),)
        towers += body
    return program(*towers)


def slow_to_settle() -> Program:
    """Divergence that takes one round per variable to travel through a loop."""
    names = [f"v{i}" for i in range(12_000)]
    moves = [Assign(a, Var(b)) for a, b in pairwise(names)]
    tail = (Assign(names[-1], LocalId(0)), If(Var("v0"), (Barrier(),)))
    loop = Loop("k", LitU32(0), LitU32(4), (*moves, *tail))
    return program(*(Let(name, LitU32(0)) for name in names), loop)


def nested_assignments(wrap: Callable[[int, tuple[Node, ...]], Node]) -> Program:
    names = [f"v{i}" for i in range(20_000)]
    body: tuple[Node, ...] = (
        *(Assign(a, Var(b)) for a, b in pairwise(names)),
        If(Var("v0"), (Barrier(),)),
    )
    for level in range(60):
        body = (wrap(level, body),)
    return program(*(Let(name, LitU32(0)) for name in names), *body)


def in_loop(level: int, body: tuple[Node, ...]) -> Node:
    return Loop(f"k{level}", LitU32(0), LitU32(2), body)


def in_if(level: int, body: tuple[Node, ...]) -> Node:
    return If(WorkgroupId(0), body)


def barriers() -> Program:
    return program(*[Barrier()] * (MAX_NODES - 1))


SHAPES: dict[str, tuple[Callable[[], Program], list[str]]] = {
    "deep expressions": (deep_expressions, []),
    "tiny statements": (tiny_statements, []),
    "variables": (variables, []),
    "nested ifs": (nested_ifs, []),
    "slow to settle": (slow_to_settle, ["V010"]),
    "assignments in nested loops": (partial(nested_assignments, in_loop), []),
    "assignments in nested ifs": (partial(nested_assignments, in_if), []),
    "barriers": (barriers, []),
}


@pytest.mark.parametrize(("build", "expected"), SHAPES.values(), ids=SHAPES.keys())
def test_large_programs_are_checked_soon(build: Callable[[], Program], expected: list[str]) -> None:
    subject = build()
    assert 45_000 < subject.size <= MAX_NODES
    assert codes_soon(subject) == expected


def test_a_chain_of_100_000_meets_the_limits() -> None:
    store = OUT.store(0, chain(100_000))
    assert codes_soon(program(store)) == ["V019", "V034"]
    nested = program(Block((If(LitU32(1), (store,)),)))
    assert [(d.code, d.path) for d in validate(nested)] == [
        ("V019", "entry"),
        ("V034", "entry[0].body[0].then[0]"),
    ]


def test_the_depth_limit_alone() -> None:
    assert codes_soon(program(OUT.store(0, chain(MAX_EXPR_DEPTH)))) == []
    deeper = program(OUT.store(0, chain(MAX_EXPR_DEPTH + 1)), Let("x", Var("y")))
    assert [(d.code, d.path) for d in validate(deeper)] == [
        ("V034", "entry[0].value"),
        ("V006", "entry[1].value"),
    ]


def test_sharing_is_counted_as_a_tree_and_never_walked_as_one() -> None:
    value: Expr = Var("missing")
    for _ in range(100):
        value = value + value
    assert codes_soon(program(OUT.store(0, value))) == ["V019"]
    body: tuple[Node, ...] = (OUT.store(0, 1),)
    for _ in range(60):
        body = (Block(body), Block(body))
    assert codes_soon(program(*body)) == ["V019"]


def test_sharing_below_the_limit_is_typed_once() -> None:
    value: Expr = Var("missing")
    for _ in range(15):
        value = value + value
    assert codes_soon(program(OUT.store(0, value))) == ["V006"]


def test_ten_thousand_nested_blocks() -> None:
    body: tuple[Node, ...] = (Barrier(),)
    for _ in range(10_000):
        body = (Block(body),)
    found = validate(program(*body))
    assert [d.code for d in found] == ["V018"]
    assert found[0].path == "entry[0]" + ".body[0]" * 64
    huge = program(*body, OUT.store(0, chain(60_000)))
    assert codes_soon(huge) == ["V019", "V018", "V034"]


def test_the_list_of_errors_is_bounded() -> None:
    nodes = [Let(f"v{i}", Var(f"u{i}")) for i in range(MAX_NODES // 2)]
    assert len(codes_soon(program(*nodes))) == MAX_DIAGNOSTICS
    value: Expr = LitU32(0)
    while value.depth < MAX_EXPR_DEPTH:
        value = value + Var(f"u{value.depth}")
    assert set(codes_soon(program(*[OUT.store(i, value) for i in range(48)]))) == {"V006"}


VALID = """\
vyre 1
workgroup 8 2 1
buffer a: readonly U32 @0
buffer out: readwrite U32[64] @1
buffer c: uniform U32[4] @2
buffer reals: readwrite F32 @3
buffer raw: readwrite Bytes @4
buffer tile: workgroup U32[64]
buffer hits: workgroup_atomic U32[4]
entry {
  let i = invocation.x
  let acc = 0
  for k in 0..c[0] {
    acc := acc + a[k] * 3
    if k == 2 { barrier } else { tile[local.x] = acc }
  }
  barrier
  if i < len(out) {
    let old = atomic_compare_exchange(hits[i & 3], acc, 7)
    out[i] = popcount(a[i] ^ 5) + call primitive.math.add(old, select(i > 4, 1, 2))
  } else { return }
  block {
    let v = make<Vec4U32>(i, 1, 2, acc)
    let w = cast<U64>(v)
    out[w.1] = v.3 + raw[i]
    raw[0] = cast<U32>(-5i) + cast<U32>(true)
    let f = fma(reals[i], f32(1.5), freduce_tree<Add>(reals, 0..i))
    reals[i] = fdiv(fsqrt(f), approx<FExpApprox, 4>(f))
    let n = convert<I32, Floor>(f)
    out[0] = cast<U32>(~n) >> 3
  }
}
"""


class Mutator:
    """Swaps, renames and retypes parts of a program, without asking whether the result makes sense."""

    def __init__(self, subject: Program, seed: int) -> None:
        self.rng = random.Random(seed)
        self.heat = self.rng.choice([0.03, 0.2, 1.0])
        self.subject = subject
        self.exprs: list[Expr] = []
        self.nodes: list[Node] = []
        stack = list(subject.entry)
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            roots = list(node.exprs)
            while roots:
                expr = roots.pop()
                self.exprs.append(expr)
                roots += expr.children
            stack.extend(child for body in node.bodies for child in body)

    def chance(self, likely: float) -> bool:
        return self.rng.random() < likely * self.heat

    def mutate(self) -> Program:
        buffers = [self.buffer(b) for b in self.subject.buffers]
        if self.chance(0.1):
            self.rng.shuffle(buffers)
            buffers = buffers[: self.rng.randint(0, len(buffers))]
        size = list(self.subject.workgroup_size)
        if self.chance(0.2):
            size[self.rng.randrange(3)] = self.rng.choice([0, 7, 2_000, -1, 1 << 40])
        return Program(buffers, size, self.body(self.subject.entry))

    def buffer(self, old: BufferDecl) -> BufferDecl:
        chance = self.chance
        return BufferDecl(
            self.name(old.name) if chance(0.05) else old.name,
            self.rng.choice([None, 0, 1, -3, 1 << 33]) if chance(0.05) else old.binding,
            self.rng.choice(_MUTABLE) if chance(0.1) else old.access,
            self.rng.choice(list(DataType)) if chance(0.1) else old.element,
            self.rng.choice([0, 1, 1 << 20, -1, 1 << 32]) if chance(0.05) else old.count,
        )

    def name(self, old: str) -> str:
        return self.rng.choice([old, "i", "k", "acc", "out", "tile", "nowhere", "", "__x", "x" * 200, "é"])

    def body(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        new = [self.node(n) for n in nodes]
        if self.chance(0.2):
            new.insert(self.rng.randint(0, len(new)), self.rng.choice(self.nodes))
        if new and self.chance(0.2):
            new.pop(self.rng.randrange(len(new)))
        return tuple(new)

    def node(self, old: Node) -> Node:
        if self.chance(0.05):
            return self.rng.choice([*self.nodes, Barrier(), Return()])
        match old:
            case Let(name=name, value=value):
                kind = Assign if self.chance(0.1) else Let
                return kind(self.maybe(name), self.expr(value))
            case Assign(name=name, value=value):
                return Assign(self.maybe(name), self.expr(value))
            case Store(buffer=buffer, index=index, value=value):
                return Store(self.maybe(buffer), self.expr(index), self.expr(value))
            case If(condition=condition, then=then, orelse=orelse):
                return If(self.expr(condition), self.body(then), self.body(orelse))
            case Loop(var=var, start=start, stop=stop, body=body):
                return Loop(self.maybe(var), self.expr(start), self.expr(stop), self.body(body))
            case Block(body=body):
                return Block(self.body(body))
            case _:
                return old

    def maybe(self, name: str) -> str:
        return self.name(name) if self.chance(0.05) else name

    def expr(self, old: Expr) -> Expr:
        if self.chance(0.08):
            return self.rng.choice(self.exprs)
        new = rebuild(old, tuple(self.expr(c) for c in old.children))
        return self.field(new) if self.chance(0.1) else new

    def field(self, old: Expr) -> Expr:
        """Replaces one field of a node by another value of its kind."""
        cls: Any = type(old)
        values: list[Any] = [getattr(old, name) for name in cls.__match_args__]
        if not values:
            return old
        at = self.rng.randrange(len(values))
        match values[at]:
            case Expr():
                values[at] = self.rng.choice(self.exprs)
            case str():
                values[at] = self.name(values[at])
            case bool():
                values[at] = not values[at]
            case int():
                values[at] = self.rng.choice([0, 1, 2, 3, 7, 255])
            case tuple():
                values[at] = tuple(self.rng.choices(self.exprs, k=self.rng.randint(0, 5)))
            case None:
                pass
            case member:
                members = cast("type[Enum]", type(member))
                values[at] = self.rng.choice(list(members))
        try:
            return cls(*values)
        except VyreError:
            return old


def test_the_program_that_is_mutated_is_valid() -> None:
    assert validate(parse_program(VALID)) == []


def test_mutated_programs_never_crash_the_validator() -> None:
    subject = parse_program(VALID)
    seen: set[str] = set()
    valid = 0
    for seed in range(2_000):
        mutant = Mutator(subject, seed).mutate()
        found = validate(mutant)
        assert found == validate(mutant)
        for diagnostic in found:
            assert diagnostic.path
            assert diagnostic.fix.endswith(".")
        seen |= {d.code for d in found}
        valid += not found
    assert len(seen) > 25, sorted(seen)
    assert 20 < valid < 1_000


def test_a_call_with_many_arguments_and_a_node_with_many_operands() -> None:
    arguments = tuple(LitU32(i) for i in range(40_000))
    found = validate(
        program(Let("x", e.Call("primitive.math.add", arguments)), Let("y", e.MakeVec(U32, arguments)))
    )
    assert [d.code for d in found] == ["V027", "V026"]
