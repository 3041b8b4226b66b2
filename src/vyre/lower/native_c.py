"""Native float operations as functions of CUDA C and OpenCL C.

CUDA's intrinsics name their rounding and are never fused. OpenCL C has operators, under the pragma that
forbids fusing and, for division and square root of F32, the option that makes them exact. Everything that
moves or selects does so on bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.float_formats import F64
from vyre.lower.native import ARITHMETIC, PREFIX, native_signature
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_INFINITY = {"f32": "2139095040u", "f64": "0x7FF0000000000000"}
_MAGNITUDE = {"f32": "2147483647u", "f64": "0x7FFFFFFFFFFFFFFF"}
_WHOLE = tuple(f"{PREFIX}f64.{name}" for name in ("floor", "ceil", "trunc"))
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}


@dataclass(frozen=True, slots=True)
class CNative:
    """A language: `operation(format, name)` is an expression over x, y, z; the rest are functions."""

    operation: Callable[[str, str], str]
    to_float: str
    from_float: str
    to_bits: str
    """From double to a 64-bit integer."""
    wide: str
    from_bits: str
    to_integer: Callable[[str, str, str], str]
    """Saturating conversion of x; format, integer type, mode."""
    from_integer: Callable[[str, str], str]
    narrow: str
    """Double x to float, to nearest."""
    joined: str
    """The double of the high word a and the low word b."""
    scale: str
    """Double x with b added to its exponent."""
    quotient: str
    """Statements that return x / y of numbers that are not extreme (`vyre.numeric.doubles.script`)."""
    short_quotient: str
    """Likewise of short numbers."""
    root: str
    """Statements that return the square root of x, which is neither zero nor extreme."""
    half_in: str
    half_out: str
    plus_zero: str
    """The sum of a float and +0, or the float alone where no compiler is known to need it."""
    whole: str = ""
    """A function of doubles that cuts off the fraction, where the language's own is not used."""


def definitions(natives: Iterable[str], language: CNative) -> list[str]:
    """The functions of these operations, one line each, behind what they need."""
    lines: list[str] = []
    ids = list(natives)
    formats = {op_id.removeprefix(PREFIX).partition(".")[0] for op_id in ids}
    if "f16" in formats or f"{PREFIX}f32.to_f16" in ids:
        lines += [language.half_in, language.half_out]
    if "bf16" in formats:
        lines.append(_bf16_out(language))
    if language.whole and any(op_id in ids for op_id in _WHOLE):
        lines.append(language.whole)
    return lines + [_definition(op_id, language) for op_id in ids]


def _definition(op_id: str, language: CNative) -> str:
    fmt, _, name = op_id.removeprefix(PREFIX).partition(".")
    signature = native_signature(op_id)
    double = fmt == "f64" and not name.startswith("from_") and name != "joined"
    kind, names = ("double", "xyz") if double else ("u32", "abc")
    params = ", ".join(f"{kind} {p}" for p in names[: len(signature.inputs)])
    if name == "scale":
        params = "double x, u32 b"
    output = "double" if signature.output.value == "F64" else "u32"
    head = f"FN {output} {function_name(op_id)}({params})"
    return f"{head} {{ {_body(fmt, name, len(signature.inputs), language)} }}"


def _body(fmt: str, name: str, arity: int, language: CNative) -> str:
    if fmt in ("f16", "bf16") or name == "to_f16":
        return _half_body(fmt, name, arity, language)
    if name.startswith("from_"):
        return f"return {_from(fmt, name[5:], language)};"
    if fmt == "f64":
        return _computed(fmt, name, language)
    values = _values(f"{language.to_float}({{}})", arity)
    return f"{values}; {_computed(fmt, name, language)}"


def _values(decode: str, arity: int) -> str:
    """Declares x, y, z as the floats of the bits a, b, c."""
    pairs = list(zip("xyz", "abc", strict=True))[:arity]
    return "float " + ", ".join(f"{value} = {decode.format(bits)}" for value, bits in pairs)


def _computed(fmt: str, name: str, language: CNative) -> str:
    """Statements over x, y, z; over a and b too where the bits are chosen between."""
    if name in _COMPARE:
        return f"return (u32)({_compared(fmt, name, language)});"
    if name in ("min", "max"):
        return _chosen(fmt, name, language)
    if name == "low_word":
        return f"return (u32){language.to_bits}(x);"
    if name == "high_word":
        return f"return (u32)({language.to_bits}(x) >> 32);"
    if name == "scale":
        return f"return {language.scale};"
    if name == "joined":
        return f"return {language.joined};"
    if name in ("quotient", "short_quotient", "root"):
        return str(getattr(language, name))
    if name == "canon":
        return f"return {_is_nan('x', language)} ? {language.from_bits}({_nan(language)}) : x;"
    if name == "is_nan":
        return f"return (u32)({_is_nan('x', language)});"
    if name == "is_inf":
        magnitude = f"({language.to_bits}(x) & {_MAGNITUDE['f64']}UL)"
        return f"return (u32)({magnitude} == {_INFINITY['f64']}UL);"
    if name == "to_f32":
        return f"return {language.from_float}({language.narrow});"
    if name.startswith("to_"):
        _, integer, mode = name.split("_")
        return f"return x == x ? (u32){language.to_integer(fmt, integer, mode)} : 0u;"
    result = language.operation(fmt, name)
    return f"return {language.from_float}({result});" if fmt == "f32" else f"return {result};"


