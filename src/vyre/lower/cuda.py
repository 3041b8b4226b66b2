"""CUDA C for NVRTC: self-contained, no headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.operators import AtomicOp
from vyre.ir.types import DataType
from vyre.lower.clike import ClikeEmitter, Dialect, function_lines, lanes_of
from vyre.lower.preamble import id_lines, parameter_lines, used_helpers
from vyre.lower.source import Source, bound_buffers, hidden_words
from vyre.lower.support import check_supported

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir import expr as e
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

ENTRY = "vyre_main"

_PRELUDE = """\
typedef unsigned int u32;
#define FN static __device__ __forceinline__
FN u32 div_u32(u32 a, u32 b) { return b ? a / b : 0u; }
FN u32 mod_u32(u32 a, u32 b) { return b ? a % b : 0u; }
FN u32 mul_hi_u32(u32 a, u32 b) { return __umulhi(a, b); }
FN u32 popcount_u32(u32 a) { return (u32)__popc(a); }
FN u32 clz_u32(u32 a) { return (u32)__clz((int)a); }
FN u32 ctz_u32(u32 a) { return (u32)__popc((a & (0u - a)) - 1u); }
FN u32 reverse_u32(u32 a) { return __brev(a); }
FN u32 any_2(uint2 a) { return (a.x | a.y) != 0u; }
FN u32 any_4(uint4 a) { return (a.x | a.y | a.z | a.w) != 0u; }
FN uint2 zext_1_2(u32 a) { return make_uint2(a, 0u); }
FN uint4 zext_1_4(u32 a) { return make_uint4(a, 0u, 0u, 0u); }
FN uint4 zext_2_4(uint2 a) { return make_uint4(a.x, a.y, 0u, 0u); }
FN uint2 sext_2(u32 a) { return make_uint2(a, 0u - (a >> 31)); }
FN uint4 sext_4(u32 a) { u32 s = 0u - (a >> 31); return make_uint4(a, s, s, s); }
FN uint2 splat_2(u32 a) { return make_uint2(a, a); }
FN uint4 splat_4(u32 a) { return make_uint4(a, a, a, a); }
FN uint2 low_4_2(uint4 a) { return make_uint2(a.x, a.y); }
FN uint2 neg_f64(uint2 a) { return make_uint2(a.x, a.y ^ 2147483648u); }
FN uint2 abs_f64(uint2 a) { return make_uint2(a.x, a.y & 2147483647u); }
FN u32 load_1(const u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }
FN u32 load_h(const unsigned short* b, u32 n, u32 i) { return i < n ? (u32)b[i] : 0u; }
FN uint2 load_2(const uint2* b, u32 n, u32 i) { return i < n ? b[i] : make_uint2(0u, 0u); }
FN uint4 load_4(const uint4* b, u32 n, u32 i) { return i < n ? b[i] : make_uint4(0u, 0u, 0u, 0u); }
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }
FN void store_h(unsigned short* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (unsigned short)v; }
FN void store_2(uint2* b, u32 n, u32 i, uint2 v) { if (i < n) b[i] = v; }
FN void store_4(uint4* b, u32 n, u32 i, uint4 v) { if (i < n) b[i] = v; }
FN u32 atomic_add(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicAdd(b + i, v) : 0u; }
FN u32 atomic_or(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicOr(b + i, v) : 0u; }
FN u32 atomic_and(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicAnd(b + i, v) : 0u; }
FN u32 atomic_xor(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicXor(b + i, v) : 0u; }
FN u32 atomic_min(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicMin(b + i, v) : 0u; }
FN u32 atomic_max(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicMax(b + i, v) : 0u; }
FN u32 atomic_exchange(u32* b, u32 n, u32 i, u32 v) { return i < n ? atomicExch(b + i, v) : 0u; }
FN u32 atomic_cas(u32* b, u32 n, u32 i, u32 v, u32 e) { return i < n ? atomicCAS(b + i, e, v) : 0u; }
"""

ATOMIC_HELPERS = {
    AtomicOp.Add: "atomic_add",
    AtomicOp.Or: "atomic_or",
    AtomicOp.And: "atomic_and",
    AtomicOp.Xor: "atomic_xor",
    AtomicOp.Min: "atomic_min",
    AtomicOp.Max: "atomic_max",
    AtomicOp.Exchange: "atomic_exchange",
    AtomicOp.CompareExchange: "atomic_cas",
}


def storage_suffix(element: DataType) -> str:
    """The helper family of a buffer: lanes of its element, or `h` for packed halves."""
    return "h" if element in (DataType.F16, DataType.BF16) else str(lanes_of(element))


class CudaDialect(Dialect):
    def type_name(self, lanes: int) -> str:
        return "u32" if lanes == 1 else f"uint{lanes}"

    def vector(self, lanes: list[str]) -> str:
        return f"make_uint{len(lanes)}({', '.join(lanes)})"

    def from_bool(self, condition: str) -> str:
        return f"((u32)({condition}))"

    def choose(self, condition: str, if_true: str, if_false: str) -> str:
        return f"(({condition}) ? {if_true} : {if_false})"

    def declare(self, name: str, lanes: int, value: str) -> str:
        return f"{self.type_name(lanes)} {name} = {value};"

    def function_head(self, name: str, params: list[str]) -> str:
        return f"FN u32 {name}({', '.join(f'u32 {p}' for p in params)}) {{"

    def loop_head(self, var: str, start: str, stop: str) -> str:
        return f"for (u32 {var} = {start}; {var} < {stop}; {var}++) {{"

    def load(self, decl: BufferDecl, index: str) -> str:
        loaded = f"load_{storage_suffix(decl.element)}({self._place(decl)}, {index})"
        return f"((u32)({loaded} != 0u))" if decl.element is DataType.Bool else loaded

    def store(self, decl: BufferDecl, index: str, value: str) -> str:
        return f"store_{storage_suffix(decl.element)}({self._place(decl)}, {index}, {value});"

    def atomic(self, decl: BufferDecl, op: e.Atomic, operands: list[str]) -> str:
        return f"{ATOMIC_HELPERS[op.op]}({self._place(decl)}, {', '.join(operands)})"

    @property
    def barrier(self) -> list[str]:
        return ["__syncthreads();"]

    def _place(self, decl: BufferDecl) -> str:
        return f"b_{decl.name}, {f'{decl.count}u' if decl.count else f'len_{decl.name}'}"

    def element_type(self, element: DataType) -> str:
        return "unsigned short" if storage_suffix(element) == "h" else self.type_name(lanes_of(element))


def emit(prepared: Prepared, *, backend: str = "cuda") -> Source:
    """The kernel as CUDA C. Arguments: the buffers' addresses in order, then the hidden words."""
    check_supported(prepared, backend)
    dialect = CudaDialect()
    hidden = hidden_words(prepared)
    params: list[str] = []
    for decl in bound_buffers(prepared):
        pointer = f"{dialect.element_type(decl.element)}*"
        # Nobody writes a read-only buffer. A writable one must not be `__restrict__`: a compiler could
        # then keep its values across a barrier, behind which other invocations have changed them.
        pointer = pointer if decl.access.writable else f"const {pointer} __restrict__"
        params.append(f"{pointer} b_{decl.name}")
    params += [f"const u32 {word}" for word in hidden]
    x, y, z = prepared.workgroup_size
    body = id_lines(prepared, lambda k: f"threadIdx.{'xyz'[k]}", lambda k: f"blockIdx.{'xyz'[k]}")
    body += shared_memory(prepared, dialect.element_type, "__shared__", dialect.barrier)
    body += ClikeEmitter(prepared, dialect).body()
    functions = function_lines(prepared, dialect)
    lines = [
        *used_helpers(_PRELUDE, [*functions, *body]),
        *functions,
        "",
        f'extern "C" __global__ void __launch_bounds__({x * y * z}) {ENTRY}(',
        *parameter_lines(params),
        ") {",
        *body,
        "}\n",
    ]
    return Source("cuda", ENTRY, "\n".join(lines), prepared.workgroup_size, bound_buffers(prepared), hidden)


def shared_memory(
    prepared: Prepared, element_type: Callable[[DataType], str], space: str, barrier: list[str]
) -> list[str]:
    """Declarations of workgroup memory and the loops that fill it with zeros."""
    decls = [b for b in prepared.buffers if b.access.shared]
    if not decls:
        return []
    x, y, z = prepared.workgroup_size
    lines = [f"  {space} {element_type(b.element)} b_{b.name}[{b.count}];" for b in decls]
    lines.append(f"  const u32 local_linear = local_x + local_y * {x}u + local_z * {x * y}u;")
    for b in decls:
        zero = f"zext_1_{lanes_of(b.element)}(0u)" if lanes_of(b.element) > 1 else "0u"
        head = f"for (u32 z = local_linear; z < {b.count}u; z += {x * y * z}u)"
        lines.append(f"  {head} b_{b.name}[z] = {zero};")
    return lines + [f"  {text}" for text in barrier]
