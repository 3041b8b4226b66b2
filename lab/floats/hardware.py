"""What this processor's own float instructions give, as kernels on bits: the oracle of the sweeps.

Written for x86-64 and AArch64 processors, whose + - * / sqrt and fma of F32 are correctly rounded with
subnormals kept in the default floating-point state. F16 and BF16 go through F32, which is exact for + - * /
and sqrt (`docs/numeric.md`); their fma goes through F64 with rounding to odd. Results that are NaN
become the canonical one. Needs llvmlite; nothing here is used to compute a strict result.
"""

from __future__ import annotations

from functools import cache

from lab.floats.jit import JitKernel
from vyre.ir.float_formats import STRICT_FORMATS, FloatFormat
from vyre.ir.types import DataType

_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_UNARY = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round": "roundeven", "trunc": "trunc"}
_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "gt": "ogt", "le": "ole", "ge": "oge"}

_COMMON = """
declare float @llvm.sqrt.f32(float)
declare float @llvm.floor.f32(float)
declare float @llvm.ceil.f32(float)
declare float @llvm.roundeven.f32(float)
declare float @llvm.trunc.f32(float)
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i32 @llvm.fptoui.sat.i32.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.ceil.f64(double)
declare double @llvm.roundeven.f64(double)
declare double @llvm.trunc.f64(double)
"""

_CODEC = {
    DataType.F32: """
define internal float @decode(i32 %v) alwaysinline {
  %f = bitcast i32 %v to float
  ret float %f
}
define internal i32 @encode(float %f) alwaysinline {
  %nan = fcmp uno float %f, 0.0
  %v = bitcast float %f to i32
  %r = select i1 %nan, i32 2143289344, i32 %v
  ret i32 %r
}
""",
    DataType.F16: """
define internal float @decode(i32 %v) alwaysinline {
  %s = trunc i32 %v to i16
  %h = bitcast i16 %s to half
  %f = fpext half %h to float
  ret float %f
}
define internal i32 @encode(float %f) alwaysinline {
  %nan = fcmp uno float %f, 0.0
  %h = fptrunc float %f to half
  %s = bitcast half %h to i16
  %v = zext i16 %s to i32
  %r = select i1 %nan, i32 32256, i32 %v
  ret i32 %r
}
""",
    DataType.BF16: """
define internal float @decode(i32 %v) alwaysinline {
  %s = shl i32 %v, 16
  %f = bitcast i32 %s to float
  ret float %f
}
define internal i32 @encode(float %f) alwaysinline {
  %nan = fcmp uno float %f, 0.0
  %v = bitcast float %f to i32
  %low = and i32 %v, 65535
  %high = lshr i32 %v, 16
  %over = icmp ugt i32 %low, 32768
  %tie = icmp eq i32 %low, 32768
  %odd = trunc i32 %high to i1
  %even = and i1 %tie, %odd
  %up = or i1 %over, %even
  %next = add i32 %high, 1
  %n = select i1 %up, i32 %next, i32 %high
  %r = select i1 %nan, i32 32704, i32 %n
  ret i32 %r
}
""",
}

# The float next to the double on the way to odd; a later rounding sees what the double was.
_TO_ODD = """  %r = fptrunc double %wide to float
  %back = fpext float %r to double
  %same = fcmp ueq double %back, %wide
  %rb = bitcast float %r to i32
  %rodd = trunc i32 %rb to i1
  %rkeep = or i1 %same, %rodd
  %size = and i64 %chosen, 9223372036854775807
  %backbits = bitcast double %back to i64
  %backsize = and i64 %backbits, 9223372036854775807
  %far = icmp ugt i64 %backsize, %size
  %rstep = select i1 %far, i32 -1, i32 1
  %rmoved = add i32 %rb, %rstep
  %rchosen = select i1 %rkeep, i32 %rb, i32 %rmoved
  %final = bitcast i32 %rchosen to float
"""

