"""What the codes of 8 and 4 bits mean: their values one by one, and of each number the nearest of them.

Values are exact fractions, from the definition of a format; the middle between two neighbours says where the
nearest changes. A formula lists those places, which the ops never do: they shift and round.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from vyre.ops.quantised import FORMATS, NF4

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ops.quantised import Format

_NAN, _INFINITY, _SIGN = 0x7FC0_0000, 0x7F80_0000, 0x8000_0000


def _bits(value: Fraction) -> int:
    """The F32 that is exactly this."""
    (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
    return bits


class _Numbers:
    """Every finite F32 that is not negative, in order: as many as there are bits below those of infinity."""

    def __len__(self) -> int:
        return _INFINITY

    def __getitem__(self, bits: int) -> Fraction:
        return Fraction(struct.unpack("<f", struct.pack("<I", bits))[0])


def _last_up_to(value: Fraction) -> int:
    """The bits of the greatest F32 that is not above a value which is not negative."""
    return bisect_right(_Numbers(), value) - 1


def magnitude(f: Format, code: int) -> Fraction:
    """The number of a code without its sign, as the format defines it."""
    exponent, fraction = divmod(code, 1 << f.fraction)
    significand = fraction if exponent == 0 else fraction + (1 << f.fraction)
    return significand * Fraction(2) ** (max(exponent, 1) - f.bias - f.fraction)


def value_bits(f: Format, code: int) -> int:
    """The F32 that a code of 8 bits stands for."""
    size, sign = code & 0x7F, (code & 0x80) << 24
    if size <= f.largest:
        return _bits(magnitude(f, size)) | sign
    return _INFINITY | sign if f.infinite and size == f.over else _NAN


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
    middles: list[str] = []
    for code in range(f.largest + 1):
        middle = (magnitude(f, code) + magnitude(f, code + 1)) / 2
        # A tie goes to the even code, the upper one where this one is odd.
        passed = "bvuge" if code % 2 else "bvugt"
        middles.append(f"({passed} size #x{_bits(middle):08x})")
    sign = "((_ zero_extend 24) (concat ((_ extract 31 31) a) #b0000000))"
    beyond = f"#x{over:08x}" if over == f.nan else f"(bvor {sign} #x{over:08x})"
    return (
        f"(let ((size (bvand a #x7fffffff))) (ite (bvugt size #x{_INFINITY:08x}) #x{f.nan:08x} "
        f"(let ((code {_first_from(middles)})) "
        f"(ite (bvugt code #x{f.largest:08x}) {beyond} (bvor {sign} code)))))"
    )


def _nearest_nf4() -> str:
    """Numbers are compared as their sizes, in the order that their signs ask for."""
    values = [Fraction(struct.unpack("<f", struct.pack("<I", bits))[0]) for bits in NF4]
    passed: list[str] = []
    for below, above in pairwise(values):
        middle = (below + above) / 2
        if middle > 0:
            passed.append(f"(and (= sign #b0) (bvugt size #x{_last_up_to(middle):08x}))")
        else:
            least = _last_up_to(-middle)
            exact = _Numbers()[least] == -middle
            passed.append(f"(or (= sign #b0) ({'bvult' if exact else 'bvule'} size #x{least:08x}))")
    return (
        "(let ((size (bvand a #x7fffffff)) (sign ((_ extract 31 31) a))) "
        f"(ite (bvugt size #x{_INFINITY:08x}) #x00000007 {_first_from(passed)}))"
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
