"""The control that an op was really run: its instruction is in the compiled kernel.

A kernel of one op with all operands from buffers leaves nothing to fold. Where a backend shows the assembly
of what it compiled, this is looked at as well: the op's kernel must have more of the op's instructions than
a kernel of the same buffers that only copies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.conform.process.inspection import inspect
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.program import OUT
from vyre.ir.expr import Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.verify.bench import Bench

SEEN, NOT_SEEN, NOT_EXPOSED = "seen", "not seen", "not exposed"
NATIVE = "native"

_COMPARE = (
    r"v?pcmp\w*|v?pminu\w*|v?pmaxu\w*|cmp\w*|test\w*|set[a-z]+|sbb\w*|cm(hi|hs|eq)|setp[.\w]*|isetp\S*"
    r"|v?pternlog\w*"
)
_PATTERNS = {
    "primitive.math.add": r"v?padd[dq]|add[lq]?|lea[lq]?|inc[lq]|[iu]?add3?(\.[us]32)?|imad",
    "primitive.math.sub": r"v?psub[dq]|sub[lq]?|sub(\.[us]32)?|iadd3",
    "primitive.math.mul": r"v?pmul\w+|imul[lq]?|mul[lq]?|mul(\.lo)?(\.[us]32)?|imad",
    "primitive.math.mul_hi": r"v?pmul\w+|imul[lq]?|mul[lqx]?\w*|mul(\.hi)?(\.[us]32)?|umulh|imad\S*",
    "primitive.math.div": r"i?div[lq]?|udiv|div(\.u32)?|v?divp[ds]|v?pmul\w+|imul[lq]?|imad\S*|call\w*",
    "primitive.math.mod": r"i?div[lq]?|udiv|rem(\.u32)?|v?divp[ds]|v?pmul\w+|imul[lq]?|imad\S*|call\w*",
    "primitive.bitwise.and": r"v?p?and[dlqnps]*|and(\.b32)?|lop3\S*",
    "primitive.bitwise.or": r"v?p?or[dlqps]*|or(\.b32)?|orr|lop3\S*",
    "primitive.bitwise.xor": r"v?p?xor[dlqps]*|xor(\.b32)?|eor|lop3\S*",
    "primitive.bitwise.shl": r"v?psll\w*|sh[l]\w*|shl(\.b32)?|ushl|lsl|shf\S*",
    "primitive.bitwise.shr": r"v?psrl\w*|shr\w*|shr(\.u32)?|ushl|lsr|shf\S*",
    "primitive.math.negate": r"v?psub[dq]|neg[lq]?|sub[lq]?|neg(\.s32)?|iadd3",
    "primitive.bitwise.not": r"v?pxor\w*|v?xorp[sd]|not[lq]?|xor[lq]?|not(\.b32)?|mvn|lop3\S*|v?pternlog\w*",
    "primitive.bitwise.popcount": r"v?popcnt\w*|v?pshufb|popc(\.b32)?|cnt|v?psadbw",
    "primitive.bitwise.clz": r"lzcnt\w*|bsr\w*|v?plzcnt\w*|clz(\.b32)?|flo\S*|bfind\S*|v?pshufb|v?cvt\w*",
    "primitive.bitwise.ctz": r"popc(\.b32)?|tzcnt\w*|bsf\w*|v?plzcnt\w*|v?popcnt\w*|clz(\.b32)?|brev\S*"
    r"|v?pshufb|v?cvt\w*",
    "primitive.bitwise.reverse_bits": r"bswap\w*|v?pshufb|rbit|brev(\.b32)?|v?gf2p8\w*",
    **{f"primitive.compare.{n}": _COMPARE for n in ("eq", "ne", "lt", "gt", "le", "ge")},
    **{f"primitive.logical.{n}": _COMPARE for n in ("and", "or", "not")},
}

_FLOATS = {
    "add": r"v?add[ps][sd]|fadd\w*|dadd|add(\.rn)?\.f(32|64)",
    "sub": r"v?sub[ps][sd]|v?add[ps][sd]|fsub\w*|fadd\w*|dadd|(sub|add)(\.rn)?\.f(32|64)",
    "mul": r"v?mul[ps][sd]|fmul\w*|dmul|mul(\.rn)?\.f(32|64)",
    "div": r"v?div[ps][sd]|fdiv\w*|div(\.rn)?\.f(32|64)|mufu\S*|call\S*",
    "sqrt": r"v?sqrt[ps][sd]|fsqrt\w*|sqrt(\.rn)?\.f(32|64)|mufu\S*|call\S*",
    "fma": r"v?fn?m(add|sub)\w*|fml[as]\w*|[fd]fma\w*|fma(\.rn)?\.f(32|64)|call\S*",
}
"""Of arithmetic that the hardware does; what is soft has no instruction of its own."""


def _pattern(bench: Bench, spec: OpSpec) -> str | None:
    if not is_float(spec.id):
        return _PATTERNS.get(spec.id)
    wide = spec.signature.inputs[0] in (DataType.F32, DataType.F64)
    found = _FLOATS.get(spec.id.rpartition(".")[2]) if wide else None
    return found if found and bench.inspection(spec).lowering in ("", NATIVE) else None


def instruction(bench: Bench, spec: OpSpec) -> str:
    """`seen`, `not seen`, or `not exposed` where there is no assembly or no pattern to look for."""
    pattern = _pattern(bench, spec)
    text = bench.inspection(spec, assembly=True).assembly if pattern else ""
    if not pattern or not text:
        return NOT_EXPOSED
    copy = bench.backend.compile(copying(bench.compiled(spec).program))
    control = inspect(copy, assembly=True).assembly
    return SEEN if occurrences(pattern, text) > occurrences(pattern, control) else NOT_SEEN


def copying(program: Program) -> Program:
    """The program with the first operand stored in place of the result."""
    first = program.buffers[0].name
    let, guard = program.entry
    assert isinstance(let, Let)
    assert isinstance(guard, If)
    body = If(guard.condition, (Store(OUT, Var("i"), Load(first, Var("i"))),))
    return Program(program.buffers, program.workgroup_size, (let, body))


def occurrences(pattern: str, assembly: str) -> int:
    """How many instructions of the text match."""
    mnemonic = re.compile(rf"\s*(@!?%?\w+\s+)?(/\*\w+\*/\s+)?(rep\s+)?({pattern})\b", re.IGNORECASE)
    return sum(mnemonic.match(line) is not None for line in assembly.splitlines())
