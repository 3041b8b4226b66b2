"""What every float op computes, by MPFR in the format's own precision and exponent range."""

from __future__ import annotations

import math
import operator
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import gmpy2

from vyre.ir import DataType

if TYPE_CHECKING:
    from collections.abc import Callable

_gmpy2: Any = gmpy2


class Form(NamedTuple):
    prefix: str
    bits: int
    precision: int
    emin: int
    emax: int
    nan: int


FORMS = {
    DataType.F32: Form("float", 32, 24, -148, 128, 0x7FC00000),
    DataType.F16: Form("float.f16", 16, 11, -23, 16, 0x7E00),
    DataType.BF16: Form("float.bf16", 16, 8, -132, 128, 0x7FC0),
    DataType.F64: Form("float.f64", 64, 53, -1073, 1024, 0x7FF8000000000000),
}


def decode(t: DataType, bits: int) -> float:
    """Every value of every format is a double."""
    match t:
        case DataType.F16:
            return struct.unpack("<e", bits.to_bytes(2, "little"))[0]
        case DataType.BF16:
            return struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0]
        case DataType.F32:
            return struct.unpack("<f", bits.to_bytes(4, "little"))[0]
        case _:
            return struct.unpack("<d", bits.to_bytes(8, "little"))[0]


def encode(t: DataType, value: float) -> int:
    """The bits of a value that the format holds exactly; every NaN is the canonical one."""
    if math.isnan(value):
        return FORMS[t].nan
    match t:
        case DataType.F16:
            return int.from_bytes(struct.pack("<e", value), "little")
        case DataType.BF16:
            return int.from_bytes(struct.pack("<f", value), "little") >> 16
        case DataType.F32:
            return int.from_bytes(struct.pack("<f", value), "little")
        case _:
            return int.from_bytes(struct.pack("<d", value), "little")


def _rounded(form: Form, function: Callable[..., Any], *values: float) -> float:
    """One MPFR operation whose result has the format's precision, exponents and subnormals."""
    context = _gmpy2.context(precision=form.precision, emin=form.emin, emax=form.emax, subnormalize=True)
    with _gmpy2.context(context):
        return float(function(*(_gmpy2.mpfr(v, 53) for v in values)))


def _lesser(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return min((a, math.copysign(1, a)), (b, math.copysign(1, b)))[0]


def _greater(a: float, b: float) -> float:
    return -_lesser(-a, -b)


def _integral(function: Callable[[float], int]) -> Callable[[float], float]:
    def apply(x: float) -> float:
        return x if math.isnan(x) or math.isinf(x) else math.copysign(function(x), x)

    return apply


def _power(a: Any, b: Any) -> Any:
    return a**b


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _gmpy2.div,
    "fma": _gmpy2.fma,
    "sqrt": _gmpy2.sqrt,
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": _gmpy2.sin,
    "cos": _gmpy2.cos,
    "tan": _gmpy2.tan,
    "asin": _gmpy2.asin,
    "acos": _gmpy2.acos,
    "atan": _gmpy2.atan,
    "exp": _gmpy2.exp,
    "log": _gmpy2.log,
    "exp2": _gmpy2.exp2,
    "log2": _gmpy2.log2,
    "exp10": _gmpy2.exp10,
    "log10": _gmpy2.log10,
    "erf": _gmpy2.erf,
    "tanh": _gmpy2.tanh,
    "sinh": _gmpy2.sinh,
    "cosh": _gmpy2.cosh,
    "expm1": _gmpy2.expm1,
    "log1p": _gmpy2.log1p,
    "cbrt": _gmpy2.cbrt,
    "atan2": _gmpy2.atan2,
    "pow": _power,
}

VALUES: dict[str, Callable[..., float]] = {
    "min": _lesser,
    "max": _greater,
    "floor": _integral(math.floor),
    "ceil": _integral(math.ceil),
    "trunc": _integral(math.trunc),
    "round": _integral(round),
}

FLAGS: dict[str, Callable[..., bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "gt": operator.gt,
    "le": operator.le,
    "ge": operator.ge,
    "is_nan": math.isnan,
    "is_inf": math.isinf,
}


def formula(t: DataType, name: str) -> Callable[..., int]:
    """The op's meaning as a function of bits."""
    form = FORMS[t]
    sign = 1 << (form.bits - 1)

    def apply(*bits: int) -> int:
        values = [decode(t, b) for b in bits]
        if name == "neg":
            return bits[0] ^ sign
        if name == "abs":
            return bits[0] & (sign - 1)
        if name in FLAGS:
            return int(FLAGS[name](*values))
        if name in VALUES:
            return encode(t, VALUES[name](*values))
        return encode(t, _rounded(form, {**ARITHMETIC, **FUNCTIONS}[name], *values))

    return apply


def names(t: DataType) -> set[str]:
    """The functions have no F64 form."""
    found = {"neg", "abs", *FLAGS, *VALUES, *ARITHMETIC}
    return found if t is DataType.F64 else found | set(FUNCTIONS)
