"""Short constructors, so that the file of an op reads as its promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vyre.conform.spec.edges import EDGES, MAX, TOP
from vyre.conform.spec.law import AlgebraicLaw, Custom
from vyre.conform.spec.op import (
    Alternate,
    AtomicForm,
    EquivalenceClass,
    Erratum,
    ExpressionForm,
    NonLaw,
    OpSpec,
)
from vyre.conform.spec.term import Constant, Equation, Term
from vyre.ir.expr import BinOp, Expr, UnOp
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType
from vyre.semantics.domain import Domain

U32 = DataType.U32

AMOUNTS = (*range(35), 63, 64, 65, 255, 256, TOP, TOP + 31, MAX - 31, MAX)
"""Shift amounts: every amount once, and amounts that differ from one only above bit 4."""

Unary = Callable[[Domain[Any], Any], Any]
Binary = Callable[[Domain[Any], Any, Any], Any]
Claim = Equation | tuple[Equation, ...]
Func = Callable[..., Term]


def law0(name: str, predicate: Callable[[Func], Claim]) -> Custom:
    """A custom law about constants."""
    return Custom(name, predicate)


def law1(name: str, predicate: Callable[[Func, Term], Claim]) -> Custom:
    """A custom law of one variable."""
    return Custom(name, predicate)


def law2(name: str, predicate: Callable[[Func, Term, Term], Claim]) -> Custom:
    return Custom(name, predicate)


def law3(name: str, predicate: Callable[[Func, Term, Term, Term], Claim]) -> Custom:
    return Custom(name, predicate)


def c(bits: int) -> Constant:
    return Constant(bits)


def class1(name: str, contains: Unary, sample: Unary) -> EquivalenceClass:
    return EquivalenceClass(name, contains, sample)


def class2(name: str, contains: Binary, sample: Callable[[Domain[Any], Any, Any], Any]) -> EquivalenceClass:
    return EquivalenceClass(name, contains, sample)


def class3(
    name: str,
    contains: Callable[[Domain[Any], Any, Any, Any], Any],
    sample: Callable[[Domain[Any], Any, Any, Any], Any],
) -> EquivalenceClass:
    return EquivalenceClass(name, contains, sample)


def denied(source: str, *laws: AlgebraicLaw) -> tuple[NonLaw, ...]:
    return tuple(NonLaw(law, source) for law in laws)


def alternate(name: str, build: Callable[[tuple[Expr, ...]], Expr]) -> Alternate:
    return Alternate(name, build)


def _plain(doc: str) -> str:
    """The doc of an op without the marks around its parameters."""
    return doc.replace("`", "")


def binary(
    op: BinaryOp,
    cpu_fn: Binary,
    *,
    laws: tuple[AlgebraicLaw, ...] = (),
    properties: tuple[AlgebraicLaw, ...] = (),
    non_laws: tuple[NonLaw, ...] = (),
    errata: tuple[Erratum, ...] = (),
    classes: tuple[EquivalenceClass, ...],
    right: tuple[int, ...] = EDGES,
    alternates: tuple[Alternate, ...] = (),
) -> OpSpec:
    """The spec of a `BinOp` on U32, with the id and the doc of its row.

    `right` are the boundaries of the second operand.
    """
    return OpSpec(
        op.row.op_id,
        OpSignature((U32, U32), U32),
        cpu_fn,
        ExpressionForm(lambda x: BinOp(op, *x)),
        _plain(op.row.doc),
        laws=laws,
        properties=properties,
        non_laws=non_laws,
        errata=errata,
        classes=classes,
        boundaries=(EDGES, right),
        alternates=alternates,
    )


def unary(
    op: UnaryOp,
    cpu_fn: Unary,
    *,
    laws: tuple[AlgebraicLaw, ...] = (),
    properties: tuple[AlgebraicLaw, ...] = (),
    non_laws: tuple[NonLaw, ...] = (),
    classes: tuple[EquivalenceClass, ...],
    alternates: tuple[Alternate, ...] = (),
) -> OpSpec:
    """The spec of a `UnOp` on U32, with the id and the doc of its row.

    Its boundaries have every power of two and its neighbours.
    """
    powers = {v & MAX for k in range(33) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1, MAX ^ (1 << k))}
    return OpSpec(
        op.row.op_id,
        OpSignature((U32,), U32),
        cpu_fn,
        ExpressionForm(lambda x: UnOp(op, *x)),
        _plain(op.row.doc),
        laws=laws,
        properties=properties,
        non_laws=non_laws,
        classes=classes,
        boundaries=(tuple(sorted(powers | set(EDGES))),),
        alternates=alternates,
    )


def atomic(
    op: AtomicOp,
    id: str,
    cpu_fn: Callable[..., Any],
    doc: str,
    *,
    properties: tuple[AlgebraicLaw, ...],
    classes: tuple[EquivalenceClass, ...],
) -> OpSpec:
    """The spec of an `Atomic`: (old, value[, expected]) to (new, returned)."""
    inputs = (U32,) * (3 if op is AtomicOp.CompareExchange else 2)
    return OpSpec(
        id,
        OpSignature(inputs, U32),
        cpu_fn,
        AtomicForm(op),
        doc,
        properties=properties,
        classes=classes,
        boundaries=(EDGES,) * len(inputs),
        extra_results=(U32,),
    )
