"""V010: the analysis refuses barriers that some invocations may miss, and no others it can help."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from vyre.ir import (
    Assign,
    Barrier,
    BinaryOp,
    BinOp,
    Block,
    Break,
    BufferDecl,
    DataType,
    Expr,
    If,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Node,
    Program,
    Return,
    Var,
    WorkgroupId,
)
from vyre.text import parse_program
from vyre.validate import validate
from vyre.validate.control_facts import MAX_EXACT_WORK, control_facts

HEADER = """\
vyre 1
workgroup 64 1 1
buffer ro: readonly U32 @0
buffer un: uniform U32[4] @1
buffer rw: readwrite U32 @2
buffer fl: readwrite F32 @3
buffer rf: readonly F32 @4
buffer tile: workgroup U32[64]
buffer hits: workgroup_atomic U32[4]
buffer own: private U32[4]
buffer table: constant U32 { 0, 1 }
"""

UNIFORM = {
    "plain": "barrier",
    "workgroup id": "if workgroup.y == 0 { barrier }",
    "length": "if len(rw) > 4 { barrier }",
    "uniform load": "if un[0] { barrier }",
    "read-only load at a uniform index": "if ro[workgroup.x] { barrier }",
    "float reduction of read-only memory": "if fgt(freduce_strict<Add>(rf, 0..4), f32(1.0)) { barrier }",
    "else of a uniform if": "if un[0] { } else { barrier }",
    "after a divergent if": "if local.x { rw[0] = 1 }\nbarrier",
    "uniform loop": "for k in 0..4 { barrier }",
    "uniform bounds from memory": "for k in 0..ro[0] { barrier }",
    "loop variable of a uniform loop": "for k in 0..4 { if k == 2 { barrier } }",
    "uniform return before": "if un[0] { return }\nbarrier",
    "uniform return in a loop": "for k in 0..4 { if ro[k] { return }\nbarrier }",
    "divergent return after the last barrier": "barrier\nif local.x { return }",
    "divergent value, uniform control": "let x = local.x\nrw[x] = x\nbarrier",
    "variable made uniform again": "let x = local.x\nx := un[0]\nif x { barrier }",
    "assigned under uniform control": "let x = 0\nif un[0] { x := 1 }\nif x { barrier }",
    "divergent copy does not reach back": "let x = 0\nlet y = x\ny := local.x\nif x { barrier }",
    "unrelated assignment in a divergent loop": "let x = 0\nfor k in 0..local.x { x := 1 }\nbarrier",
    "branch that never falls through": "let x = 0\nif un[0] {\n  x := local.x\n  return\n}\nif x { barrier }",
    "divergent return before a return of all": "if un[0] {\n  if local.x { return }\n  return\n}\nbarrier",
    "both branches set it": "let x = local.x\nif un[0] { x := 1 } else { x := 2 }\nif x { barrier }",
    "scopes with one name": "block {\n  let x = local.x\n}\nlet x = 0\nif x { barrier }",
    "loop body overwrites": "let x = local.x\nfor k in 0..4 {\n  x := 0\n  if x { barrier }\n}",
    "call of uniform arguments": "if call primitive.math.add(un[0], 1) { barrier }",
    "block": "block { block { barrier } }",
    "fresh let inside a divergent branch": "if local.x {\n  let x = 0\n}\nbarrier",
    "uniform break": "for k in 0..4 { if ro[k] { break }\nbarrier }",
    "after a divergent break": "for k in 0..4 { if local.x == k { break } }\nbarrier",
    "around an inner divergent break": "for i in 0..4 { for k in 0..4 { if local.x { break } }\nbarrier }",
    "values of a uniform break": "let x = 0\nfor k in 0..4 { if un[0] { x := 1 break } }\nif x { barrier }",
    "a table at a uniform index": "if table[workgroup.x] { barrier }",
    "a branch that leaves": "let x = 0\nfor k in 0..4 { if un[k] { x := local.x break }\nif x { barrier } }",
}

DIVERGENT = {
    "local id": "if local.x { barrier }",
    "invocation id": "if invocation.x < 4 { barrier }",
    "storage others may write": "if rw[0] { barrier }",
    "workgroup memory": "if tile[0] { barrier }",
    "workgroup atomic memory": "if hits[0] { barrier }",
    "atomic result": "if atomic_add(hits[0], 1) { barrier }",
    "read-only load at a divergent index": "if ro[local.x] { barrier }",
    "float reduction of shared memory": "if fgt(freduce_strict<Add>(fl, 0..4), f32(1.0)) { barrier }",
    "float reduction over a divergent range": (
        "if fgt(freduce_strict<Add>(rf, 0..local.x), f32(1.0)) { barrier }"
    ),
    "else of a divergent if": "if local.x { } else { barrier }",
    "nested under divergence": "if local.x { if un[0] { block { barrier } } }",
    "divergent stop": "for k in 0..local.x { barrier }",
    "divergent start": "for k in local.x..64 { barrier }",
    "through variables": "let x = local.x\nlet y = x + 1\nif y { barrier }",
    "assigned under divergence": "let x = 0\nif local.x { x := 1 }\nif x { barrier }",
    "assigned in the else under divergence": "let x = 0\nif local.x { } else { x := 1 }\nif x { barrier }",
    "counted in a divergent loop": "let x = 0\nfor k in 0..local.x { x := x + 1 }\nif x { barrier }",
    "divergent return before": "if local.x { return }\nbarrier",
    "divergent return in a loop before": "for k in 0..4 { if local.x == k { return } }\nbarrier",
    "divergent return in an earlier iteration": "for k in 0..4 {\n  barrier\n  if local.x == k { return }\n}",
    "return in a loop of divergent length": "for k in 0..local.x { return }\nbarrier",
    "uniform return under divergence": "if local.x { if un[0] { return } }\nbarrier",
    "return inside a block": "if local.x { block { return } }\nbarrier",
    "return from the else": "if local.x { rw[0] = 1 } else { return }\nbarrier",
    "divergent in the next iteration": "let x = 0\nfor k in 0..4 {\n  if x { barrier }\n  x := local.x\n}",
    "through two iterations": (
        "let x = 0\nlet y = 0\nfor k in 0..4 {\n  if y { barrier }\n  y := x\n  x := local.x\n}"
    ),
    "divergent after zero iterations": "let x = local.x\nfor k in 0..un[0] { x := 0 }\nif x { barrier }",
    "from the outer iteration": (
        "let x = 0\nfor i in 0..4 {\n  for k in 0..4 { if x { barrier } }\n  x := local.x\n}"
    ),
    "divergent bound through a variable": "let n = 4\nif local.x { n := 5 }\nfor k in 0..n { barrier }",
    "select": "let x = select(local.x, 1, 2)\nif x { barrier }",
    "call of divergent arguments": "if call primitive.math.add(local.x, 1) { barrier }",
    "second half of a branch": "let x = 0\nif un[0] {\n  if local.x { x := 1 }\n}\nif x { barrier }",
    "break before": "for k in 0..4 { if local.x == k { break }\nbarrier }",
    "break behind, for the next turn": "for k in 0..4 { barrier\nif local.x == k { break } }",
    "break under divergence": "for k in 0..4 { if local.x { if un[0] { break } }\nbarrier }",
    "break from a block": "for k in 0..4 { if local.x { block { break } }\nbarrier }",
    "barrier in an inner loop": "for k in 0..4 { if local.x == k { break }\nfor j in 0..2 { barrier } }",
    "assigned until a break": "let x = 0\nfor k in 0..4 { x := k\nif local.x { break } }\nif x { barrier }",
    "assigned at a break": "let x = 0\nfor k in 0..4 { if un[k] { x := local.x break } }\nif x { barrier }",
    "assigned behind a break": "let x = 0\nfor k in 0..4 { if local.x { break } x := 1 }\nif x { barrier }",
    "return behind a break": "for k in 0..4 { if local.x { break } return }\nbarrier",
    "return before a break": "for k in 0..4 { if un[k] { if local.x { return } break } }\nbarrier",
    "private memory": "if own[0] { barrier }",
    "a table at a divergent index": "if table[local.x] { barrier }",
    "barrier in a loop with a return in an inner loop": (
        "for i in 0..4 {\n  barrier\n  for k in 0..4 { if local.x == k { return } }\n}"
    ),
}


def codes(body: str) -> list[str]:
    return [d.code for d in validate(parse_program(f"{HEADER}entry {{\n{body}\n}}\n"))]


@pytest.mark.parametrize("body", UNIFORM.values(), ids=UNIFORM.keys())
def test_uniform_control_is_accepted(body: str) -> None:
    assert codes(body) == []


@pytest.mark.parametrize("body", DIVERGENT.values(), ids=DIVERGENT.keys())
def test_divergent_control_is_refused(body: str) -> None:
    assert codes(body) == ["V010"]


def test_each_bad_barrier_is_reported_at_its_place_with_its_cause() -> None:
    text = "let t = tile[0]\nbarrier\nif t {\n  barrier\n}\nif local.x { return }\nbarrier"
    found = validate(parse_program(f"{HEADER}entry {{\n{text}\n}}\n"))
    assert [(d.code, d.path) for d in found] == [("V010", "entry[2].then[0]"), ("V010", "entry[4]")]
    assert "the Workgroup buffer tile" in found[0].message
    assert "returned" in found[1].message
    assert "LocalId" in found[1].message
    assert [d.location.line for d in found if d.location] == [HEADER.count("\n") + 5, HEADER.count("\n") + 8]


def coarse_program(last: Node) -> Program:
    """More assignments under more blocks than the exact analysis follows."""
    names = [f"v{i}" for i in range(1_000)]
    chain: list[Node] = [Assign(a, Var(b)) for a, b in pairwise(names)]
    body: tuple[Node, ...] = (*chain, last, If(Var("v0"), (Barrier(),)))
    for level in range(60):
        body = (Loop(f"k{level}", LitU32(0), LitU32(2), body),)
    program = Program([], (64, 1, 1), [*(Let(name, LitU32(0)) for name in names), *body])
    assert control_facts(program.entry, {}).work > MAX_EXACT_WORK
    return program


def test_the_coarse_analysis_still_tells_uniform_from_divergent() -> None:
    one = Assign("v999", LitU32(1))
    for uniform in (one, Assign("v999", WorkgroupId(0)), If(WorkgroupId(0), (one,))):
        assert validate(coarse_program(uniform)) == []
    for divergent in (
        Assign("v999", LocalId(0)),
        If(LocalId(0), (one,)),
        Loop("j", LitU32(0), LocalId(0), (one,)),
    ):
        assert [d.code for d in validate(coarse_program(divergent))] == ["V010"]


@dataclass
class RandomPrograms:
    """Small random control flow over two variables, with barriers, breaks and returns."""

    rng: random.Random
    fresh: int = 0
    loops: int = 0
    names: list[str] = field(default_factory=lambda: ["p", "q"])

    def expr(self) -> Expr:
        leaf = self.rng.choice(
            [
                LitU32(0),
                LitU32(1),
                LocalId(0),
                WorkgroupId(0),
                Load("ro", LitU32(1)),
                *map(Var, self.names * 2),
            ]
        )
        if self.rng.random() < 0.3:
            op = self.rng.choice([BinaryOp.BitXor, BinaryOp.BitAnd, BinaryOp.Add])
            return BinOp(op, leaf, self.rng.choice([LitU32(1), Var(self.rng.choice(self.names))]))
        return leaf

    def body(self, depth: int) -> tuple[Node, ...]:
        return tuple(self.node(depth) for _ in range(self.rng.randint(1, 3)))

    def node(self, depth: int) -> Node:
        kind = self.rng.choices(
            ["assign", "barrier", "return", "break", "if", "loop", "block"],
            [5, 3, 1, 2 if self.loops else 0, 4 if depth else 0, 3 if depth else 0, 1 if depth else 0],
        )[0]
        match kind:
            case "assign":
                return Assign(self.rng.choice(self.names), self.expr())
            case "barrier":
                return Barrier()
            case "return":
                return Return()
            case "break":
                return Break()
            case "if":
                orelse = self.body(depth - 1) if self.rng.random() < 0.4 else ()
                return If(self.expr(), self.body(depth - 1), orelse)
            case "loop":
                self.fresh += 1
                bound = BinOp(BinaryOp.BitAnd, self.expr(), LitU32(3))
                name = f"k{self.fresh}"
                self.loops += 1
                body = self.body(depth - 1)
                self.loops -= 1
                return Loop(name, LitU32(0), bound, body)
            case _:
                return Block(self.body(depth - 1))

    def program(self) -> Program:
        entry = (Let("p", LitU32(0)), Let("q", self.expr_without_variables()), *self.body(3))
        return Program([BufferDecl.read("ro", 0, DataType.U32)], (4, 1, 1), entry)

    def expr_without_variables(self) -> Expr:
        return self.rng.choice([LitU32(1), LocalId(0), WorkgroupId(0)])


class _Returned(Exception):
    pass


class _Left(Exception):
    pass


def barriers_met(program: Program, local: int, group: int, loaded: int) -> list[tuple[object, ...]]:
    """The barriers one invocation passes, each with the iterations it happened in: the plain truth."""
    values: dict[str, int] = {}
    met: list[tuple[object, ...]] = []

    def evaluate(expr: Expr) -> int:
        match expr:
            case LitU32(value=value):
                return value
            case Var(name=name):
                return values[name]
            case LocalId():
                return local
            case WorkgroupId():
                return group
            case Load():
                return loaded
            case BinOp(op=op, left=left, right=right):
                a, b = evaluate(left), evaluate(right)
                results = {BinaryOp.BitXor: a ^ b, BinaryOp.BitAnd: a & b, BinaryOp.Add: a + b}
                return results[op]
            case _:
                raise AssertionError(expr)

    def execute(nodes: tuple[Node, ...], place: tuple[object, ...]) -> None:
        for position, node in enumerate(nodes):
            here = (*place, position)
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    values[name] = evaluate(value)
                case Barrier():
                    met.append(here)
                case Return():
                    raise _Returned
                case Break():
                    raise _Left
                case If(condition=condition, then=then, orelse=orelse):
                    taken = evaluate(condition) != 0
                    execute(then if taken else orelse, (*here, taken))
                case Loop(stop=stop, body=body):
                    with suppress(_Left):
                        for k in range(evaluate(stop)):
                            execute(body, (*here, "iteration", k))
                case Block(body=body):
                    execute(body, here)
                case _:
                    raise AssertionError(node)

    with suppress(_Returned):
        execute(program.entry, ())
    return met


def really_diverges(program: Program) -> bool:
    for group in range(2):
        for loaded in range(3):
            first, *others = [barriers_met(program, local, group, loaded) for local in range(4)]
            if any(other != first for other in others):
                return True
    return False


def test_no_accepted_program_diverges_when_it_runs() -> None:
    accepted = refused_rightly = refused = 0
    for seed in range(2_500):
        program = RandomPrograms(random.Random(seed)).program()
        found = {d.code for d in validate(program)}
        assert found <= {"V010"}
        if not found:
            accepted += 1
            assert not really_diverges(program), seed
        else:
            refused += 1
            refused_rightly += really_diverges(program)
    # Enough of both kinds to mean something, and most refusals have a witness among 24 runs.
    assert accepted > 500
    assert refused > 500
    assert refused_rightly > refused // 2
