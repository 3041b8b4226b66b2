"""The six admission gates. A spec that fails one does not enter the registry.

1 category       A composes and vanishes, C is one hardware instruction; there is no B
2 signature      the form, the definition and the boundaries agree with the declared types
3 zero overhead  A leaves nothing behind when lowered; C names its instruction and has no fallback
                 (that it leaves nothing in the text of any language, `conform/registry/vanishing.py` asks)
4 deterministic  the definition gives the same result for the same input
5 observable     the definition gives at least one byte
6 rules          a law, class, boundary or alternate is declared
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.spec.op import ExpressionForm, as_tuple
from vyre.errors import OpError
from vyre.ir.environment import Types
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.typing import type_of
from vyre.ir.walk import postorder
from vyre.semantics.domain import CONCRETE, MASK
from vyre.semantics.words import word_count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.environment import Signatures
    from vyre.ir.signature import OpSignature
    from vyre.ir.types import DataType

MAX_STEPS = 10_000
"""Expression nodes that one op may lower to; more is an algorithm, not an operation."""


@dataclass(frozen=True, slots=True)
class GateFailure:
    """A gate that said no, and why."""

    gate: int
    name: str
    reason: str


def no_ops(op_id: str) -> OpSignature | None:
    """Knows no op: a spec judged with it may call none."""
    return None


def check(spec: OpSpec, signatures: Signatures = no_ops) -> list[GateFailure]:
    """Every gate that rejects the spec; `signatures` knows the ops that it may call."""
    found: list[GateFailure] = []
    for number, (name, gate) in enumerate(GATES.items(), 1):
        try:
            reason = gate(spec, signatures)
        except Exception as error:  # a definition may fail in any way; that is its rejection
            reason = f"it raises {type(error).__name__}: {error}"
        if reason:
            found.append(GateFailure(number, name, reason))
    return found


def admit(spec: OpSpec, signatures: Signatures = no_ops) -> OpSpec:
    """The spec, if every gate lets it pass; `OpError` with every reason otherwise."""
    failures = check(spec, signatures)
    if failures:
        raise rejected(spec, failures)
    return spec


def rejected(spec: OpSpec, failures: Sequence[GateFailure]) -> OpError:
    """What is raised for a spec that gates have turned away; the fix is that of the first."""
    reasons = "; by ".join(f"gate {f.gate} ({f.name}): {f.reason}" for f in failures)
    return OpError(f"{spec.id} is rejected by {reasons}.", fix=f"{FIXES[failures[0].name]}.")


def _category(spec: OpSpec, signatures: Signatures) -> str:
    if spec.category in ("A", "C"):
        return ""
    return f"category {spec.category!r} is forbidden: an op composes (A) or is an instruction (C)"


def _signature(spec: OpSpec, signatures: Signatures) -> str:
    if not spec.signature.inputs:
        return "it takes no operand"
    if any(t.bits == 0 for t in (*spec.signature.inputs, *spec.outputs)):
        return "a Bytes value has no size, so no host buffer can be made for it"
    if spec.boundaries and len(spec.boundaries) != spec.words:
        return f"{len(spec.boundaries)} lists of boundaries for {spec.words} operand words"
    wide = next((v for row in spec.boundaries for v in row if not 0 <= v <= MASK), None)
    if wide is not None:
        return f"the boundary {wide:#x} is not a word of 32 bits; an operand of 64 bits has two lists"
    wanted = sum(word_count(t) for t in spec.outputs)
    for words in _witnesses(spec):
        found = as_tuple(spec.cpu_fn(CONCRETE, *words))
        if found in ((), (None,)):
            return ""  # which gate 5 is about
        if len(found) != wanted:
            return f"the definition gives {len(found)} words where the signature has {wanted}"
        other = next((w for w in found if not isinstance(w, int) or not 0 <= w <= MASK), None)
        if other is not None:
            return f"the definition gives {other!r} for {words}, which is not a word of 32 bits"
    if isinstance(spec.form, ExpressionForm):
        of = _type(spec.form, spec.signature, signatures)
        if of is not spec.signature.output:
            return f"its expression has the type {of.value if of else 'none'}"
    return ""


def _type(form: ExpressionForm, signature: OpSignature, signatures: Signatures) -> DataType | None:
    names = [f"x{k}" for k in range(len(signature.inputs))]
    env = Types((), signatures=signatures)
    for name, t in zip(names, signature.inputs, strict=True):
        env.declare(name, t)
    types: dict[Expr, DataType | None] = {}
    whole = form.build(tuple(Var(name) for name in names))
    for node in postorder(whole):
        operands = tuple(t for t in (types[child] for child in node.children) if t is not None)
        complete = len(operands) == len(node.children)
        types[node] = type_of(node, operands, env) if complete else None
    return types[whole]


def _zero_overhead(spec: OpSpec, signatures: Signatures) -> str:
    if spec.category == "C":
        if not spec.hardware or spec.availability is None:
            return "a Category C op must name its hardware and say which backends have it"
        return "a Category C op has no software fallback" if spec.alternates else ""
    if spec.hardware or spec.availability is not None:
        return "only a Category C op names hardware"
    if isinstance(spec.form, ExpressionForm):
        whole = spec.form.build(tuple(Var(f"x{k}") for k in range(spec.arity)))
        if whole.size > MAX_STEPS:
            return f"it lowers to {whole.size} steps"
        for node in postorder(whole):
            if isinstance(node, Call) and signatures(node.op_id) is None:
                return f"its call of {node.op_id} is left after lowering, because no such op is registered"
    return ""


def _witnesses(spec: OpSpec) -> list[tuple[int, ...]]:
    rows = spec.boundaries or ((0, 1, 0xFFFF_FFFF),) * spec.words
    longest = max(len(row) for row in rows)
    return [
        tuple(
            row[(k + j) % len(row)] & mask for j, (row, mask) in enumerate(zip(rows, spec.masks, strict=True))
        )
        for k in range(longest)
    ]


def _deterministic(spec: OpSpec, signatures: Signatures) -> str:
    for words in _witnesses(spec):
        results = {spec.apply(CONCRETE, *words) for _ in range(4)}
        if len(results) != 1:
            return f"it gives {len(results)} different results for {words}"
    return ""


def _observable(spec: OpSpec, signatures: Signatures) -> str:
    results = spec.cpu_fn(CONCRETE, *_witnesses(spec)[0])
    if results is None or results == ():
        return "the definition gives nothing that could be compared"
    if sum(t.min_bytes() for t in spec.outputs) == 0:
        return "its result has no bytes"
    return ""


def _rules(spec: OpSpec, signatures: Signatures) -> str:
    if spec.laws or spec.classes or spec.boundaries or spec.alternates:
        return ""
    return "it declares no law, equivalence class, boundary or alternate, so nothing can be tested"


GATES: dict[str, Callable[[OpSpec, Signatures], str]] = {
    "category": _category,
    "signature": _signature,
    "zero overhead": _zero_overhead,
    "deterministic": _deterministic,
    "observable": _observable,
    "rules": _rules,
}

ZERO_OVERHEAD = "zero overhead"

FIXES = {
    "category": 'give it category "A" for a composition or "C" for one hardware instruction',
    "signature": "make its signature, expression, definition and boundaries agree",
    "zero overhead": "write a composition as one expression of its operands and of registered ops, and "
    "declare an instruction with its hardware, its availability and no alternate",
    "deterministic": "compute its definition from its operands alone",
    "observable": "let its definition give one word or more for every result",
    "rules": "declare a law, an equivalence class, boundaries or an alternate",
}
"""What to do about a rejection, by gate."""
