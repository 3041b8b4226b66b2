"""The operators: closed enumerations, and one row for all that the package knows of a `BinOp` or `UnOp`.

A new operator is one row here: wire tags, text symbols, type rules, the primitive ops with their docs, the
functions of the kernel language and the commuting rules of the optimizer are read from it. What an operator
computes is written down in the reference, in `semantics` and in each emitter. Names and tags are permanent.
`docs/adding.md` has the way from here to a finished operator.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from vyre.ir.closed import ClosedEnum


class Operands(Enum):
    """The types that an operator takes; all its operands have one type."""

    Word = "U32"
    Bits = "U32, or I32 because the bits do not depend on the sign"
    Truth = "U32 or Bool, where all but zero is true"
    Float = "any float type"
    Function = "F32, F16 or BF16: a correctly rounded function"


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of one operator besides its meaning."""

    name: str
    tag: int
    """The number in the wire form: the next free one, never changed and never reused."""
    operands: Operands
    op: str = ""
    """The primitive op of an integer operator: `math.mul_hi` is `primitive.math.mul_hi`."""
    doc: str = ""
    """One sentence about that op, with parameters in backticks."""
    truth: bool = False
    """The result is U32 0 or 1; else it has the type of the operands."""
    symbol: str = ""
    """How the text form writes it, between its operands or before its operand; else it is a function."""
    level: int = 0
    """How tightly the symbol between two operands binds; a higher level binds tighter."""
    mirror: str = ""
    """The operator with `a op b = b mirror a`, where there is one."""
    kernel: str = ""
    """The function of the kernel language that is this operator on its parameters, where there is one."""
    cost: int = 4
    """What a node adds to the measure that every rule of the optimizer lowers."""

    @property
    def op_id(self) -> str:
        return f"primitive.{self.op}"

    @property
    def is_float(self) -> bool:
        return self.operands is Operands.Float or self.operands is Operands.Function


_WORD, _BITS, _TRUTH = Operands.Word, Operands.Bits, Operands.Truth
_FLOAT, _FUNCTION = Operands.Float, Operands.Function


class _Tabled(ClosedEnum):
    """An enumeration of rows; the value of a member is its name."""

    _value_: str
    row: Row

    def __new__(cls, row: Row) -> _Tabled:
        member = object.__new__(cls)
        member._value_ = row.name
        member.row = row
        return member