def _compared(fmt: str, name: str, language: CNative) -> str:
    """A comparison of values that are computed, where the operands may be what is chosen by it.

    ptxas makes one FMNMX of `x <= 0 ? 0 : x`, which gives its own NaN instead of the bits of x. The sum with
    +0 compares like x, NaN and -0 included, and is not an operand of the choice.
    """
    if fmt != "f32" or name in ("eq", "ne"):
        return f"x {_COMPARE[name]} y"
    left, right = (language.plus_zero.format(operand) for operand in "xy")
    return f"{left} {_COMPARE[name]} {right}"


def _chosen(fmt: str, name: str, language: CNative) -> str:
    """A number beats NaN; of equal numbers, which are zeros or the same bits, the signs are merged."""
    sign, merge = ("<", "|") if name == "min" else (">", "&")
    if fmt == "f32":
        nan = f"(b & {_MAGNITUDE['f32']}) > {_INFINITY['f32']}"
        return f"return x == y ? (a {merge} b) : (x {sign} y || {nan}) ? a : b;"
    chosen = f"x == y ? (a {merge} b) : (x {sign} y || {_is_nan('y', language)}) ? a : b"
    return (
        f"{language.wide} a = {language.to_bits}(x), b = {language.to_bits}(y); "
        f"return {language.from_bits}({chosen});"
    )


def _is_nan(x: str, language: CNative) -> str:
    return f"({language.to_bits}({x}) & {_MAGNITUDE['f64']}UL) > {_INFINITY['f64']}UL"


def _nan(language: CNative) -> str:
    return f"({language.wide})0x{F64.nan:016X}UL"


def _from(fmt: str, source: str, language: CNative) -> str:
    if source == "f32":
        return f"(double){language.to_float}(a)"
    value = language.from_integer(fmt, source)
    return f"{language.from_float}({value})" if fmt == "f32" else value


def _half_body(fmt: str, name: str, arity: int, language: CNative) -> str:
    if name == "to_f16":
        return f"return f16_bits({language.to_float}(a));"
    decode = "f16_value({})" if fmt == "f16" else f"{language.to_float}({{}} << 16)"
    if name == "to_f32":
        return f"return {language.from_float}({decode.format('a')});"
    return f"{_values(decode, arity)}; return {fmt}_bits({language.operation('f32', name)});"


def _bf16_out(language: CNative) -> str:
    return (
        f"FN u32 bf16_bits(float x) {{ u32 u = {language.from_float}(x); "
        "return (u & 2147483647u) > 2139095040u ? 32704u : (u + 32767u + (u >> 16 & 1u)) >> 16; }"
    )


_CUDA_MODES = {"nearest": "rn", "truncate": "rz", "floor": "rd", "ceil": "ru"}
_ROUNDINGS = {"floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc"}


def _cuda_operation(fmt: str, name: str) -> str:
    letter = "f" if fmt == "f32" else "d"
    if name in ARITHMETIC:
        return f"__{letter}{name}_rn(x, y)"
    if name == "fma":
        return "__fmaf_rn(x, y, z)" if fmt == "f32" else "__fma_rn(x, y, z)"
    if name == "sqrt":
        return f"__{letter}sqrt_rn(x)"
    return f"{_ROUNDINGS[name]}{'f' if fmt == 'f32' else ''}(x)"


def _cuda_to_integer(fmt: str, integer: str, mode: str) -> str:
    source, target = ("float" if fmt == "f32" else "double"), ("int" if integer == "i32" else "uint")
    return f"__{source}2{target}_{_CUDA_MODES[mode]}(x)"


def _cuda_from_integer(fmt: str, integer: str) -> str:
    target = "float" if fmt == "f32" else "double"
    return f"__int2{target}_rn((int)a)" if integer == "i32" else f"__uint2{target}_rn(a)"


