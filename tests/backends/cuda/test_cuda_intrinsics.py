"""Every subgroup instruction is one instruction of PTX; compiled here without a GPU."""

from __future__ import annotations

import re

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends.cuda.backend import compile_source
from vyre.backends.subgroups import cuda_hardware
from vyre.errors import VyreError
from vyre.ir.expr import Call, Expr
from vyre.ir.node import Let, Store
from vyre.lower.cuda import ENTRY, emit
from vyre.lower.intrinsics import ptx_helper
from vyre.lower.packed import PACKED, opencl_packed
from vyre.lower.prepare import prepare
from vyre.lower.source import Source
from vyre.ops.intrinsics.subgroup import NAMES, op_id

pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)
PTX = {
    "shuffle": r"shfl\.sync\.idx\.b32",
    "shuffle_xor": r"shfl\.sync\.bfly\.b32",
    "shuffle_up": r"shfl\.sync\.up\.b32",
    "shuffle_down": r"shfl\.sync\.down\.b32",
    "ballot": r"vote\.sync\.ballot\.b32",
    "reduce_add": r"redux\.sync\.add\.[su]32",
    "reduce_min": r"redux\.sync\.min\.u32",
    "reduce_max": r"redux\.sync\.max\.u32",
    "reduce_and": r"redux\.sync\.and\.b32",
    "reduce_or": r"redux\.sync\.or\.b32",
    "reduce_xor": r"redux\.sync\.xor\.b32",
}
ANY = re.compile(r"(?:shfl|vote|redux)\.sync")


def call(name: str, at: int) -> Call:
    operands: tuple[Expr, ...] = (A[ID + at], A[ID + at + 100])
    return Call(op_id(32, name), operands[: 2 if name.startswith("shuffle") else 1])


def ptx_of(program: Program, architecture: str = "compute_80") -> str:
    return compile_source(emit(prepare(program)), architecture).decode()


def test_the_table_is_whole() -> None:
    assert set(PTX) == set(NAMES)


def test_one_instruction_for_one_call() -> None:
    entry = [Store("out", ID * len(NAMES) + k, call(name, k)) for k, name in enumerate(NAMES)]
    ptx = ptx_of(Program([A, OUT], [64], entry))
    counts = {name: len(re.findall(pattern, ptx)) for name, pattern in PTX.items()}
    assert counts == dict.fromkeys(NAMES, 1)
    assert len(ANY.findall(ptx)) == len(NAMES)


@pytest.mark.parametrize("name", ["shuffle", "ballot", "reduce_add"])
def test_equal_calls_are_not_merged_and_unused_ones_stay(name: str) -> None:
    again = call(name, 1)
    entry = [Let("unused", call(name, 0)), Store("out", ID, again), Store("out", ID + 1, again)]
    text = emit(prepare(Program([A, OUT], [64], entry))).text
    assert text.count(f"intrinsic_subgroup32_{name}(") == 4  # the helper and three calls


def test_the_count_sees_a_second_instruction() -> None:
    entry = [Store("out", ID, call("ballot", 0)), Store("out", ID + 7, call("ballot", 3))]
    assert len(re.findall(PTX["ballot"], ptx_of(Program([A, OUT], [64], entry)))) == 2


def test_the_inline_form_for_opencl_is_the_same_instruction() -> None:
    """NVIDIA's assembler accepts it, and each helper holds the one instruction."""
    kernel = [f"b[t + {64 * k}u] = {_use(name)};" for k, name in enumerate(NAMES)]
    text = "\n".join(
        [
            "typedef unsigned int u32;",
            "#define FN static __device__ __forceinline__",
            *map(ptx_helper, NAMES),
            f'extern "C" __global__ void {ENTRY}(u32* b) {{ u32 t = threadIdx.x;',
            *kernel,
            "}",
        ]
    )
    source = Source("cuda", ENTRY, text, (64, 1, 1), (), ())
    ptx = compile_source(source, "compute_80").decode()
    assert {name: len(re.findall(pattern, ptx)) for name, pattern in PTX.items()} == dict.fromkeys(NAMES, 1)
    assert compile_source(source, "sm_90")


def _use(name: str) -> str:
    return f"intrinsic_subgroup32_{name}({'b[t], b[t + 32u]' if name.startswith('shuffle') else 'b[t]'})"


def test_older_gpus_have_no_reductions() -> None:
    assert {h for h in cuda_hardware(90) if "reduce" in h} == {
        f"subgroup32.{n}" for n in NAMES if "reduce" in n
    }
    assert cuda_hardware(75) - PACKED == {f"subgroup32.{n}" for n in NAMES if "reduce" not in n}
    program = Program([A, OUT], [64], [Store("out", ID, call("reduce_add", 0))])
    with pytest.raises(VyreError, match="__reduce_add_sync"):
        ptx_of(program, "compute_75")
    older = [Store("out", ID + k, call(name, k)) for k, name in enumerate(NAMES) if "reduce" not in name]
    assert len(ANY.findall(ptx_of(Program([A, OUT], [64], older), "compute_75"))) == len(older)


def test_a_packed_dot_product_is_one_instruction() -> None:
    entry = [
        Store("out", ID * 2 + k, Call(f"intrinsic.packed.{name}", (A[ID], A[ID + 100])))
        for k, name in enumerate(("dot4_u8", "dot4_i8"))
    ]
    ptx = ptx_of(Program([A, OUT], [64], entry), "compute_75")
    assert re.findall(r"dp4a\.[us]32\.[us]32", ptx) == ["dp4a.u32.u32", "dp4a.s32.s32"]
    assert cuda_hardware(61) >= PACKED
    assert not cuda_hardware(60) & PACKED


def test_the_ptx_of_packed_dot_products_for_opencl_assembles() -> None:
    helpers = [line for line in opencl_packed(PACKED) if "asm" in line]
    head = ["typedef unsigned int u32;", "#define FN static __device__ __forceinline__", *helpers]
    kernel = f'extern "C" __global__ void {ENTRY}(u32 *b) {{ u32 t = threadIdx.x;'
    uses = "b[t] = intrinsic_packed_dot4_u8(b[t], b[t + 64u]) ^ intrinsic_packed_dot4_i8(b[t], b[t + 64u]);"
    source = Source("cuda", ENTRY, "\n".join([*head, kernel, uses, "}"]), (64, 1, 1), (), ())
    assert compile_source(source, "compute_75").decode().count("dp4a.") == 2
    assert compile_source(source, "sm_90")