# fmt: off
class BinaryOp(_Tabled):
    """Operators of `BinOp`. The first 18 are the documents' integer operations."""

    Add = Row("Add", 1, _BITS, "math.add", "Sum modulo 2^32.", symbol="+", level=8, mirror="Add")
    Sub = Row("Sub", 2, _BITS, "math.sub", "Difference modulo 2^32.", symbol="-", level=8)
    Mul = Row("Mul", 3, _BITS, "math.mul", "Low 32 bits of the product.",
              symbol="*", level=9, mirror="Mul", cost=10)
    Div = Row("Div", 4, _WORD, "math.div", "Quotient, rounded down; 0 when `b` is 0.",
              symbol="/", level=9, cost=16)
    Mod = Row("Mod", 5, _WORD, "math.mod", "Remainder of the division; 0 when `b` is 0.",
              symbol="%", level=9, cost=16)
    BitAnd = Row("BitAnd", 6, _BITS, "bitwise.and", "Bits set in both.", symbol="&", level=6, mirror="BitAnd")
    BitOr = Row("BitOr", 7, _BITS, "bitwise.or", "Bits set in either.", symbol="|", level=4, mirror="BitOr")
    BitXor = Row("BitXor", 8, _BITS, "bitwise.xor", "Bits that differ.", symbol="^", level=5, mirror="BitXor")
    Shl = Row("Shl", 9, _WORD, "bitwise.shl", "`a` shifted left by the low 5 bits of `b`.",
              symbol="<<", level=7)
    Shr = Row("Shr", 10, _WORD, "bitwise.shr", "`a` shifted right by the low 5 bits of `b`, zeros moving in.",
              symbol=">>", level=7)
    Eq = Row("Eq", 11, _BITS, "compare.eq", "1 when equal, else 0.",
             truth=True, symbol="==", level=3, mirror="Eq")
    Ne = Row("Ne", 12, _BITS, "compare.ne", "1 when different, else 0.",
             truth=True, symbol="!=", level=3, mirror="Ne")
    Lt = Row("Lt", 13, _WORD, "compare.lt", "1 when `a` is below `b`, else 0.",
             truth=True, symbol="<", level=3, mirror="Gt", cost=5)
    Gt = Row("Gt", 14, _WORD, "compare.gt", "1 when `a` is above `b`, else 0.",
             truth=True, symbol=">", level=3, mirror="Lt", cost=5)
    Le = Row("Le", 15, _WORD, "compare.le", "1 when `a` is at most `b`, else 0.",
             truth=True, symbol="<=", level=3, mirror="Ge", cost=5)
    Ge = Row("Ge", 16, _WORD, "compare.ge", "1 when `a` is at least `b`, else 0.",
             truth=True, symbol=">=", level=3, mirror="Le", cost=5)
    And = Row("And", 17, _TRUTH, "logical.and", "1 when neither is 0, else 0.",
              truth=True, symbol="&&", level=2, mirror="And", cost=5)
    Or = Row("Or", 18, _TRUTH, "logical.or", "0 when both are 0, else 1.",
             truth=True, symbol="||", level=1, mirror="Or", cost=5)
    MulHi = Row("MulHi", 19, _WORD, "math.mul_hi", "High 32 bits of the product.",
                mirror="MulHi", kernel="mul_hi", cost=10)
    FAdd = Row("FAdd", 20, _FLOAT)
    FSub = Row("FSub", 21, _FLOAT)
    FMul = Row("FMul", 22, _FLOAT)
    FDiv = Row("FDiv", 23, _FLOAT)
    FMin = Row("FMin", 24, _FLOAT)
    FMax = Row("FMax", 25, _FLOAT)
    FEq = Row("FEq", 26, _FLOAT, truth=True)
    FNe = Row("FNe", 27, _FLOAT, truth=True)
    FLt = Row("FLt", 28, _FLOAT, truth=True)
    FGt = Row("FGt", 29, _FLOAT, truth=True)
    FLe = Row("FLe", 30, _FLOAT, truth=True)
    FGe = Row("FGe", 31, _FLOAT, truth=True)
    FATan2 = Row("FATan2", 32, _FUNCTION, kernel="atan2")
    FPow = Row("FPow", 33, _FUNCTION, kernel="pow")


class UnaryOp(_Tabled):
    """Operators of `UnOp`. The first 7 are the documents' integer operations."""

    Negate = Row("Negate", 1, _BITS, "math.negate", "Two's complement: 0 - `a` modulo 2^32.",
                 symbol="-", cost=3)
    BitNot = Row("BitNot", 2, _BITS, "bitwise.not", "Every bit flipped.", symbol="~", cost=3)
    LogicalNot = Row("LogicalNot", 3, _TRUTH, "logical.not", "1 when `a` is 0, else 0.",
                     truth=True, symbol="!", cost=3)
    Popcount = Row("Popcount", 4, _WORD, "bitwise.popcount", "How many bits are set.", kernel="popcount")
    Clz = Row("Clz", 5, _WORD, "bitwise.clz", "Zero bits above the highest set bit; 32 for 0.", kernel="clz")
    Ctz = Row("Ctz", 6, _WORD, "bitwise.ctz", "Zero bits below the lowest set bit; 32 for 0.", kernel="ctz")
    ReverseBits = Row("ReverseBits", 7, _WORD, "bitwise.reverse_bits", "Bit i moves to bit 31 - i.",
                      kernel="reverse_bits")
    FNeg = Row("FNeg", 8, _FLOAT)
    FAbs = Row("FAbs", 9, _FLOAT)
    FSqrt = Row("FSqrt", 10, _FLOAT, kernel="sqrt")
    FIsNaN = Row("FIsNaN", 11, _FLOAT, truth=True, kernel="isnan")
    FIsInf = Row("FIsInf", 12, _FLOAT, truth=True, kernel="isinf")
    FFloor = Row("FFloor", 13, _FLOAT, kernel="floor")
    FCeil = Row("FCeil", 14, _FLOAT, kernel="ceil")
    FRound = Row("FRound", 15, _FLOAT, kernel="round")
    FTrunc = Row("FTrunc", 16, _FLOAT, kernel="trunc")
    FSin = Row("FSin", 17, _FUNCTION, kernel="sin")
    FCos = Row("FCos", 18, _FUNCTION, kernel="cos")
    FTan = Row("FTan", 19, _FUNCTION, kernel="tan")
    FASin = Row("FASin", 20, _FUNCTION, kernel="asin")
    FACos = Row("FACos", 21, _FUNCTION, kernel="acos")
    FATan = Row("FATan", 22, _FUNCTION, kernel="atan")
    FExp = Row("FExp", 23, _FUNCTION, kernel="exp")
    FLog = Row("FLog", 24, _FUNCTION, kernel="log")
    FExp2 = Row("FExp2", 25, _FUNCTION, kernel="exp2")
    FLog2 = Row("FLog2", 26, _FUNCTION, kernel="log2")
    FExp10 = Row("FExp10", 27, _FUNCTION, kernel="exp10")
    FLog10 = Row("FLog10", 28, _FUNCTION, kernel="log10")
    FErf = Row("FErf", 29, _FUNCTION, kernel="erf")
    FTanh = Row("FTanh", 30, _FUNCTION, kernel="tanh")
    FSinh = Row("FSinh", 31, _FUNCTION, kernel="sinh")
    FCosh = Row("FCosh", 32, _FUNCTION, kernel="cosh")
    FExpm1 = Row("FExpm1", 33, _FUNCTION, kernel="expm1")
    FLog1p = Row("FLog1p", 34, _FUNCTION, kernel="log1p")
    FCbrt = Row("FCbrt", 35, _FUNCTION, kernel="cbrt")