_CUDA_RECIPROCAL = (
    'double r; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(y)); '
    "double e = __fma_rn(-y, r, 1.0); r = __fma_rn(r, __fma_rn(e, e, e), r); "
)
"""The estimate is right to 2^-18 or better; behind a step of third order, to half a last place and 2^-57."""
_CUDA_DIVIDED = "double q = __dmul_rn(x, r); return __fma_rn(-r, __fma_rn(y, q, -x), q);"
"""The remainder is exact, so that what is rounded at the end is right to 2^-104. It is taken off with the
opposite sign, so that of a zero over a positive number the sign is kept."""
_CUDA_SHORT_QUOTIENT = _CUDA_RECIPROCAL + _CUDA_DIVIDED
"""Without the branch for extreme operands that `__ddiv_rn` has, so that calls in a row overlap. A quotient of
short numbers is farther than 2^-104 from where two doubles meet."""
_CUDA_QUOTIENT = _CUDA_RECIPROCAL + "r = __fma_rn(r, __fma_rn(-y, r, 1.0), r); " + _CUDA_DIVIDED
"""Of any numbers: with a reciprocal that is rounded right, the quotient is (Markstein). These are the steps
of `__ddiv_rn` for usual operands."""
_CUDA_ROOT = (
    'double r; asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x)); '
    "double e = __fma_rn(x, -__dmul_rn(r, r), 1.0); "
    "r = __fma_rn(__fma_rn(e, 0.375, 0.5), __dmul_rn(r, e), r); double q = __dmul_rn(x, r); "
    "double h = __hiloint2double(__double2hiint(r) - 1048576, __double2loint(r)); "
    "return __fma_rn(__fma_rn(q, -q, x), h, q);"
)
"""Likewise: the steps of `__dsqrt_rn` for usual operands, without its branch."""


CUDA = CNative(
    operation=_cuda_operation,
    to_float="__uint_as_float",
    from_float="__float_as_uint",
    to_bits="(unsigned long long)__double_as_longlong",
    wide="unsigned long long",
    from_bits="__longlong_as_double",
    to_integer=_cuda_to_integer,
    from_integer=_cuda_from_integer,
    narrow="__double2float_rn(x)",
    joined="__hiloint2double((int)a, (int)b)",
    scale="__hiloint2double(__double2hiint(x) + (int)(b << 20), __double2loint(x))",
    quotient=_CUDA_QUOTIENT,
    short_quotient=_CUDA_SHORT_QUOTIENT,
    root=_CUDA_ROOT,
    half_in=(
        'FN float f16_value(u32 a) { float r; asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" '
        ': "=f"(r) : "r"(a)); return r; }'
    ),
    half_out=(
        'FN u32 f16_bits(float x) { u32 r; asm("{.reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h;}" '
        ': "=r"(r) : "f"(x)); return r; }'
    ),
    plus_zero="__fadd_rn({}, 0.0f)",
)

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_OPENCL_MODES = {"truncate": "rtz", "floor": "rtn", "ceil": "rtp"}


def _opencl_rounding(fmt: str, name: str) -> str:
    """Not `rint` and its kin: PoCL 3.1 folds them wrongly on constants, and then drops the kernel.

    Adding 2^52 (2^23) rounds to an integer; from a whole number to its neighbour is exact.
    """
    if name == "round":
        big = "4503599627370496.0" if fmt == "f64" else "8388608.0f"
        return f"(fabs(x) < {big} ? copysign((fabs(x) + {big}) - {big}, x) : x)"
    if fmt == "f32":
        return f"{name}(x)"
    whole = "f64_whole(x)"
    one = {
        "floor": f"(x < {whole} ? {whole} - 1.0 : {whole})",
        "ceil": f"(x > {whole} ? {whole} + 1.0 : {whole})",
    }
    return one.get(name, whole)


def _opencl_operation(fmt: str, name: str) -> str:
    if name in _SIGNS:
        return f"x {_SIGNS[name]} y"
    if name in _ROUNDINGS:
        return _opencl_rounding(fmt, name)
    return "fma(x, y, z)" if name == "fma" else f"{name}(x)"


def _opencl_to_integer(fmt: str, integer: str, mode: str) -> str:
    target = "int" if integer == "i32" else "uint"
    if mode == "nearest":
        return f"convert_{target}_sat_rtz({_opencl_operation(fmt, 'round')})"
    return f"convert_{target}_sat_{_OPENCL_MODES[mode]}(x)"


def _opencl_from_integer(fmt: str, integer: str) -> str:
    target = "float" if fmt == "f32" else "double"
    return f"convert_{target}_rte({'(int)a' if integer == 'i32' else 'a'})"


OPENCL = CNative(
    operation=_opencl_operation,
    to_float="as_float",
    from_float="as_uint",
    to_bits="as_ulong",
    wide="ulong",
    from_bits="as_double",
    to_integer=_opencl_to_integer,
    from_integer=_opencl_from_integer,
    narrow="convert_float_rte(x)",
    joined="as_double(((ulong)a << 32) | b)",
    scale="as_double(as_ulong(x) + ((ulong)b << 52))",
    quotient="return x / y;",
    short_quotient="return x / y;",
    root="return sqrt(x);",
    half_in="FN float f16_value(u32 a) { ushort h = (ushort)a; return vload_half(0, (const half*)&h); }",
    half_out="FN u32 f16_bits(float x) { ushort h; vstore_half_rte(x, 0, (half*)&h); return h; }",
    whole=(
        "FN double f64_whole(double x) { ulong u = as_ulong(x); u32 e = (u32)(u >> 52) & 2047u; "
        "return as_double(u & (e < 1023u ? 0x8000000000000000UL : "
        "e > 1074u ? ~0UL : ~(0xFFFFFFFFFFFFFUL >> (e - 1023u)))); }"
    ),
    plus_zero="{}",
)
