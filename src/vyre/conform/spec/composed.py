"""The definition of a spec as a composition of the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.semantics.emitted import IrDomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.ir.expr import Expr
    from vyre.ir.node import Let


def definition(spec: OpSpec, words: Sequence[Expr], *, prefix: str = "w") -> tuple[list[Let], list[Expr]]:
    """The op's definition as statements over u32 operand words, and its result words."""
    d = IrDomain(prefix=prefix)
    results = spec.apply(d, *words)
    return d.lets, [word for result in results for word in result]
