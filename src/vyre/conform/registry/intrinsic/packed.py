"""`intrinsic.packed.*`: what `bytes.dot4_u8` and `bytes.dot4_i8` promise, of one instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.registry.build import law2
from vyre.conform.registry.library.byte_lanes import DOT_UNSIGNED, dot_signed
from vyre.conform.registry.library.operands import pair
from vyre.conform.spec.edges import MAX, TOP
from vyre.conform.spec.law import Absorbing, Commutative, ap
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.conform.spec.term import Equation
from vyre.ir.expr import Call, Expr
from vyre.ops.intrinsics.packed import TWINS, op_id, ops

if TYPE_CHECKING:
    from vyre.conform.registry.build import Func
    from vyre.conform.spec.term import Term
    from vyre.ir.op import Op

_WORDS = (0, 1, 0xFF, 0x80, 0x7F, 0xFF00, 0x1234_5678, 0x8080_8080, 0x7F7F_7F7F, TOP, MAX)


def _spec(op: Op, name: str) -> OpSpec:
    twin = TWINS[name]
    signed = name == "dot4_i8"

    def build(operands: tuple[Expr, ...]) -> Expr:
        return Call(op.id, operands)

    def same(f: Func, a: Term, b: Term) -> Equation:
        composed = ap(twin, a, b)
        return Equation(f(a, b), ap("cast.i32.u32", composed) if signed else composed)

    assert op.backend_availability is not None
    where = op.backend_availability.backends
    return OpSpec(
        op.id,
        op.signature,
        dot_signed if signed else DOT_UNSIGNED.cpu_fn,
        ExpressionForm(build),
        op.doc,
        category="C",
        laws=(Commutative(), Absorbing(0)) if signed else DOT_UNSIGNED.laws,
        properties=(law2("the composition gives the same", same),),
        classes=pair(),
        boundaries=(_WORDS, _WORDS),
        hardware=op.hardware,
        availability=lambda backend: backend in where,
    )


def specs() -> list[OpSpec]:
    known = {op.id: op for op in ops()}
    return [_spec(known[op_id(name)], name) for name in TWINS]
