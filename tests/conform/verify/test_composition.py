"""Compositional proofs: complete, able to fail, and tied to the real inlined bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from vyre.backends.reference.backend import ReferenceBackend
from vyre.compose.registry import Registry, default_registry
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.composition import long_division, proofs, recurrences
from vyre.conform.verify.composition.body import LoopParts, inlined_body, loop_parts
from vyre.conform.verify.composition.long_division import DIVISIONS
from vyre.conform.verify.composition.meaning import INVARIANTS, MEANINGS
from vyre.conform.verify.composition.proofs import provable_ops, prove_op
from vyre.conform.verify.composition.recurrences import RECURRENCES
from vyre.conform.verify.composition.theorems import THEOREMS, Theorem, mutant_obligations, obligation
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.conform.verify.stages.composition import Composition
from vyre.errors import OpError
from vyre.ir.expr import Cast, Expr, Lane, LitU32, MakeVec, Var, mul_hi
from vyre.ir.node import Assign, If, Let, Loop, Node
from vyre.ir.op import Op
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, rebuild
from vyre.ops import standard_ops
from vyre.semantics.proof_cache import ProofCache, default_folder
from vyre.semantics.solvers import Answer, Attempt, solve
from vyre.semantics.translate import Translation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import BackendInfo, Executable
    from vyre.ir.program import Program

U32 = DataType.U32

CACHE = ProofCache(default_folder())
OPS = {op.id: op for op in provable_ops()}


def test_every_integer_op_of_the_library_has_a_meaning() -> None:
    library = {op.id for op in standard_ops() if not op.id.startswith("float.")}
    assert set(OPS) == library
    assert set(MEANINGS) <= library


@pytest.mark.parametrize("op_id", list(OPS))
def test_the_inlined_body_is_proved_for_all_inputs(op_id: str) -> None:
    proof = prove_op(OPS[op_id], CACHE)
    assert proof.proved, proof


def _wrong_at_one_word(op: Op) -> Expr:
    """The body, with the lowest bit of the result flipped where the first word is 0xDEADBEEF."""
    first, body = op.params[0], inlined_body(op)
    word = Lane(Var(first.name), 0) if first.type.lanes > 1 else Cast(U32, Var(first.name))
    flip = word.eq(0xDEADBEEF)
    if op.output.lanes == 1:
        return Cast(op.output, Cast(U32, body) ^ flip)
    lanes = [Lane(body, k) for k in range(op.output.lanes)]
    return MakeVec(op.output, (lanes[0] ^ flip, *lanes[1:]))


WITH_LOOPS = {*INVARIANTS, *DIVISIONS, *RECURRENCES}


@pytest.mark.parametrize("op_id", [i for i in MEANINGS if i not in WITH_LOOPS and not i.endswith(".mul")])
def test_one_wrong_word_is_refuted(op_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "inlined_body", _wrong_at_one_word)
    proof = prove_op(OPS[op_id], ProofCache(None))
    assert proof.answer == "refuted"


@pytest.mark.parametrize("fault", ["one turn too few", "a turn that sets the lowest bit"])
def test_a_wrong_loop_is_refuted(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = OPS["integer.isqrt"]
    real = loop_parts(op)

    def low_bit(turn: int) -> Mapping[str, Expr]:
        return {"root": real.step(turn)["root"] | 1}

    def parts(_: Op) -> LoopParts:
        return replace(real, turns=range(15)) if fault == "one turn too few" else replace(real, step=low_bit)

    monkeypatch.setattr(proofs, "loop_parts", parts)
    assert prove_op(op, ProofCache(None)).answer == "refuted"


def _changed(op: Op, old: Expr, new: Expr) -> Op:
    """The op with one expression in the place of another, wherever it stands."""

    def value(root: Expr) -> Expr:
        done: dict[Expr, Expr] = {}
        for node in postorder(root):
            same = rebuild(node, tuple(done[c] for c in node.children)) if node.children else node
            done[node] = new if node == old else same
        return done[root]

    def statement(node: Node) -> Node:
        match node:
            case Let(name=name, value=held):
                return Let(name, value(held))
            case Assign(name=name, value=held):
                return Assign(name, value(held))
            case If(condition=condition, then=then):
                return If(value(condition), tuple(map(statement, then)))
            case Loop(var=var, start=start, stop=stop, body=body):
                return Loop(var, start, value(stop), tuple(map(statement, body)))
            case _:
                return node

    assert op.result is not None
    made = replace(op, body=tuple(map(statement, op.body)), result=value(op.result))
    assert made != op
    return made


_TURN = Var("moved0") < Lane(Var("b"), 0)
FAULTS: dict[str, tuple[str, Expr, Expr]] = {
    "a comparison that lets equal words pass": ("wide.u64.div", _TURN, Var("moved0") <= Lane(Var("b"), 0)),
    "a carry that is lost": ("wide.u128.mod", Var("rest3") >> 31, LitU32(0)),
    "a negation without its carry": ("wide.i64.mod", Var("low").eq(0), LitU32(0)),
    "a high word that is not reduced": (
        "integer.mul_mod",
        mul_hi(Var("a"), Var("b")) % Var("modulus"),
        mul_hi(Var("a"), Var("b")),
    ),
    "a turn too few for the longest remainders": ("integer.gcd", LitU32(47), LitU32(46)),
    "a power that begins with 1 where the modulus is 1": (
        "integer.pow_mod",
        LitU32(1) % Var("modulus"),
        LitU32(1),
    ),
    "a carry of a sum that is left out": (
        "wide.u128.mul",
        Var("sum110") < Var("product11"),
        LitU32(0),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_step_of_a_long_computation_is_refuted(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op_id, old, new = FAULTS[fault]
    wrong = _changed(OPS[op_id], old, new)
    registry = default_registry()
    known = Registry([wrong if op.id == op_id else op for op in registry])

    def parts(op: Op, *, inlined: bool = True, named: tuple[str, ...] = ()) -> LoopParts:
        return loop_parts(op, registry=known, inlined=inlined, named=named)

    for module in (long_division, recurrences):
        monkeypatch.setattr(module, "loop_parts", parts)
    assert prove_op(wrong, ProofCache(None)).answer == "refuted"


def test_a_shape_that_is_not_the_meaning_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        proofs.SHAPES,  # type: ignore[arg-type]
        "wide.u64.mul",
        "(= result (bvmul a (bvadd b (_ bv4294967296 64))))",
    )
    assert not prove_op(OPS["wide.u64.mul"], ProofCache(None)).proved


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda t: t.name)
def test_every_theorem_is_proved_and_needs_each_of_its_hypotheses(theorem: Theorem) -> None:
    assert solve(obligation(theorem)).answer is Answer.Unsat
    assert theorem.without in {h.name for h in theorem.hypotheses}
    for k in range(len(theorem.hypotheses)):
        fewer = replace(theorem, hypotheses=theorem.hypotheses[:k] + theorem.hypotheses[k + 1 :])
        assert solve(obligation(fewer)).answer is Answer.Sat, theorem.hypotheses[k].name


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda t: t.name)
def test_the_counterexample_of_a_mutant_replays_in_another_solver(theorem: Theorem) -> None:
    _, broken = mutant_obligations(theorem)
    verdict = solve(broken)
    assert verdict.answer is Answer.Sat
    fixed = "".join(f"(assert (= {name} (_ bv{value} 32)))\n" for name, value in verdict.model.items())
    assert solve(broken + fixed, attempts=[Attempt("cvc5")]).answer is Answer.Sat


def test_statements_become_expressions() -> None:
    x = Var("x")
    op = Op(
        "test.steps",
        OPS["integer.min"].params[:1],
        OPS["integer.min"].output,
        x,
        (
            Let("x", Var("a")),
            Loop("i", LitU32(0), LitU32(3), (If(x & 1, (Assign("x", x + Var("i")),)),)),
        ),
    )
    body = inlined_body(op, registry=Registry([op]))
    for a in (0, 1, 5, 0xFFFF_FFFF):
        x = a
        for i in range(3):
            x = (x + i) & 0xFFFF_FFFF if x & 1 else x
        fixed = Translation({"a": U32})
        known = f"(assert (= a (_ bv{a} 32)))\n(assert (distinct {fixed.term(body)} (_ bv{x} 32)))"
        text = "\n".join(["(set-logic QF_BV)", *fixed.lines, known])
        assert solve(text).answer is Answer.Unsat


def test_a_loop_of_unknown_length_is_refused() -> None:
    a = OPS["integer.min"].params[0]
    body = (Let("x", LitU32(0)), Loop("i", LitU32(0), Var("a"), (Assign("x", Var("x") + 1),)))
    op = Op("test.unknown", (a,), a.type, Var("x"), body)
    with pytest.raises(OpError, match="not literals"):
        inlined_body(op, registry=Registry([op]))


class Wrong:
    """The reference, with one bit flipped in the result of every program."""

    name = "wrong"

    def describe(self) -> BackendInfo:
        return ReferenceBackend().describe()

    def compile(self, program: Program) -> Executable:
        inner = ReferenceBackend().compile(program)

        class Run:
            def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
                inner.run(buffers, workgroups)
                buffers["result"][0] ^= 1

        return Run()


def test_the_stage_proves_and_runs() -> None:
    stage, plan = Composition(CACHE), make_plan("reference", cases=0)
    number = list(OPS).index("signed.div")
    last = stage.count(plan) - 1
    assert [o.status for o in stage.run(ReferenceBackend(), plan, number, number + 2)] == [PASSED, PASSED]
    assert [o.status for o in stage.run(ReferenceBackend(), plan, last, last + 1)] == [PASSED]
    (wrong,) = stage.run(Wrong(), plan, number, number + 1)
    assert (wrong.status, wrong.kind) == (FAILED, "value")


def test_the_stage_fails_on_a_proof_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "inlined_body", _wrong_at_one_word)
    stage, plan = Composition(ProofCache(None)), make_plan("reference", cases=0)
    (wrong,) = stage.run(ReferenceBackend(), plan, 0, 1)
    assert (wrong.status, wrong.kind) == (FAILED, "proof")
    assert wrong.inputs
