"""CUDA C for NVRTC: self-contained, no headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.operators import AtomicOp
from vyre.lower.cdialect import (
    CDialect,
    element_at,
    place_of,
    private_memory,
    shared_memory,
    table_pointers,
    tables,
)
from vyre.lower.clike import ClikeEmitter, function_lines
from vyre.lower.gathered import gathered
from vyre.lower.intrinsics import CUDA_HARDWARE, CUDA_PRELUDE
from vyre.lower.matrices import CUDA_PRELUDE as MATRIX_PRELUDE
from vyre.lower.matrices import ELEMENTS, MATRICES
from vyre.lower.native_c import CUDA, definitions
from vyre.lower.preamble import id_lines, parameter_lines, used_helpers
from vyre.lower.source import Source, bound_buffers, hidden_words
from vyre.lower.support import check_supported

if TYPE_CHECKING:
    from collections.abc import Mapping

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
FN u32 sign_8(u32 a) { return (a ^ 128u) - 128u; }
FN u32 sign_16(u32 a) { return (a ^ 32768u) - 32768u; }
FN uint2 splat_2(u32 a) { return make_uint2(a, a); }
FN uint4 splat_4(u32 a) { return make_uint4(a, a, a, a); }
FN uint2 low_4_2(uint4 a) { return make_uint2(a.x, a.y); }
FN uint2 neg_f64(uint2 a) { return make_uint2(a.x, a.y ^ 2147483648u); }
FN uint2 abs_f64(uint2 a) { return make_uint2(a.x, a.y & 2147483647u); }
FN double neg_double(double a) { return __longlong_as_double(__double_as_longlong(a) ^ 0x8000000000000000L); }
FN double abs_double(double a) { return __longlong_as_double(__double_as_longlong(a) & 0x7FFFFFFFFFFFFFFFL); }
FN double load_d(const double* b, u32 n, u32 i) { return i < n ? b[i] : 0.0; }
FN void store_d(double* b, u32 n, u32 i, double v) { if (i < n) b[i] = v; }
FN u32 load_1(const u32* b, u32 n, u32 i) { return i < n ? b[i] : 0u; }
FN u32 load_h(const unsigned short* b, u32 n, u32 i) { return i < n ? (u32)b[i] : 0u; }
FN u32 load_b(const unsigned char* b, u32 n, u32 i) { return i < n ? (u32)b[i] : 0u; }
FN u32 load_sh(const unsigned short* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 32768u) - 32768u : 0u; }
FN u32 load_sb(const unsigned char* b, u32 n, u32 i) { return i < n ? ((u32)b[i] ^ 128u) - 128u : 0u; }
FN uint2 load_2(const uint2* b, u32 n, u32 i) { return i < n ? b[i] : make_uint2(0u, 0u); }
FN uint4 load_4(const uint4* b, u32 n, u32 i) { return i < n ? b[i] : make_uint4(0u, 0u, 0u, 0u); }
FN void store_1(u32* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = v; }
FN void store_h(unsigned short* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (unsigned short)v; }
FN void store_b(unsigned char* b, u32 n, u32 i, u32 v) { if (i < n) b[i] = (unsigned char)v; }
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

_ATOMICS = {
    AtomicOp.Add: "atomicAdd",
    AtomicOp.Or: "atomicOr",
    AtomicOp.And: "atomicAnd",
    AtomicOp.Xor: "atomicXor",
    AtomicOp.Min: "atomicMin",
    AtomicOp.Max: "atomicMax",
    AtomicOp.Exchange: "atomicExch",
    AtomicOp.CompareExchange: "atomicCAS",
}


def _copies() -> str:
    """Copies that devices from sm_80 on make by themselves; what is not read there is 0."""
    operands = '"r"((u32)__cvta_generic_to_shared(s)), "l"(b + (i < n ? i : 0u)), "r"(i < n ? 16u : 0u)'
    copy = f'asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: {operands} : "memory")'
    wait = 'asm volatile("cp.async.wait_all;" ::: "memory")'
    able, head = "if (__CUDA_ARCH__ >= 800)", "FN void copy_16(uint4* s, const uint4* b, u32 n, u32 i)"
    other = "*s = i < n ? b[i] : make_uint4(0u, 0u, 0u, 0u)"
    return f"{head} {{ {able} {copy}; else {other}; }}\nFN void copied_16() {{ {able} {wait}; }}\n"


CONSTANTS = "vyre_constants"


class CudaDialect(CDialect):
    """Doubles that no instruction can hold are kept in constant memory, whence one may take them directly.

    The array could be changed from outside, for all that the compiler knows: it would otherwise put each
    number together from two halves wherever it is used.
    """

    unroll = "#pragma unroll"

    def __init__(self, *, doubles: bool = False) -> None:
        super().__init__(doubles=doubles)
        self._places: dict[int, int] = {}

    def constants(self) -> list[str]:
        if not self._places:
            return []
        values = ", ".join(f"0x{bits:016X}UL" for bits in self._places)
        return [f"__constant__ unsigned long long {CONSTANTS}[] = {{ {values} }};"]

    @property
    def elements(self) -> Mapping[str, tuple[str, int]]:
        return ELEMENTS

    @property
    def half(self) -> str:
        return "unsigned short"

    @property
    def byte(self) -> str:
        return "unsigned char"

    @property
    def cold(self) -> str:
        return "static __device__ __noinline__"

    def plain_atomic(self, op: AtomicOp, address: str, operands: list[str]) -> str:
        return f"{_ATOMICS[op]}({', '.join([address, *reversed(operands)])})"

    def double(self, bits: int) -> str:
        if bits & 0xFFFFFFFF == 0:
            return f"__longlong_as_double(0x{bits:016X}L)"
        return f"__longlong_as_double({CONSTANTS}[{self._places.setdefault(bits, len(self._places))}])"

    def vector(self, lanes: list[str]) -> str:
        return f"make_uint{len(lanes)}({', '.join(lanes)})"

    @property
    def barrier(self) -> list[str]:
        return ["__syncthreads();"]

    copied = ("copied_16();",)

    def copy(self, decl: BufferDecl, index: str, source: BufferDecl, at: str, *, offset: int) -> str:
        self.called.add("copied_16")
        return self.call("copy_16", f"&{element_at(decl, index, offset)}", place_of(source), at) + ";"


def emit(prepared: Prepared, *, backend: str = "cuda") -> Source:
    """The kernel as CUDA C. Arguments: the buffers' addresses in order, then the hidden words."""
    check_supported(prepared, backend, hardware=CUDA_HARDWARE | MATRICES)
    prepared = gathered(prepared)
    dialect = CudaDialect(doubles=prepared.doubles)
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
    body += table_pointers(prepared, dialect, "")
    body += private_memory(prepared, dialect)
    body += shared_memory(prepared, dialect, "__shared__")
    body += ClikeEmitter(prepared, dialect).body()
    functions = [*definitions(prepared.natives, CUDA), *function_lines(prepared, dialect)]
    lines = [
        *used_helpers(_PRELUDE + _copies() + CUDA_PRELUDE + MATRIX_PRELUDE, dialect.called),
        *dialect.constants(),
        *tables(prepared, "static __device__ const __align__(16)"),
        *functions,
        "",
        f'extern "C" __global__ void __launch_bounds__({x * y * z}) {ENTRY}(',
        *parameter_lines(params),
        ") {",
        *body,
        "}\n",
    ]
    return Source(
        "cuda",
        ENTRY,
        "\n".join(lines),
        prepared.workgroup_size,
        bound_buffers(prepared),
        hidden,
        ways=prepared.ways,
    )
