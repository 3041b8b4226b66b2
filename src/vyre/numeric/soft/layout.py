"""The three formats that soft floats exist for, as the constants their formulas use."""

from __future__ import annotations

from dataclasses import dataclass

from vyre.ir.types import DataType


@dataclass(frozen=True, slots=True)
class Layout:
    """A format of one sign bit, `exponent_bits` and `fraction_bits`, carried in the low bits of a U32."""

    type: DataType
    exponent_bits: int
    fraction_bits: int

    @property
    def prefix(self) -> str:
        return f"soft.{self.type.value.lower()}"

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def sign_shift(self) -> int:
        return self.width - 1

    @property
    def sign(self) -> int:
        return 1 << self.sign_shift

    @property
    def magnitude(self) -> int:
        """The mask of everything but the sign."""
        return self.sign - 1

    @property
    def fraction(self) -> int:
        """The mask of the stored fraction."""
        return self.hidden - 1

    @property
    def hidden(self) -> int:
        """The leading bit of a normal significand, which is not stored."""
        return 1 << self.fraction_bits

    @property
    def exponent(self) -> int:
        """The largest value of the exponent field."""
        return (1 << self.exponent_bits) - 1

    @property
    def bias(self) -> int:
        return self.exponent >> 1

    @property
    def infinity(self) -> int:
        return self.exponent << self.fraction_bits

    @property
    def nan(self) -> int:
        """The canonical NaN (decision 7)."""
        return self.infinity | self.hidden >> 1

    @property
    def one(self) -> int:
        return self.bias << self.fraction_bits


F32 = Layout(DataType.F32, 8, 23)
F16 = Layout(DataType.F16, 5, 10)
BF16 = Layout(DataType.BF16, 8, 7)

LAYOUTS = {layout.type: layout for layout in (F32, F16, BF16)}
