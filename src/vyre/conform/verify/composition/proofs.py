"""Proofs that inlined bodies mean what their ops mean, for all inputs.

    prove_op(op, cache) -> CompositionProof

A proof is a list of links, each a question no solver can answer with yes: directly, through a shape in
between, or by induction over the turns of a loop. Where a body divides, the link to its shape is proved with
division as an arbitrary function, which is more than is needed; sums of products are proved with any product.
One link that is refuted or not decided fails the proof and is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.registry import specs
from vyre.conform.verify.composition import long_division, long_product, recurrences
from vyre.conform.verify.composition.body import inlined_body, loop_parts
from vyre.conform.verify.composition.link import Link, abstract, moved, not_, query
from vyre.conform.verify.composition.long_division import DIVISIONS
from vyre.conform.verify.composition.long_product import U128_MUL
from vyre.conform.verify.composition.meaning import (
    ANY_SQUARE,
    HIGH_PRODUCT,
    INVARIANTS,
    MEANINGS,
    OF_PRODUCTS,
    PRODUCT_OF_HALVES,
    RESULT,
    SHAPES,
    SQUARE,
    SQUARES,
)
from vyre.conform.verify.composition.recurrences import RECURRENCES
from vyre.ops import standard_ops
from vyre.semantics.solvers import Answer, Attempt
from vyre.semantics.terms import SmtDomain
from vyre.semantics.translate import Translation, sort

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.op import Op
    from vyre.semantics.proof_cache import ProofCache

_PRODUCTS = {"bvmul": "product"}
PRIMITIVE = "primitive."
MUL_HI = "primitive.math.mul_hi"
_SQUARED = re.compile(r"\(bvmul (\S+) \1\)")


@dataclass(frozen=True, slots=True)
class CompositionProof:
    """What came of the links; `failed` is the first that was refuted or left open, with its model."""

    subject: str
    links: int
    seconds: float
    solvers: tuple[str, ...]
    failed: str = ""
    answer: str = ""
    model: Mapping[str, int] | None = None

    @property
    def proved(self) -> bool:
        return not self.failed


def provable_ops() -> tuple[Op, ...]:
    """Every op of the standard library over integers."""
    return tuple(op for op in standard_ops() if op.id.startswith(PRIMITIVE) or op.id in MEANINGS)


def links(op: Op) -> list[Link]:
    """The steps from the inlined body of an op to its meaning."""
    if op.id.startswith(PRIMITIVE):
        spec = next(s for s in specs() if s.id == op.id)
        if op.id == MUL_HI:
            return _high_product(op, spec)
        return [Link("the body is the definition", _against_spec(op, spec))]
    meaning = MEANINGS[op.id]
    if op.id in DIVISIONS:
        return long_division.links(op, DIVISIONS[op.id], meaning)
    if op.id in RECURRENCES:
        return recurrences.links(op)
    if op.id == U128_MUL:
        return long_product.links(op)
    if op.id in INVARIANTS:
        return _induction(op, INVARIANTS[op.id], meaning)
    if op.id in SHAPES:
        shape = SHAPES[op.id]
        parameters = [f"(declare-const {p.name} {sort(p.type)})" for p in op.params]
        declared = [*parameters, f"(declare-const {RESULT} {sort(op.output)})"]
        bridge = query([*declared, f"(assert {shape})", f"(assert (not {meaning}))"])
        return [
            Link("the body has the shape", abstract(_body_query(op, shape))),
            Link("the shape has the meaning", bridge),
        ]
    if op.id in OF_PRODUCTS:
        return [Link("the body has the meaning", abstract(_body_query(op, meaning), _PRODUCTS))]
    return [Link("the body has the meaning", _body_query(op, meaning))]


def prove_op(op: Op, cache: ProofCache) -> CompositionProof:
    return settle(op.id, links(op), cache)


def settle(subject: str, steps: list[Link], cache: ProofCache) -> CompositionProof:
    """Asks the questions in order, up to the first whose answer is not no."""
    seconds = 0.0
    solvers: dict[str, None] = {}
    for step in steps:
        verdict = cache.solve(step.text, attempts=step.attempts)
        seconds += verdict.seconds
        solvers[f"{verdict.attempt.solver} {verdict.version}"] = None
        if verdict.answer is not Answer.Unsat:
            how = "refuted" if verdict.answer is Answer.Sat else "not decided"
            return CompositionProof(
                subject, len(steps), seconds, tuple(solvers), step.name, how, verdict.model
            )
    return CompositionProof(subject, len(steps), seconds, tuple(solvers))


def _body_query(op: Op, meaning: str) -> str:
    translation = Translation({p.name: p.type for p in op.params})
    result = translation.term(inlined_body(op))
    defined = f"(define-fun {RESULT} () {sort(op.output)} {result})"
    return query([*translation.lines, defined, f"(assert (not {meaning}))"])


def _induction(op: Op, invariant: Callable[[int], str], meaning: str) -> list[Link]:
    """The turns are proved about any function `square` with the two properties that are proved of squares."""
    parts = loop_parts(op)
    types = {p.name: p.type for p in op.params} | dict.fromkeys(parts.state, standard_ops()[0].output)
    first, last = parts.turns.start, parts.turns.stop
    word = f"(declare-const x {sort(standard_ops()[0].output)})"
    found = [Link(name, query([SQUARE, word, not_(fact)])) for name, fact in SQUARES.items()]
    start = Translation(types)
    begun = moved(start, parts.before, invariant(first))
    found.append(Link("the invariant holds at first", query([SQUARE, *start.lines, not_(begun)])))
    for turn in parts.turns:
        step = Translation(types)
        kept = moved(step, parts.step(turn), invariant(turn + 1))
        text, facts = _any_square("\n".join(step.lines))
        lines = [ANY_SQUARE, text, *facts, f"(assert {invariant(turn)})", not_(kept)]
        text = query(lines).replace("QF_BV", "QF_UFBV")
        found.append(Link(f"turn {turn} keeps the invariant", text))
    end = Translation(types)
    result = end.term(parts.after)
    defined = f"(define-fun {RESULT} () {sort(op.output)} {result})"
    lines = [SQUARE, *end.lines, defined, f"(assert {invariant(last)})", not_(meaning)]
    return [*found, Link("the invariant gives the meaning", query(lines))]


def _any_square(text: str) -> tuple[str, list[str]]:
    """The definitions with `square` for squares, and what is known about each."""
    squared = dict.fromkeys(_SQUARED.findall(text))
    wide = "((_ extract 31 0) (square ((_ zero_extend 2) {})))"
    bound = SQUARES["the square of 16 bits has 32"]
    facts = [f"(assert (let ((x {term})) {bound}))" for term in squared]
    return _SQUARED.sub(lambda m: wide.format(m[1]), text), facts


def _high_product(op: Op, spec: OpSpec) -> list[Link]:
    """Solvers stumble over the whole of it, so: products of halves on one side, the identity on the other."""
    d = SmtDomain()
    (defined,) = spec.apply(d, d.variable("a"), d.variable("b"))[0]
    words = f"((_ zero_extend 32) {op.params[0].name}) ((_ zero_extend 32) {op.params[1].name})"
    product = f"(= {RESULT} ((_ extract 63 32) (bvmul {words})))"
    return [
        Link("the body is the high half of the product", _body_query(op, product)),
        Link(
            "four products of halves make the product",
            PRODUCT_OF_HALVES,
            (Attempt("z3"), Attempt("cvc5")),
        ),
        Link(
            "the definition is the high half of that sum", d.query(f"(not (= {defined.name} {HIGH_PRODUCT}))")
        ),
    ]


def _against_spec(op: Op, spec: OpSpec) -> str:
    """The body in the language's translation, the definition in its own domain, over the same words."""
    translation = Translation({p.name: p.type for p in op.params})
    result = translation.term(inlined_body(op))
    d = SmtDomain()
    words = [d.variable(f"w{k}") for k in range(len(op.params))]
    (defined,) = spec.apply(d, *words)[0]
    lines = [line for line in d.query().splitlines() if "set-logic" not in line]
    renamed = [_renamed(line) for line in translation.lines]
    same = [f"(assert (= {p.name} w{k}))" for k, p in enumerate(op.params)]
    return query([*renamed, *lines, *same, not_(f"(= {_renamed(result)} {defined.name})")])


def _renamed(text: str) -> str:
    """Both translations number their steps t0, t1, …; those of the body become s0, s1, …"""
    return re.sub(r"\bt(\d+)\b", r"s\1", text)
