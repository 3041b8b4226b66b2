"""WGSL, for Naga and Tint alike.

Buffers are module variables, and each has functions of its own that check bounds. A buffer that
some atomic touches is an array of atomics, and so is a writable buffer of 8-bit or 16-bit elements, whose
stores flip their own bits of a word only. Uniform buffers are bound as read-only storage: a uniform
array would need a stride of 16 bytes and a length fixed in the text. The hidden words are a uniform,
because devices offer as few as eight storage buffers; the constant tables follow them.

Nothing in the text is a constant expression that a compiler could refuse to fold (`1u << 32u`): where
all operands are literals, the first goes through a function. A value read from a `var<private>` would
do as well, but counts as divergent, and conditions made of literals may guard a barrier.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic
from vyre.ir.operators import AtomicOp
from vyre.ir.types import NARROW_TYPES, DataType
from vyre.ir.walk import expressions
from vyre.lower.clike import ClikeEmitter, Dialect, function_lines, lanes_of
from vyre.lower.intrinsics import WGSL_ENABLE, WGSL_HARDWARE, has_collective, wgsl_lines, wgsl_start
from vyre.lower.native_wgsl import definitions
from vyre.lower.nesting import flatten
from vyre.lower.packed_wgsl import PACKED, mask_of, shift_of, taken_from, widened, word_of
from vyre.lower.returns import settle_returns
from vyre.lower.source import BASE_WORDS, ZERO_WORD, Source, bound_buffers, hidden_words
from vyre.lower.support import check_supported
from vyre.lower.tables_wgsl import element_of_table, table_bytes, table_functions

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

ENTRY = "vyre_main"

_PRELUDE = """\
fn lit(a: u32) -> u32 { return a; }
fn div_u32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a / b; }
fn mod_u32(a: u32, b: u32) -> u32 { if (b == 0u) { return 0u; } return a % b; }
fn mul_hi_u32(a: u32, b: u32) -> u32 {
  let al = a & 65535u; let ah = a >> 16u; let bl = b & 65535u; let bh = b >> 16u;
  let m = ah * bl + ((al * bl) >> 16u);
  let k = al * bh + (m & 65535u);
  return ah * bh + (m >> 16u) + (k >> 16u);
}
fn popcount_u32(a: u32) -> u32 { return countOneBits(a); }
fn clz_u32(a: u32) -> u32 { return countLeadingZeros(a); }
fn ctz_u32(a: u32) -> u32 { return countOneBits((a & (0u - a)) - 1u); }
fn reverse_u32(a: u32) -> u32 { return reverseBits(a); }
fn any_2(a: vec2<u32>) -> u32 { return select(0u, 1u, (a.x | a.y) != 0u); }
fn any_4(a: vec4<u32>) -> u32 { return select(0u, 1u, (a.x | a.y | a.z | a.w) != 0u); }
fn zext_1_2(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u); }
fn zext_1_4(a: u32) -> vec4<u32> { return vec4<u32>(a, 0u, 0u, 0u); }
fn zext_2_4(a: vec2<u32>) -> vec4<u32> { return vec4<u32>(a.x, a.y, 0u, 0u); }
fn sext_2(a: u32) -> vec2<u32> { return vec2<u32>(a, 0u - (a >> 31u)); }
fn sext_4(a: u32) -> vec4<u32> { let s = 0u - (a >> 31u); return vec4<u32>(a, s, s, s); }
fn splat_2(a: u32) -> vec2<u32> { return vec2<u32>(a, a); }
fn splat_4(a: u32) -> vec4<u32> { return vec4<u32>(a, a, a, a); }
fn low_4_2(a: vec4<u32>) -> vec2<u32> { return a.xy; }
fn neg_f64(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(a.x, a.y ^ 2147483648u); }
fn abs_f64(a: vec2<u32>) -> vec2<u32> { return vec2<u32>(a.x, a.y & 2147483647u); }
"""

_ATOMICS = {
    AtomicOp.Add: "atomicAdd",
    AtomicOp.Or: "atomicOr",
    AtomicOp.And: "atomicAnd",
    AtomicOp.Xor: "atomicXor",
    AtomicOp.Min: "atomicMin",
    AtomicOp.Max: "atomicMax",
    AtomicOp.Exchange: "atomicExchange",
}


class WgslDialect(Dialect):
    def __init__(self, prepared: Prepared) -> None:
        super().__init__()
        self.atomics: dict[str, set[AtomicOp]] = {}
        for expr in expressions(prepared.entry):
            if isinstance(expr, Atomic):
                self.atomics.setdefault(expr.buffer, set()).add(expr.op)

    def type_name(self, lanes: int) -> str:
        return "u32" if lanes == 1 else f"vec{lanes}<u32>"

    def vector(self, lanes: list[str]) -> str:
        return f"vec{len(lanes)}<u32>({', '.join(lanes)})"

    def from_bool(self, condition: str) -> str:
        return f"select(0u, 1u, {condition})"

    def choose(self, condition: str, if_true: str, if_false: str) -> str:
        return f"select({if_false}, {if_true}, {condition})"

    def declare(self, name: str, kind: str, value: str) -> str:
        return f"var {name}: {kind} = {value};"

    def function_head(self, name: str, params: list[tuple[str, str]], output: str, *, cold: bool) -> str:
        return f"fn {name}({', '.join(f'{p}: {kind}' for kind, p in params)}) -> {output} {{"

    def loop_head(self, var: str, start: str, stop: str) -> str:
        return f"for (var {var}: u32 = {start}; {var} < {stop}; {var}++) {{"

    def load(self, decl: BufferDecl, index: str, *, guard: bool, offset: int) -> str:
        return self.call(f"{'load' if guard else 'get'}_{decl.name}", index)

    def store(self, decl: BufferDecl, index: str, value: str, *, guard: bool, offset: int) -> str:
        return self.call(f"{'store' if guard else 'put'}_{decl.name}", index, value) + ";"

    def atomic(self, decl: BufferDecl, op: Atomic, operands: list[str], *, guard: bool) -> str:
        return self.call(f"{_helper(op.op)}{'' if guard else '_in'}_{decl.name}", *operands)

    def opaque(self, literal: str) -> str:
        return self.call("lit", literal)

    @property
    def barrier(self) -> list[str]:
        return ["workgroupBarrier();", "storageBarrier();"]

    def is_atomic(self, decl: BufferDecl) -> bool:
        return decl.name in self.atomics or (self._packed(decl) and decl.access.writable)

    def array(self, decl: BufferDecl) -> str:
        element = "atomic<u32>" if self.is_atomic(decl) else self.type_name(lanes_of(decl.element))
        return f"array<{element}>" if decl.access.bound else f"array<{element}, {decl.count}>"

    def functions(self, decl: BufferDecl) -> list[str]:
        """Those functions through which the kernel touches this buffer that were called so far."""
        name, called = decl.name, self.called
        length = f"{decl.count}u" if decl.count else f"hidden_len_{name}()"
        value = self.type_name(lanes_of(decl.element))
        zero = "0u" if value == "u32" else f"{value}(0u)"
        inside = f"i < {length}"
        lines: list[str] = []
        if f"load_{name}" in called:
            lines += [f"fn load_{name}(i: u32) -> {value} {{"]
            lines += [f"  if ({inside}) {{ return {self._read(decl)}; }}", f"  return {zero};", "}"]
        if f"get_{name}" in called:
            lines.append(f"fn get_{name}(i: u32) -> {value} {{ return {self._read(decl)}; }}")
        if f"store_{name}" in called:
            lines += [f"fn store_{name}(i: u32, v: {value}) {{"]
            lines += [f"  if ({inside}) {{ {self._write(decl)} }}", "}"]
        if f"put_{name}" in called:
            lines.append(f"fn put_{name}(i: u32, v: {value}) {{ {self._write(decl)} }}")
        for op in sorted(self.atomics.get(name, ()), key=lambda op: op.value):
            if f"{_helper(op)}_{name}" in called:
                lines += self._update(decl, op, inside)
            if f"{_helper(op)}_in_{name}" in called:
                lines += self._update(decl, op, "")
        return lines

    def clear(self, shared: list[BufferDecl], size: tuple[int, int, int]) -> list[str]:
        """Zeroes workgroup memory. The language promises zeros, and not every stack keeps the promise."""
        if not shared:
            return []
        x, y, z = size
        lines = [f"  let lane = local_x + {x}u * (local_y + {y}u * local_z);"]
        for decl in shared:
            value = self.type_name(lanes_of(decl.element))
            cell = f"b_{decl.name}[i]"
            store = f"atomicStore(&{cell}, 0u);" if self.is_atomic(decl) else f"{cell} = {value}();"
            lines.append(f"  for (var i = lane; i < {decl.count}u; i += {x * y * z}u) {{ {store} }}")
        return [*lines, "  workgroupBarrier();"]

    def _packed(self, decl: BufferDecl) -> bool:
        return decl.element in PACKED and decl.access.bound

    def _read(self, decl: BufferDecl) -> str:
        if decl.access is BufferAccess.Constant:
            return element_of_table(decl)
        packed = self._packed(decl)
        cell = f"b_{decl.name}[{word_of(decl.element) if packed else 'i'}]"
        word = f"atomicLoad(&{cell})" if self.is_atomic(decl) else cell
        if packed:
            return taken_from(word, decl.element)
        if decl.element in NARROW_TYPES:
            # A store leaves all bits of the value in the word that the element has to itself.
            return widened(f"{word} & {mask_of(decl.element)}", decl.element)
        return f"select(0u, 1u, {word} != 0u)" if decl.element is DataType.Bool else word

    def _write(self, decl: BufferDecl) -> str:
        cell = f"b_{decl.name}[i]"
        if self._packed(decl):
            cell = f"b_{decl.name}[{word_of(decl.element)}]"
            return (
                f"let s = {shift_of(decl.element)}; let old = atomicLoad(&{cell}); "
                f"atomicXor(&{cell}, (old ^ (v << s)) & ({mask_of(decl.element)} << s));"
            )
        return f"atomicStore(&{cell}, v);" if self.is_atomic(decl) else f"{cell} = v;"

    def _update(self, decl: BufferDecl, op: AtomicOp, inside: str) -> list[str]:
        cell = f"&b_{decl.name}[i]"
        head = f"fn {_helper(op)}{'' if inside else '_in'}_{decl.name}(i: u32, v: u32"
        outside = [f"  if (!({inside})) {{ return 0u; }}"] if inside else []
        if op is not AtomicOp.CompareExchange:
            return [f"{head}) -> u32 {{", *outside, f"  return {_ATOMICS[op]}({cell}, v);", "}"]
        # The weak form may fail for no reason; only a difference from the expected value counts.
        return [
            f"{head}, e: u32) -> u32 {{",
            *outside,
            "  loop {",
            f"    let r = atomicCompareExchangeWeak({cell}, e, v);",
            "    if (r.exchanged || r.old_value != e) { return r.old_value; }",
            "  }",
            "  return 0u;",
            "}",
        ]


def _helper(op: AtomicOp) -> str:
    return "atomic_cas" if op is AtomicOp.CompareExchange else f"atomic_{op.value.lower()}"


def emit(prepared: Prepared, *, backend: str = "wgpu") -> Source:
    """The kernel as WGSL. Group 0 binds the buffers in order, then the hidden words.

    The hidden words are a uniform, an array of vec4<u32>, the last one padded.
    """
    check_supported(prepared, backend, hardware=WGSL_HARDWARE)
    prepared = flatten(settle_returns(prepared), backend=backend)
    dialect = WgslDialect(prepared)
    hidden = hidden_words(prepared)
    bound = bound_buffers(prepared)
    lines = [*([WGSL_ENABLE] if has_collective(prepared) else []), _PRELUDE.rstrip(), *wgsl_lines(prepared)]
    for number, decl in enumerate(bound):
        mode = "read_write" if decl.access.writable else "read"
        space = f"var<storage, {mode}>"
        lines.append(f"@group(0) @binding({number}) {space} b_{decl.name}: {dialect.array(decl)};")
    tables, own_words = table_bytes(prepared), -(-len(hidden) // 4)
    words = f"array<vec4<u32>, {own_words + len(tables) // 16}>"
    lines.append(f"@group(0) @binding({len(bound)}) var<uniform> hidden: {words};")
    for number, word in enumerate(hidden):
        lines.append(f"fn hidden_{word}() -> u32 {{ return hidden[{number // 4}].{'xyzw'[number % 4]}; }}")
    lines += table_functions(prepared, own_words)
    shared = [b for b in prepared.buffers if b.access.shared]
    lines += [f"var<workgroup> b_{decl.name}: {dialect.array(decl)};" for decl in shared]
    own = (b for b in prepared.buffers if b.access is BufferAccess.Private)
    lines += [f"var<private> b_{decl.name}: {dialect.array(decl)};" for decl in own]
    body = ClikeEmitter(prepared, dialect).body()
    for decl in prepared.buffers:
        lines += dialect.functions(decl)
    lines += definitions(prepared.natives)
    lines += function_lines(prepared, dialect)
    x, y, z = prepared.workgroup_size
    lines += [
        f"@compute @workgroup_size({x}, {y}, {z})",
        f"fn {ENTRY}(@builtin(workgroup_id) group: vec3<u32>, "
        "@builtin(local_invocation_id) local: vec3<u32>) {",
    ]
    for axis, size, base in zip("xyz", (x, y, z), BASE_WORDS, strict=True):
        lines.append(f"  let local_{axis} = local.{axis};")
        lines.append(f"  let workgroup_{axis} = group.{axis} + hidden_{base}();")
        lines.append(f"  let invocation_{axis} = workgroup_{axis} * {size}u + local_{axis};")
    lines += [f"  let {word} = hidden_{word}();" for word in hidden if word not in (*BASE_WORDS, ZERO_WORD)]
    lines += dialect.clear(shared, prepared.workgroup_size)
    lines += wgsl_start(prepared)
    lines += body
    lines.append("}\n")
    text = "\n".join(lines)
    return Source("wgsl", ENTRY, text, prepared.workgroup_size, bound, hidden, prepared.ways, tables)


def workgroup_bytes(decl: BufferDecl) -> int:
    """What a workgroup buffer takes of the device's workgroup memory; narrow elements take a word each."""
    return -(-4 * lanes_of(decl.element) * decl.count // 16) * 16
