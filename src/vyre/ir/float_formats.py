"""The float formats as plain numbers: where their bits lie, and the bits of their special values.

A table and nothing that computes, so that whatever must stay independent may share it: the interpreter, the
oracles, the soft floats and the proofs about them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.types import DataType
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

_set = object.__setattr__


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary interchange format: one sign bit, a biased exponent, a fraction.

    `precision` counts the significand bits with the hidden one, `min_exponent` is the exponent of the
    smallest subnormal, `max_exponent` that of the leading bit of the largest finite value. `sign`,
    `magnitude` and `fraction` are masks, `hidden` is the leading bit of a normal significand, which is not
    stored, `exponent` the largest value of the exponent field. `nan` is the canonical NaN (decision 7).
    """

    type: DataType
    exponent_bits: int
    fraction_bits: int
    name: str = field(init=False)
    width: int = field(init=False)
    precision: int = field(init=False)
    bias: int = field(init=False)
    min_exponent: int = field(init=False)
    max_exponent: int = field(init=False)
    sign_shift: int = field(init=False)
    sign: int = field(init=False)
    magnitude: int = field(init=False)
    fraction: int = field(init=False)
    hidden: int = field(init=False)
    exponent: int = field(init=False)
    infinity: int = field(init=False)
    nan: int = field(init=False)
    one: int = field(init=False)

    def __post_init__(self) -> None:
        bits = self.fraction_bits
        largest = (1 << self.exponent_bits) - 1
        bias = largest >> 1
        _set(self, "name", self.type.value)
        _set(self, "width", 1 + self.exponent_bits + bits)
        _set(self, "precision", bits + 1)
        _set(self, "bias", bias)
        _set(self, "min_exponent", 1 - bias - bits)
        _set(self, "max_exponent", bias)
        _set(self, "sign_shift", self.exponent_bits + bits)
        _set(self, "sign", 1 << self.sign_shift)
        _set(self, "magnitude", self.sign - 1)
        _set(self, "hidden", 1 << bits)
        _set(self, "fraction", self.hidden - 1)
        _set(self, "exponent", largest)
        _set(self, "infinity", largest << bits)
        _set(self, "nan", self.infinity | self.hidden >> 1)
        _set(self, "one", bias << bits)


F16 = FloatFormat(DataType.F16, 5, 10)
BF16 = FloatFormat(DataType.BF16, 8, 7)
F32 = FloatFormat(DataType.F32, 8, 23)
F64 = FloatFormat(DataType.F64, 11, 52)

FORMATS: Mapping[DataType, FloatFormat] = {f.type: f for f in (F16, BF16, F32, F64)}
"""The format behind each float type."""

STRICT_FORMATS: Mapping[DataType, FloatFormat] = {f.type: f for f in (F32, F16, BF16)}
"""Those whose values fit a word: they have soft floats and correctly rounded functions."""
