"""Ops that are wrong at some inputs: every primitive, `Select` and every atomic, under every condition.

The op in a program becomes a choice between what it gives and the same with its lowest bit turned.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lab.mutants import conditions as at
from lab.mutants.backend import Mutated
from lab.mutants.mutant import LOWERING, Mutant
from lab.mutants.rewrite import Expressions, rewrite
from vyre.conform.registry import specs
from vyre.conform.spec.op import AtomicForm, ExpressionForm
from vyre.ir.expr import Atomic, BinOp, Expr, Load, Select, UnOp, Var

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.mutants.conditions import Condition
    from vyre.backends.protocol import Backend
    from vyre.conform.spec.op import OpSpec
    from vyre.ir.program import Program

_DOMAIN = Expressions()
_HOPELESS = ("primitive.math.add", "primitive.math.mul", "primitive.compare.lt", "primitive.bitwise.popcount")
_EVERY_INPUT = {
    "primitive.bitwise.popcount": 0x0030_4567,
    "primitive.bitwise.clz": 0x0062_3456,
    "primitive.bitwise.reverse_bits": 0x0045_6789,
}
"""One wrong input of 2^32 each, where all of them are run; low ones, so that they are reached early."""


def mutants() -> Iterator[Mutant]:
    """All of them, by op."""
    tried = [s for s in specs() if _is_value(s)]
    for k, spec in enumerate(tried):
        for n, condition in enumerate(_conditions(spec, k)):
            yield wrong_at(spec, condition, number=n)


def _is_value(spec: OpSpec) -> bool:
    return spec.id.startswith(("primitive.", "atomic.")) or spec.id == "value.select"


def _conditions(spec: OpSpec, k: int) -> Iterator[Condition]:
    words = spec.words
    yield at.boundary(spec, k)
    yield from at.ranges(k, words)
    yield from at.sparse(k, words)
    for one in spec.classes:
        yield at.class_members(spec, one, k)
    if words == 2:
        yield at.byte_pair(k)
        yield from at.related(k)
    if words == 1:
        yield at.point("one value of 16 bits", (0x9C41 + 257 * k,))
    if spec.id in _HOPELESS:
        yield from at.hopeless(k, words)
    if spec.id in _EVERY_INPUT:
        yield at.point("one input in 2^32, all of them run", (_EVERY_INPUT[spec.id],), exhaustive=True)


def wrong_at(spec: OpSpec, condition: Condition, *, number: int = 0) -> Mutant:
    """A backend on which an op is wrong where a condition holds."""
    words = ",".join(f"0x{w:X}" for w in condition.witness)
    return Mutant(
        condition.kind,
        f"{spec.id} #{number}" if condition.kind.startswith("members") else spec.id,
        LOWERING,
        partial(_make, spec, condition),
        f"{spec.id}/inputs/{words}",
        condition.density,
        condition.promised,
        condition.cases,
        condition.exhaustive,
    )


def _make(spec: OpSpec, condition: Condition, inner: Backend) -> Mutated:
    return Mutated(inner, change=partial(_change, spec, condition))


def _change(spec: OpSpec, condition: Condition, program: Program) -> Program:
    def expr(found: Expr) -> Expr:
        operands = operands_of(spec, found)
        if operands is None:
            return found
        return condition.holds(_DOMAIN, *operands) ^ found

    return rewrite(program, expr=expr)


def operands_of(spec: OpSpec, found: Expr) -> tuple[Expr, ...] | None:
    """The operand words of an expression that is this op; None for any other.

    An atomic's first word is what it finds in memory, which is read once more beforehand.
    """
    match spec.form, found:
        case AtomicForm(op=op), Atomic() if found.op is op:
            before: Expr = Load(found.buffer, found.index)
            return (before, found.value) if found.expected is None else (before, found.value, found.expected)
        case ExpressionForm(build=build), BinOp() | UnOp() | Select():
            model = build(tuple(Var(f"x{k}") for k in range(spec.arity)))
            same = type(model) is type(found) and getattr(model, "op", None) is getattr(found, "op", None)
            return found.children if same else None
        case _:
            return None
