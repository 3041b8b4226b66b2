"""Native F32 operations as WGSL functions: for guarded operations, the probe, and exports that ask for them.

The language lets a device fuse, flush and approximate, so no kernel that runs here uses these but within a
range where the device was asked and every answer was right. `bitcast` carries the bits. In the probe of
unguarded ones operands come from buffers; in a guarded one they are made opaque, so nothing is folded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.lower.native import PREFIX, native_signature
from vyre.lower.prepare import function_name
from vyre.lower.source import ZERO_WORD
from vyre.numeric.guarded import OPAQUE

if TYPE_CHECKING:
    from collections.abc import Iterable

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">="}
_MODES = {"nearest": "round(x)", "truncate": "trunc(x)", "floor": "floor(x)", "ceil": "ceil(x)"}


def definitions(natives: Iterable[str]) -> list[str]:
    """The functions of these operations, from u32 bits to u32 bits; F32 only."""
    return [_definition(op_id) for op_id in natives]


def _definition(op_id: str) -> str:
    _, _, name = op_id.removeprefix(PREFIX).partition(".")
    if op_id == OPAQUE:
        return f"fn {function_name(op_id)}(a: u32) -> u32 {{ return a ^ hidden_{ZERO_WORD}(); }}"
    letters = "abc"[: len(native_signature(op_id).inputs)]
    params = ", ".join(f"{p}: u32" for p in letters)
    floats = ""
    if not name.startswith("from_"):
        floats = " ".join(f"let {v} = bitcast<f32>({p});" for v, p in zip("xyz", letters, strict=False))
    return f"fn {function_name(op_id)}({params}) -> u32 {{ {floats} return {_result(name)}; }}"


def _result(name: str) -> str:
    if name in _SIGNS:
        return f"bitcast<u32>(x {_SIGNS[name]} y)"
    if name in _COMPARE:
        return f"select(0u, 1u, x {_COMPARE[name]} y)"
    if name in ("min", "max"):
        sign, merge = ("<", "|") if name == "min" else (">", "&")
        nan = "(b & 2147483647u) > 2139095040u"
        return f"select(select(b, a, x {sign} y || {nan}), a {merge} b, x == y)"
    if name == "fma":
        return "bitcast<u32>(fma(x, y, z))"
    if name.startswith("to_"):
        _, integer, mode = name.split("_")
        nan = "(a & 2147483647u) > 2139095040u"
        return f"select(bitcast<u32>({integer}({_MODES[mode]})), 0u, {nan})"
    if name.startswith("from_"):
        return f"bitcast<u32>(f32({'bitcast<i32>(a)' if name == 'from_i32' else 'a'}))"
    return f"bitcast<u32>({name}(x))"
