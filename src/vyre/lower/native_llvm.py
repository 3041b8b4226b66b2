"""Native float operations as LLVM functions: plain instructions, no fast-math flag, nothing to contract.

They assume the default floating-point environment: to nearest, subnormals kept. Whoever runs the kernel
sets it (`backends/cpu/compiling.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.float_formats import F32
from vyre.lower.native import PREFIX, native_signature
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

_QUOTIENTS = ("div", "quotient", "short_quotient")
_INSTRUCTION = {"add": "fadd", "sub": "fsub", "mul": "fmul", **dict.fromkeys(_QUOTIENTS, "fdiv")}
_ROUNDED = {"floor": "floor", "ceil": "ceil", "round": "roundeven", "trunc": "trunc"}
_INTRINSIC = {"sqrt": "sqrt", "root": "sqrt", **_ROUNDED}
_COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "gt": "ogt", "le": "ole", "ge": "oge"}
_MODES = {"nearest": "roundeven", "truncate": "trunc", "floor": "floor", "ceil": "ceil"}
_TYPE = {"f32": "float", "f64": "double", "f16": "float", "bf16": "float"}
_SHORT = {"float": "f32", "double": "f64"}

_BF16_OUT = """\
define internal i32 @bf16_bits(float %x) alwaysinline nounwind {
  %u = bitcast float %x to i32
  %high = lshr i32 %u, 16
  %odd = and i32 %high, 1
  %half = add i32 %odd, 32767
  %sum = add i32 %u, %half
  %near = lshr i32 %sum, 16
  %nan = fcmp uno float %x, 0.0
  %r = select i1 %nan, i32 32704, i32 %near
  ret i32 %r
}
"""


OWN_F32 = {
    "soft_f32_canon": f"%result = select i1 %nan, i32 {F32.nan}, i32 %p_a",
    "soft_f32_is_nan": "%result = zext i1 %nan to i32",
}
"""Ops on integers by the names of their functions, and their last step where floats are native: one
comparison finds a NaN, integers take two steps."""


def own_f32(name: str) -> list[str]:
    """The function of an op of `OWN_F32`."""
    return [
        f"define internal i32 @{name}(i32 %p_a) alwaysinline nounwind {{",
        "  %x = bitcast i32 %p_a to float",
        "  %nan = fcmp uno float %x, 0.0",
        f"  {OWN_F32[name]}",
        "  ret i32 %result",
        "}",
        "",
    ]


def definitions(natives: Iterable[str], called: set[str]) -> list[str]:
    """The functions of these operations, always inlined; `called` takes the float intrinsics they call."""
    lines: list[str] = []
    ids = list(natives)
    if any(op_id.startswith(f"{PREFIX}bf16.") for op_id in ids):
        lines += _BF16_OUT.splitlines()
    for op_id in ids:
        lines += _definition(op_id, called)
    return lines


def declarations(called: Container[str]) -> list[str]:
    """Declarations of the float intrinsics that are called."""
    found: list[str] = []
    for kind, short in _SHORT.items():
        found += [f"{kind} @llvm.{name}.{short}({kind})" for name in dict.fromkeys(_INTRINSIC.values())]
        found += [f"{kind} @llvm.fma.{short}({kind}, {kind}, {kind})"]
        found += [f"i32 @llvm.fpto{sign}.sat.i32.{short}({kind})" for sign in ("si", "ui")]
    return [f"declare {d}" for d in found if d.split()[1].partition("(")[0] in called]


def _definition(op_id: str, called: set[str]) -> list[str]:
    fmt, _, name = op_id.removeprefix(PREFIX).partition(".")
    signature = native_signature(op_id)
    double = fmt == "f64" and not name.startswith("from_") and name != "joined"
    kind, letters = ("double", "xyz") if double else ("i32", "abc")
    letters = letters[: len(signature.inputs)]
    output = "double" if signature.output.value == "F64" else "i32"
    params = "double %x, i32 %b" if name == "scale" else ", ".join(f"{kind} %{p}" for p in letters)
    body: list[str] = []
    if not double and not name.startswith("from_") and name != "joined":
        source = "f32" if name in ("to_f16",) else fmt
        for value, bits in zip("xyz", letters, strict=False):
            body += _decoded(source, value, bits)
    body += _computed(fmt, name, called)
    head = f"define internal {output} @{function_name(op_id)}({params}) alwaysinline nounwind {{"
    return [head, *(f"  {line}" for line in body), f"  ret {output} %result", "}"]


def _decoded(fmt: str, value: str, bits: str) -> list[str]:
    """The float `value` of the i32 `bits`."""
    if fmt == "f16":
        return [
            f"%{value}.s = trunc i32 %{bits} to i16",
            f"%{value}.h = bitcast i16 %{value}.s to half",
            f"%{value} = fpext half %{value}.h to float",
        ]
    if fmt == "bf16":
        return [f"%{value}.s = shl i32 %{bits}, 16", f"%{value} = bitcast i32 %{value}.s to float"]
    return [f"%{value} = bitcast i32 %{bits} to float"]


def _encoded(fmt: str) -> list[str]:
    """The result from the value %r of the format's own float type."""
    match fmt:
        case "f16":
            return [
                "%h = fptrunc float %r to half",
                "%s = bitcast half %h to i16",
                "%result = zext i16 %s to i32",
            ]
        case "bf16":
            return ["%result = call i32 @bf16_bits(float %r)"]
        case _:
            return ["%result = bitcast float %r to i32"]


