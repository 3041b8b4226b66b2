"""What the codes of 8 and 4 bits mean: their values one by one, and of each number the nearest of them.

Values are exact fractions, from the definition of a format; the middle between two neighbours says where the
nearest changes. A formula lists those places, which the ops never do: they shift and round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.oracle.small_floats import INFINITY, middles, signed_middles, value_bits
from vyre.ops.quantised import FORMATS, NF4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ops.quantised import Format


def _looked_up(values: Sequence[int], bits: int) -> str:
    """One of 2^bits words by the low bits of `a`."""
    texts = [f"#x{value:08x}" for value in values]
    for bit in range(bits):
        odd = f"(= ((_ extract {bit} {bit}) a) #b1)"
        texts = [f"(ite {odd} {texts[k + 1]} {texts[k]})" for k in range(0, len(texts), 2)]
    return texts[0]


def _first_from(limits: Sequence[str]) -> str:
    """How many conditions hold, of which none holds after one that does not."""
    text = f"#x{len(limits):08x}"
    for k in range(len(limits) - 1, -1, -1):
        text = f"(ite {limits[k]} {text} #x{k:08x})"
    return text


def _nearest(f: Format, over: int) -> str:
    """The code of the nearest number by where the middles lie; past the last there is no number."""
    passed = [f"({'bvuge' if tie else 'bvugt'} size #x{bits:08x})" for bits, tie in middles(f)]
    sign = "((_ zero_extend 24) (concat ((_ extract 31 31) a) #b0000000))"
    beyond = f"#x{over:08x}" if over == f.nan else f"(bvor {sign} #x{over:08x})"
    return (
        f"(let ((size (bvand a #x7fffffff))) (ite (bvugt size #x{INFINITY:08x}) #x{f.nan:08x} "
        f"(let ((code {_first_from(passed)})) "
        f"(ite (bvugt code #x{f.largest:08x}) {beyond} (bvor {sign} code)))))"
    )


def _nearest_nf4() -> str:
    """Numbers are compared as their sizes, in the order that their signs ask for."""
    passed: list[str] = []
    for positive, last, exact in signed_middles(NF4):
        if positive:
            passed.append(f"(and (= sign #b0) (bvugt size #x{last:08x}))")
        else:
            passed.append(f"(or (= sign #b0) ({'bvult' if exact else 'bvule'} size #x{last:08x}))")
    return (
        "(let ((size (bvand a #x7fffffff)) (sign ((_ extract 31 31) a))) "
        f"(ite (bvugt size #x{INFINITY:08x}) #x00000007 {_first_from(passed)}))"
    )


def _meanings() -> dict[str, str]:
    found: dict[str, str] = {}
    for f in FORMATS:
        found[f"fp8.{f.name}.decode"] = _looked_up([value_bits(f, code) for code in range(256)], 8)
        found[f"fp8.{f.name}.encode"] = _nearest(f, f.largest)
        found[f"fp8.{f.name}.encode_over"] = _nearest(f, f.over)
    found["nf4.decode"] = _looked_up(NF4, 4)
    found["nf4.encode"] = _nearest_nf4()
    return found


CODES: Mapping[str, str] = _meanings()
"""A formula over `a` for each op."""
