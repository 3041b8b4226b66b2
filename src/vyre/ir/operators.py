"""The operators, as closed enumerations. Wire tags and text names hang on these names for ever."""

from vyre.ir.closed import ClosedEnum


class BinaryOp(ClosedEnum):
    """Operators of `BinOp`. The first 18 are the documents' integer operations."""

    Add = "Add"
    Sub = "Sub"
    Mul = "Mul"
    Div = "Div"
    Mod = "Mod"
    BitAnd = "BitAnd"
    BitOr = "BitOr"
    BitXor = "BitXor"
    Shl = "Shl"
    Shr = "Shr"
    Eq = "Eq"
    Ne = "Ne"
    Lt = "Lt"
    Gt = "Gt"
    Le = "Le"
    Ge = "Ge"
    And = "And"
    Or = "Or"
    MulHi = "MulHi"
    FAdd = "FAdd"
    FSub = "FSub"
    FMul = "FMul"
    FDiv = "FDiv"
    FMin = "FMin"
    FMax = "FMax"
    FEq = "FEq"
    FNe = "FNe"
    FLt = "FLt"
    FGt = "FGt"
    FLe = "FLe"
    FGe = "FGe"
    FATan2 = "FATan2"
    FPow = "FPow"


class UnaryOp(ClosedEnum):
    """Operators of `UnOp`. The first 7 are the documents' integer operations."""

    Negate = "Negate"
    BitNot = "BitNot"
    LogicalNot = "LogicalNot"
    Popcount = "Popcount"
    Clz = "Clz"
    Ctz = "Ctz"
    ReverseBits = "ReverseBits"
    FNeg = "FNeg"
    FAbs = "FAbs"
    FSqrt = "FSqrt"
    FIsNaN = "FIsNaN"
    FIsInf = "FIsInf"
    FFloor = "FFloor"
    FCeil = "FCeil"
    FRound = "FRound"
    FTrunc = "FTrunc"
    FSin = "FSin"
    FCos = "FCos"
    FTan = "FTan"
    FASin = "FASin"
    FACos = "FACos"
    FATan = "FATan"
    FExp = "FExp"
    FLog = "FLog"
    FExp2 = "FExp2"
    FLog2 = "FLog2"
    FExp10 = "FExp10"
    FLog10 = "FLog10"


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


INTEGER_BINARY_OPS = tuple(BinaryOp)[:18]
INTEGER_UNARY_OPS = tuple(UnaryOp)[:7]

LOGICAL_BINARY_OPS = frozenset({BinaryOp.And, BinaryOp.Or})
INTEGER_COMPARE_OPS = frozenset(
    {BinaryOp.Eq, BinaryOp.Ne, BinaryOp.Lt, BinaryOp.Gt, BinaryOp.Le, BinaryOp.Ge}
)
SIGN_AGNOSTIC_OPS = frozenset(
    {
        BinaryOp.Add,
        BinaryOp.Sub,
        BinaryOp.Mul,
        BinaryOp.BitAnd,
        BinaryOp.BitOr,
        BinaryOp.BitXor,
        BinaryOp.Eq,
        BinaryOp.Ne,
    }
)
"""Integer operators that also take two I32, because the bits do not depend on the sign."""

FLOAT_BINARY_OPS = frozenset(op for op in BinaryOp if op.value.startswith("F"))
FLOAT_COMPARE_OPS = frozenset(
    {BinaryOp.FEq, BinaryOp.FNe, BinaryOp.FLt, BinaryOp.FGt, BinaryOp.FLe, BinaryOp.FGe}
)
FLOAT_UNARY_OPS = frozenset(op for op in UnaryOp if op.value.startswith("F"))
FLOAT_CLASS_OPS = frozenset({UnaryOp.FIsNaN, UnaryOp.FIsInf})
FUNCTION_BINARY_OPS = frozenset({BinaryOp.FATan2, BinaryOp.FPow})
FUNCTION_UNARY_OPS = frozenset(
    {
        UnaryOp.FSin,
        UnaryOp.FCos,
        UnaryOp.FTan,
        UnaryOp.FASin,
        UnaryOp.FACos,
        UnaryOp.FATan,
        UnaryOp.FExp,
        UnaryOp.FLog,
        UnaryOp.FExp2,
        UnaryOp.FLog2,
        UnaryOp.FExp10,
        UnaryOp.FLog10,
    }
)
"""Correctly rounded functions: F32, F16 and BF16 only."""
