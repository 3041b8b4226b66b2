"""Guarded floats: the target's own instruction within a range, the soft op outside of it.

    guarded_op("guarded.f32.add")    or None when there is no such op
    RANGES["add"]                    for each operand the powers of two that bound it, beside zero

Inside its range an operation has no operand and no exact result that is subnormal, infinite or NaN, whatever
the order in which a device rounds and flushes. So a device that flushes subnormals and takes infinities and
NaNs for granted may still be exact there; whether it is, is asked of the device
(`vyre.backends.probe.admission`). Why the ranges do that:

- add, sub: operands are multiples of 2^(-100 - 23), so a sum is zero or at least 2^-123, and below 2^101.
- mul: the product of operands that are not zero is in [2^-120, 2^120).
- fma: products are multiples of 2^-126, the addend is one too: so is the sum, and it is below 2^101.

Solvers prove this for all operands (`lab.floats.ranges`). Each operand goes through the operation `OPAQUE`,
which mixes in a zero that is known at run time only: no compiler folds, fuses or reorders what it cannot see
through, and a choice between two ways is not such a barrier, for code is copied into its branches.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import TYPE_CHECKING

from vyre.ir.expr import Call, Expr
from vyre.ir.float_formats import F32
from vyre.numeric.formula import larger, smaller

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op
    from vyre.numeric.functions.script import Script

PREFIX = "guarded."
OPAQUE = "native.u32.opaque"
"""The same word, as one that no compiler knows anything about."""

Bounds = tuple[int, int]

_TERM: Bounds = (-100, 100)
_FACTOR: Bounds = (-60, 60)
_FUSED: Bounds = (-40, 40)

RANGES: dict[str, tuple[Bounds, ...]] = {
    "add": (_TERM, _TERM),
    "sub": (_TERM, _TERM),
    "mul": (_FACTOR, _FACTOR),
    "fma": (_FUSED, _FUSED, _TERM),
}
"""An operand within `(low, high)` is zero, or its size is at least 2^low and less than 2^high."""


@cache
def guarded_op(op_id: str) -> Op | None:
    """The op `guarded.f32.<name>`, or None when there is none."""
    name = op_id.removeprefix(f"{PREFIX}f32.")
    return _guarded(name) if op_id == f"{PREFIX}f32.{name}" and name in RANGES else None


def guarded_ops() -> list[Op]:
    return [_guarded(name) for name in RANGES]


def least_bits(low: int) -> int:
    """The bits of 2^low."""
    return (F32.bias + low) << F32.fraction_bits


def _guarded(name: str) -> Op:
    from vyre.numeric.functions.script import Script  # loads every function; the ranges are asked for always

    doc = f"{name} of F32: the target's own within a range, on integers outside."
    s = Script(f"{PREFIX}f32.{name}", *"abc"[: len(RANGES[name])], doc=doc)
    operands = [s(f"opaque_{p.name}", Call(OPAQUE, (p,))) for p in s.params]
    result = s("result", Call(f"native.f32.{name}", tuple(operands)))
    with s.when(s("outside", _outside(s, name, operands))):
        s.assign(result, Call(f"soft.f32.{name}", s.params))
    return s.gives(result)


def _outside(s: Script, name: str, operands: Sequence[Expr]) -> Expr:
    """Whether some operand is neither zero nor within its bounds; operands of the same bounds share tests."""
    found: list[Expr] = []
    bounds = RANGES[name]
    for low, high in sorted(set(bounds)):
        sizes = [
            s("size", x & F32.magnitude) for x, b in zip(operands, bounds, strict=True) if b == (low, high)
        ]
        most = s("most", reduce(larger, sizes))
        least = s("least", reduce(smaller, [size - 1 for size in sizes]))  # zero becomes the largest
        found.append((most >= least_bits(high)) | (least < least_bits(low) - 1))
    return reduce(lambda a, b: a | b, found)