# The exact sum is s + error (Knuth); the odd neighbour of s on its side rounds like the exact sum.
_ODD_FMA = f"""
define internal i32 @f(i32 %a, i32 %b, i32 %c) alwaysinline {{
  %fa = call float @decode(i32 %a)
  %fb = call float @decode(i32 %b)
  %fc = call float @decode(i32 %c)
  %x = fpext float %fa to double
  %y = fpext float %fb to double
  %z = fpext float %fc to double
  %p = fmul double %x, %y
  %s = fadd double %p, %z
  %zz = fsub double %s, %p
  %pp = fsub double %s, %zz
  %dp = fsub double %p, %pp
  %dz = fsub double %z, %zz
  %error = fadd double %dp, %dz
  %exact = fcmp ueq double %error, 0.0
  %bits = bitcast double %s to i64
  %odd = trunc i64 %bits to i1
  %keep = or i1 %exact, %odd
  %sign = bitcast double %error to i64
  %apart = xor i64 %sign, %bits
  %inwards = icmp slt i64 %apart, 0
  %step = select i1 %inwards, i64 -1, i64 1
  %moved = add i64 %bits, %step
  %chosen = select i1 %keep, i64 %bits, i64 %moved
  %wide = bitcast i64 %chosen to double
{_TO_ODD}  %out = call i32 @encode(float %final)
  ret i32 %out
}}
"""


@cache
def oracle(op_id: str) -> JitKernel | None:
    """The hardware's version of a soft op, or None where this module has none."""
    _, type_name, name = op_id.split(".")
    of = DataType(type_name.upper())
    body = _body(STRICT_FORMATS[of], name)
    if body is None:
        return None
    text, arity = body
    return JitKernel(_COMMON + _CODEC[of] + text, arity)


def _body(fmt: FloatFormat, name: str) -> tuple[str, int] | None:
    if name in _BINARY:
        return _function("ab", f"%r = {_BINARY[name]} float %fa, %fb", "float"), 2
    if name in _COMPARE:
        compare = f"%k = fcmp {_COMPARE[name]} float %fa, %fb\n  %r = zext i1 %k to i32"
        return _function("ab", compare, "i32"), 2
    if name in _UNARY:
        return _function("a", f"%r = call float @llvm.{_UNARY[name]}.f32(float %fa)", "float"), 1
    if name == "fma" and fmt.width == 32:
        return _function("abc", "%r = call float @llvm.fma.f32(float %fa, float %fb, float %fc)", "float"), 3
    if name == "fma":
        return _ODD_FMA, 3
    if name.startswith("to_") and name[3:] in ("f16", "bf16", "f32"):
        return _change(DataType(name[3:].upper())), 1
    if name.startswith("to_"):
        _, target, mode = name.split("_")
        return _to_integer(target, mode), 1
    if name in ("from_i32", "from_u32"):
        return _from_integer("sitofp" if name == "from_i32" else "uitofp", direct=fmt.width == 32), 1
    return None


def _function(params: str, operation: str, gives: str) -> str:
    head = ", ".join(f"i32 %{p}" for p in params)
    decode = "".join(f"  %f{p} = call float @decode(i32 %{p})\n" for p in params)
    encode = "  %out = call i32 @encode(float %r)\n" if gives == "float" else "  %out = add i32 %r, 0\n"
    body = f"{decode}  {operation}\n{encode}  ret i32 %out\n"
    return f"define internal i32 @f({head}) alwaysinline {{\n{body}}}\n"


def _change(target: DataType) -> str:
    """The source's codec decodes and the target's encodes; other names keep them apart."""
    encode = _CODEC[target].replace("@decode", "@unused").replace("@encode", "@into")
    body = _function("a", "%r = fadd float %fa, -0.0", "float").replace("@encode", "@into")
    return encode + body


def _to_integer(target: str, mode: str) -> str:
    rounding = {"nearest": "roundeven", "truncate": "trunc"}.get(mode, mode)
    convert = "fptosi" if target == "i32" else "fptoui"
    lines = (
        "%d = fpext float %fa to double",
        f"%w = call double @llvm.{rounding}.f64(double %d)",
        f"%r = call i32 @llvm.{convert}.sat.i32.f64(double %w)",
    )
    return _function("a", "\n  ".join(lines), "i32")


def _from_integer(kind: str, *, direct: bool) -> str:
    """F64 holds the integer; on the way to 16 bits the F32 between is rounded to odd."""
    if direct:
        value = f"  %final = {kind} i32 %a to float\n"
    else:
        value = f"  %wide = {kind} i32 %a to double\n  %chosen = bitcast double %wide to i64\n{_TO_ODD}"
    encode = "  %out = call i32 @encode(float %final)\n  ret i32 %out\n"
    return f"define internal i32 @f(i32 %a) alwaysinline {{\n{value}{encode}}}\n"
