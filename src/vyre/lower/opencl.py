"""OpenCL C 1.2. Pointers carry their address space, so memory helpers exist once per space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp
from vyre.lower.barriers import free_barriers
from vyre.lower.cdialect import CDialect, private_memory, shared_memory, table_pointers, tables
from vyre.lower.clike import ClikeEmitter, function_lines
from vyre.lower.intrinsics import OPENCL_HARDWARE, opencl_attribute, opencl_lines
from vyre.lower.native_c import OPENCL, definitions
from vyre.lower.preamble import id_lines, parameter_lines, used_helpers
from vyre.lower.source import Source, bound_buffers, hidden_words
from vyre.lower.support import check_supported

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

ENTRY = "vyre_main"

_PRELUDE = """\
#pragma OPENCL FP_CONTRACT OFF
typedef uint u32;
#define FN static inline
FN u32 div_u32(u32 a, u32 b) { return b ? a / b : 0u; }
FN u32 mod_u32(u32 a, u32 b) { return b ? a % b : 0u; }
FN u32 mul_hi_u32(u32 a, u32 b) { return mul_hi(a, b); }
FN u32 popcount_u32(u32 a) { return popcount(a); }
FN u32 clz_u32(u32 a) { return clz(a); }
FN u32 ctz_u32(u32 a) { return popcount((a & (0u - a)) - 1u); }
FN u32 reverse_u32(u32 a) {
  a = ((a >> 1) & 0x55555555u) | ((a & 0x55555555u) << 1);
  a = ((a >> 2) & 0x33333333u) | ((a & 0x33333333u) << 2);
  a = ((a >> 4) & 0x0F0F0F0Fu) | ((a & 0x0F0F0F0Fu) << 4);
  a = ((a >> 8) & 0x00FF00FFu) | ((a & 0x00FF00FFu) << 8);
  return (a >> 16) | (a << 16);
}
FN u32 any_2(uint2 a) { return (a.x | a.y) != 0u; }
FN u32 any_4(uint4 a) { return (a.x | a.y | a.z | a.w) != 0u; }
FN uint2 zext_1_2(u32 a) { return (uint2)(a, 0u); }
FN uint4 zext_1_4(u32 a) { return (uint4)(a, 0u, 0u, 0u); }
FN uint4 zext_2_4(uint2 a) { return (uint4)(a, 0u, 0u); }
FN uint2 sext_2(u32 a) { return (uint2)(a, 0u - (a >> 31)); }
FN uint4 sext_4(u32 a) { u32 s = 0u - (a >> 31); return (uint4)(a, s, s, s); }
FN u32 sign_8(u32 a) { return (a ^ 128u) - 128u; }
FN u32 sign_16(u32 a) { return (a ^ 32768u) - 32768u; }
FN uint2 splat_2(u32 a) { return (uint2)(a); }
FN uint4 splat_4(u32 a) { return (uint4)(a); }
FN uint2 low_4_2(uint4 a) { return a.xy; }
FN uint2 neg_f64(uint2 a) { return (uint2)(a.x, a.y ^ 2147483648u); }
FN uint2 abs_f64(uint2 a) { return (uint2)(a.x, a.y & 2147483647u); }
FN double neg_double(double a) { return as_double(as_ulong(a) ^ 0x8000000000000000UL); }
FN double abs_double(double a) { return as_double(as_ulong(a) & 0x7FFFFFFFFFFFFFFFUL); }
"""

_MEMORY = """\
FN u32 {s}_load_1(const {q} u32* b, u32 n, u32 i) {{ return i < n ? b[i] : 0u; }}
FN u32 {s}_load_h(const {q} ushort* b, u32 n, u32 i) {{ return i < n ? (u32)b[i] : 0u; }}
FN u32 {s}_load_b(const {q} uchar* b, u32 n, u32 i) {{ return i < n ? (u32)b[i] : 0u; }}
FN u32 {s}_load_sh(const {q} ushort* b, u32 n, u32 i) {{ return i < n ? ((u32)b[i] ^ 32768u) - 32768u : 0u; }}
FN u32 {s}_load_sb(const {q} uchar* b, u32 n, u32 i) {{ return i < n ? ((u32)b[i] ^ 128u) - 128u : 0u; }}
FN uint2 {s}_load_2(const {q} uint2* b, u32 n, u32 i) {{ return i < n ? b[i] : (uint2)(0u); }}
FN uint4 {s}_load_4(const {q} uint4* b, u32 n, u32 i) {{ return i < n ? b[i] : (uint4)(0u); }}
FN double {s}_load_d(const {q} double* b, u32 n, u32 i) {{ return i < n ? b[i] : 0.0; }}
FN void {s}_store_d({q} double* b, u32 n, u32 i, double v) {{ if (i < n) b[i] = v; }}
FN void {s}_store_1({q} u32* b, u32 n, u32 i, u32 v) {{ if (i < n) b[i] = v; }}
FN void {s}_store_h({q} ushort* b, u32 n, u32 i, u32 v) {{ if (i < n) b[i] = (ushort)v; }}
FN void {s}_store_b({q} uchar* b, u32 n, u32 i, u32 v) {{ if (i < n) b[i] = (uchar)v; }}
FN void {s}_store_2({q} uint2* b, u32 n, u32 i, uint2 v) {{ if (i < n) b[i] = v; }}
FN void {s}_store_4({q} uint4* b, u32 n, u32 i, uint4 v) {{ if (i < n) b[i] = v; }}
FN u32 {s}_atomic_add({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_add(b + i, v) : 0u; }}
FN u32 {s}_atomic_or({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_or(b + i, v) : 0u; }}
FN u32 {s}_atomic_and({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_and(b + i, v) : 0u; }}
FN u32 {s}_atomic_xor({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_xor(b + i, v) : 0u; }}
FN u32 {s}_atomic_min({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_min(b + i, v) : 0u; }}
FN u32 {s}_atomic_max({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_max(b + i, v) : 0u; }}
FN u32 {s}_atomic_exchange({q} u32* b, u32 n, u32 i, u32 v) {{ return i < n ? atomic_xchg(b + i, v) : 0u; }}
FN u32 {s}_atomic_cas({q} u32* b, u32 n, u32 i, u32 v, u32 e) {{
  return i < n ? atomic_cmpxchg(b + i, e, v) : 0u;
}}
"""

_ATOMICS = {
    AtomicOp.Add: "atomic_add",
    AtomicOp.Or: "atomic_or",
    AtomicOp.And: "atomic_and",
    AtomicOp.Xor: "atomic_xor",
    AtomicOp.Min: "atomic_min",
    AtomicOp.Max: "atomic_max",
    AtomicOp.Exchange: "atomic_xchg",
    AtomicOp.CompareExchange: "atomic_cmpxchg",
}


_SPACES = {
    BufferAccess.Workgroup: "local",
    BufferAccess.WorkgroupAtomic: "local",
    BufferAccess.Private: "private",
    BufferAccess.Constant: "constant",
}
"""The address space of a buffer that is not global."""


class OpenClDialect(CDialect):
    @property
    def half(self) -> str:
        return "ushort"

    @property
    def byte(self) -> str:
        return "uchar"

    @property
    def cold(self) -> str:
        return "static __attribute__((noinline))"

    def prefix(self, decl: BufferDecl) -> str:
        return f"{_SPACES.get(decl.access, 'global')}_"

    def plain_atomic(self, op: AtomicOp, address: str, operands: list[str]) -> str:
        return f"{_ATOMICS[op]}({', '.join([address, *reversed(operands)])})"

    def double(self, bits: int) -> str:
        return f"as_double(0x{bits:016X}UL)"

    def vector(self, lanes: list[str]) -> str:
        return f"((uint{len(lanes)})({', '.join(lanes)}))"

    @property
    def barrier(self) -> list[str]:
        return ["barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"]


def emit(prepared: Prepared, *, backend: str = "opencl") -> Source:
    """The kernel as OpenCL C. Arguments: the buffers in order, then the hidden words as uints."""
    check_supported(prepared, backend, hardware=OPENCL_HARDWARE)
    prepared = free_barriers(prepared)
    dialect = OpenClDialect(doubles=prepared.doubles)
    hidden = hidden_words(prepared)
    params: list[str] = []
    for decl in bound_buffers(prepared):
        pointer = f"__global {dialect.element_type(decl.element)}*"
        # Only what nobody writes is `restrict`, for the reason given in `cuda.py`.
        pointer = pointer if decl.access.writable else f"const {pointer} restrict"
        params.append(f"{pointer} b_{decl.name}")
    params += [f"const u32 {word}" for word in hidden]
    x, y, z = prepared.workgroup_size
    body = id_lines(prepared, lambda k: f"(u32)get_local_id({k})", lambda k: f"(u32)get_group_id({k})")
    body += table_pointers(prepared, dialect, "__constant ")
    body += private_memory(prepared, dialect)
    body += shared_memory(prepared, dialect, "__local")
    body += ClikeEmitter(prepared, dialect).body()
    functions = [*definitions(prepared.natives, OPENCL), *function_lines(prepared, dialect)]
    prelude = _PRELUDE + "".join(
        _MEMORY.format(s=s, q=f"__{s}") for s in ("global", *dict.fromkeys(_SPACES.values()))
    )
    lines = [
        *used_helpers(prelude, dialect.called),
        *tables(prepared, "__constant __attribute__((aligned(16)))"),
        *opencl_lines(prepared),
        *functions,
        "",
        f"__kernel __attribute__((reqd_work_group_size({x}, {y}, {z})))",
        *opencl_attribute(prepared),
        f"void {ENTRY}(",
        *parameter_lines(params),
        ") {",
        *body,
        "}\n",
    ]
    if any("double" in line for line in lines):
        lines.insert(0, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable")
    return Source(
        "opencl",
        ENTRY,
        "\n".join(lines),
        prepared.workgroup_size,
        bound_buffers(prepared),
        hidden,
        ways=prepared.ways,
    )