def _computed(fmt: str, name: str, called: set[str]) -> list[str]:
    kind = _TYPE[fmt]
    if name in _COMPARE:
        return [f"%c = fcmp {_COMPARE[name]} {kind} %x, %y", "%result = zext i1 %c to i32"]
    if name in ("min", "max"):
        return _chosen(fmt, name)
    if name in ("is_nan", "is_inf", "canon"):
        return _classified(name)
    if name in ("low_word", "high_word", "joined", "scale"):
        return _reached_into(name)
    if name.startswith("from_"):
        return _from(fmt, name[5:])
    if name == "to_f16":
        return _renamed(_encoded("f16"), "%x")
    if name == "to_f32":
        if fmt == "f64":
            return ["%f = fptrunc double %x to float", "%result = bitcast float %f to i32"]
        return ["%result = bitcast float %x to i32"]
    if name.startswith("to_"):
        _, integer, mode = name.split("_")
        short, sign = _SHORT[kind], "si" if integer == "i32" else "ui"
        rounded, converted = f"@llvm.{_MODES[mode]}.{short}", f"@llvm.fpto{sign}.sat.i32.{short}"
        called |= {rounded, converted}
        return [f"%w = call {kind} {rounded}({kind} %x)", f"%result = call i32 {converted}({kind} %w)"]
    if name in _INSTRUCTION:
        value = f"{_INSTRUCTION[name]} {kind} %x, %y"
    else:
        fused = name == "fma"
        intrinsic = f"@llvm.{'fma' if fused else _INTRINSIC[name]}.{_SHORT[kind]}"
        operands = f"{kind} %x, {kind} %y, {kind} %z" if fused else f"{kind} %x"
        called.add(intrinsic)
        value = f"call {kind} {intrinsic}({operands})"
    return [f"%result = {value}"] if fmt == "f64" else [f"%r = {value}", *_encoded(fmt)]


def _renamed(lines: list[str], value: str) -> list[str]:
    return [line.replace("%r ", f"{value} ") for line in lines]


def _chosen(fmt: str, name: str) -> list[str]:
    """A number beats NaN; of equal numbers, which are zeros or the same bits, the signs are merged."""
    kind = _TYPE[fmt]
    order, merge = ("olt", "or") if name == "min" else ("ogt", "and")
    word = "i64" if fmt == "f64" else "i32"
    bits = ["%a = bitcast double %x to i64", "%b = bitcast double %y to i64"] if fmt == "f64" else []
    result = "%result = bitcast i64 %m to double" if fmt == "f64" else "%result = add i32 %m, 0"
    return [
        *bits,
        f"%less = fcmp {order} {kind} %x, %y",
        f"%nan = fcmp uno {kind} %y, 0.0",
        "%first = or i1 %less, %nan",
        f"%same = fcmp oeq {kind} %x, %y",
        f"%both = {merge} {word} %a, %b",
        f"%one = select i1 %first, {word} %a, {word} %b",
        f"%m = select i1 %same, {word} %both, {word} %one",
        result,
    ]


def _classified(name: str) -> list[str]:
    """F64 only: of the other formats the soft ops are as short."""
    infinity = 0x7FF0 << 48
    lines = ["%u = bitcast double %x to i64", f"%size = and i64 %u, {(1 << 63) - 1}"]
    if name == "is_inf":
        return [*lines, f"%c = icmp eq i64 %size, {infinity}", "%result = zext i1 %c to i32"]
    lines.append(f"%c = icmp ugt i64 %size, {infinity}")
    if name == "is_nan":
        return [*lines, "%result = zext i1 %c to i32"]
    return [*lines, f"%result = select i1 %c, double 0x{0x7FF8 << 48:016X}, double %x"]


def _reached_into(name: str) -> list[str]:
    if name == "joined":
        return [
            "%high = zext i32 %a to i64",
            "%top = shl i64 %high, 32",
            "%low = zext i32 %b to i64",
            "%u = or i64 %top, %low",
            "%result = bitcast i64 %u to double",
        ]
    lines = ["%u = bitcast double %x to i64"]
    if name == "low_word":
        return [*lines, "%result = trunc i64 %u to i32"]
    if name == "high_word":
        return [*lines, "%high = lshr i64 %u, 32", "%result = trunc i64 %high to i32"]
    return [
        *lines,
        "%wide = zext i32 %b to i64",
        "%step = shl i64 %wide, 52",
        "%moved = add i64 %u, %step",
        "%result = bitcast i64 %moved to double",
    ]


def _from(fmt: str, source: str) -> list[str]:
    if source == "f32":
        return ["%f = bitcast i32 %a to float", "%result = fpext float %f to double"]
    kind = _TYPE[fmt]
    convert = f"{'sitofp' if source == 'i32' else 'uitofp'} i32 %a to {kind}"
    if fmt == "f64":
        return [f"%result = {convert}"]
    return [f"%r = {convert}", "%result = bitcast float %r to i32"]
