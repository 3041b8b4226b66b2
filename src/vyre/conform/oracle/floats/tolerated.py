"""What approximate operations are measured against: the exact result, rounded once.

    function("FTanhApprox", "F32", a)       u32 words in, u32 words out
    reduction("Add", "F16", bits)           the bits of all elements in, the bits of the result out

Functions come from `vyre.conform.oracle.floats.functions`. Sums and products are Python integers, which lose
nothing. Nothing here is shared with the soft floats or a lowering.
"""

from __future__ import annotations

from math import frexp, ldexp, prod
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.floats.decide import nearest_dyadic, value_of
from vyre.conform.oracle.floats.functions import correctly_rounded
from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.oracle.floats.layout import Words
    from vyre.ir.float_formats import FloatFormat


def function(op: str, format: str, bits: Words) -> Words:
    """The correctly rounded values of an approximate function."""
    return correctly_rounded(op.removesuffix("Approx"), LAYOUTS[format], np.asarray(bits, np.uint32))


def reduction(op: str, format: str, bits: Sequence[int]) -> int:
    """The exact sum, product, minimum or maximum, rounded once; the order of the elements is immaterial."""
    of = LAYOUTS[format]
    values = [value_of(of, b) for b in bits]
    match op:
        case "Add":
            return _sum(of, values)
        case "Mul":
            return _product(of, values)
        case "Min" | "Max":
            return _extreme(of, bits, least=op == "Min")
        case _:
            raise VyreError(f"there is no reduction {op!r}.", fix="use Add, Mul, Min or Max.")


def _sum(of: FloatFormat, values: Sequence[float]) -> int:
    special = {v for v in values if v in (float("inf"), float("-inf"))}
    if any(v != v for v in values) or len(special) == 2:
        return of.nan
    if special:
        return of.infinity | (of.sign if special.pop() < 0 else 0)
    places = of.bias - 1 + of.fraction_bits
    total = sum(int(ldexp(v, places)) for v in values)
    if not total:
        minus = bool(values) and all(str(v) == "-0.0" for v in values)
        return of.sign if minus else 0
    return nearest_dyadic(of, total, -places)


def _product(of: FloatFormat, values: Sequence[float]) -> int:
    negative = sum(str(v).startswith("-") for v in values) & 1
    sign = of.sign if negative else 0
    endless = any(abs(v) == float("inf") for v in values)
    if any(v != v for v in values) or (endless and 0.0 in values):
        return of.nan
    if endless or 0.0 in values:
        return sign | (of.infinity if endless else 0)
    parts = [frexp(abs(v)) for v in values]
    significand = prod(int(ldexp(m, of.fraction_bits + 1)) for m, _ in parts)
    return sign | nearest_dyadic(of, significand, sum(e - of.fraction_bits - 1 for _, e in parts))


def _extreme(of: FloatFormat, bits: Sequence[int], *, least: bool) -> int:
    """Ordered as sign and magnitude, -0 below +0; numbers win over NaN, and nothing is an infinity."""
    if not bits:
        return of.infinity | (0 if least else of.sign)
    numbers = [b for b in bits if b & of.magnitude <= of.infinity]
    if not numbers:
        return of.nan
    ranked = sorted(numbers, key=lambda b: -1 - (b & of.magnitude) if b & of.sign else b)
    return ranked[0] if least else ranked[-1]