# fmt: on


class AtomicOp(ClosedEnum):
    """Operators of `Atomic`; each returns the value before."""

    Add = "Add"
    Or = "Or"
    And = "And"
    Xor = "Xor"
    Min = "Min"
    Max = "Max"
    Exchange = "Exchange"
    CompareExchange = "CompareExchange"


class ReduceOp(ClosedEnum):
    """Operators of the float reductions."""

    Add = "Add"
    Mul = "Mul"
    Min = "Min"
    Max = "Max"


class ReduceOrder(ClosedEnum):
    """The two lawful orders of a strict float reduction (decision 9)."""

    Strict = "Strict"
    TreeBinary = "TreeBinary"


class RoundMode(ClosedEnum):
    """Rounding of `Convert`; `Nearest` breaks ties to even."""

    Nearest = "Nearest"
    Truncate = "Truncate"
    Floor = "Floor"
    Ceil = "Ceil"


class ApproxOp(ClosedEnum):
    """Functions of the approximate track; each use declares its tolerance."""

    FSinApprox = "FSinApprox"
    FCosApprox = "FCosApprox"
    FExpApprox = "FExpApprox"
    FLogApprox = "FLogApprox"
    FTanhApprox = "FTanhApprox"


INTEGER_BINARY_OPS = tuple(op for op in BinaryOp if not op.row.is_float)
INTEGER_UNARY_OPS = tuple(op for op in UnaryOp if not op.row.is_float)
_FAMILIES = ("math", "bitwise", "compare", "logical")


def _family(op: BinaryOp | UnaryOp) -> int:
    return _FAMILIES.index(op.row.op.partition(".")[0])


PRIMITIVE_BINARY_OPS = tuple(sorted(INTEGER_BINARY_OPS, key=_family))
PRIMITIVE_UNARY_OPS = tuple(sorted(INTEGER_UNARY_OPS, key=_family))
"""The integer operators in the order of the pages: family by family."""

LOGICAL_BINARY_OPS = frozenset(op for op in BinaryOp if op.row.operands is Operands.Truth)
INTEGER_COMPARE_OPS = frozenset(op for op in INTEGER_BINARY_OPS if op.row.truth) - LOGICAL_BINARY_OPS
SIGN_AGNOSTIC_OPS = frozenset(op for op in BinaryOp if op.row.operands is Operands.Bits)
"""Integer operators that also take two I32."""

FLOAT_BINARY_OPS = frozenset(op for op in BinaryOp if op.row.is_float)
FLOAT_COMPARE_OPS = frozenset(op for op in FLOAT_BINARY_OPS if op.row.truth)
FLOAT_UNARY_OPS = frozenset(op for op in UnaryOp if op.row.is_float)
FLOAT_CLASS_OPS = frozenset(op for op in FLOAT_UNARY_OPS if op.row.truth)
FUNCTION_BINARY_OPS = frozenset(op for op in BinaryOp if op.row.operands is Operands.Function)
FUNCTION_UNARY_OPS = frozenset(op for op in UnaryOp if op.row.operands is Operands.Function)
"""Correctly rounded functions: F32, F16 and BF16 only."""
