"""Every CUDA lowering compiles to PTX without a GPU, and the PTX holds what the program says."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from lab.exactness import exactness_programs
from tests.backends.stored_integers import cases as stored_integers
from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends.cuda.backend import CudaBackend, choose_architecture, compile_source
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.ir.expr import Atomic, BinOp, LitU32, Load, LocalId, Select, UnOp, mul_hi
from vyre.ir.node import Barrier, Store
from vyre.ir.operators import AtomicOp, BinaryOp, UnaryOp
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.lower.source import Source

pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")

ID = InvocationId(0)
A = BufferDecl.read("a", 0, DataType.U32)
OUT = BufferDecl.read_write("out", 1, DataType.U32)


def ptx_of(program: Program) -> str:
    return compile_source(emit(prepare(program)), "compute_90").decode()


def elementwise(value: Expr) -> str:
    """The PTX of `out[i] = value`, without comments and directives."""
    return ptx_of(Program([A, OUT], [64], [OUT.store(ID, value)]))


def joined(sources: list[Source]) -> Source:
    """Many kernels as one translation unit: NVRTC costs more per unit than per kernel."""
    helpers: dict[str, None] = {}
    kernels: list[str] = []
    for number, source in enumerate(sources):
        text = source.text.replace("words_", f"words_{number}_")  # each has tables of its own
        head, _, kernel = text.partition('\nextern "C"')
        helpers |= dict.fromkeys(head.splitlines())
        kernels.append('extern "C"' + kernel.replace("vyre_main(", f"vyre_main_{number}("))
    return replace(sources[0], text="\n".join([*helpers, *kernels]))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_generated_programs_compile(first: int) -> None:
    programs = [generate_program(seed, INTEGER_PROGRAMS).program for seed in range(first, first + 50)]
    code = compile_source(joined([emit(prepare(p)) for p in programs]), "compute_90").decode()
    assert code.count(".visible .entry vyre_main_") == 50


def test_programs_at_the_edges_compile() -> None:
    programs = [case.program for case in exactness_programs().values()]
    programs += [program for program, _, _ in stored_integers().values()]
    code = compile_source(joined([emit(prepare(p)) for p in programs]), "compute_90").decode()
    assert code.count(".visible .entry vyre_main_") == len(programs)


@pytest.mark.parametrize(
    ("element", "access", "extension"),
    [
        (DataType.I8, "u8", r"cvt\.s32\.s8"),
        (DataType.U8, "u8", r"cvt\.u32\.u(8|16)"),
        (DataType.I16, "u16", r"cvt\.s32\.s16"),
        (DataType.U16, "u16", r"cvt\.u32\.u16"),
        (DataType.I64, r"v2\.u32", ""),
    ],
)
def test_a_stored_integer_is_loaded_and_stored_by_one_instruction(
    element: DataType, access: str, extension: str
) -> None:
    data, out = BufferDecl.read("data", 0, element), BufferDecl.read_write("out", 1, element.loaded)
    loading = ptx_of(Program([data, out], [64], [out.store(ID, data[ID])]))
    assert re.search(rf"ld\.global(\.nc)?\.{access}", loading)
    assert re.search(extension, loading)
    assert "xor" not in loading, "the compiler sees the sign extension"
    data, out = BufferDecl.read("data", 0, element.loaded), BufferDecl.read_write("out", 1, element)
    assert re.search(rf"st\.global\.{access}", ptx_of(Program([data, out], [64], [out.store(ID, data[ID])])))


def test_a_cubin_can_be_made_too() -> None:
    source = emit(prepare(Program([A, OUT], [64], [OUT.store(ID, A[ID])])))
    assert compile_source(source, "sm_90").startswith(b"\x7fELF")


X = Load("a", ID)
Y = Load("a", ID + 1)


@pytest.mark.parametrize(
    ("value", "instruction"),
    [
        (X + Y, r"add\.s32"),
        (X - Y, r"sub\.s32"),
        (X * Y, r"mul\.lo\.s32"),
        (mul_hi(X, Y), r"mul\.hi\.u32"),
        (X // Y, r"div\.u32"),
        (X % Y, r"rem\.u32"),
        (X & Y, r"and\.b32"),
        (X | Y, r"or\.b32"),
        (X ^ Y, r"xor\.b32"),
        (X << Y, r"shl\.b32"),
        (X >> Y, r"shr\.u32"),
        (BinOp(BinaryOp.Lt, X, Y), r"setp\.lt\.u32"),
        (UnOp(UnaryOp.Popcount, X), r"popc\.b32"),
        (UnOp(UnaryOp.Clz, X), r"clz\.b32"),
        (UnOp(UnaryOp.ReverseBits, X), r"brev\.b32"),
        (UnOp(UnaryOp.BitNot, X), r"not\.b32"),
        (Select(X, Y, LitU32(7)), r"selp?\.|setp"),
    ],
)
def test_an_operation_is_its_instruction(value: Expr, instruction: str) -> None:
    assert re.search(instruction, elementwise(value))


def test_division_is_guarded_against_zero_only_where_it_can_be_zero() -> None:
    assert re.search(r"setp\.(eq|ne)\.s32", elementwise(X // Y))
    by_seven = elementwise(X // 7)
    assert "div.u32" not in by_seven
    assert not re.search(r"setp\.(eq|ne)\.s32", by_seven)


def test_shifts_are_masked() -> None:
    assert re.search(r"and\.b32\s+%r\d+, %r\d+, 31", elementwise(X << Y))
    assert not re.search(r"and\.b32\s+%r\d+, %r\d+, 31", elementwise(X << 3))


def test_simple_kernels_need_no_local_memory_and_read_through_the_read_only_path() -> None:
    code = elementwise(X * 3 + Y)
    assert ".local" not in code
    assert "ld.global.nc" in code


def test_barriers_and_shared_memory_are_there() -> None:
    tile = BufferDecl.workgroup("tile", DataType.U32, 64)
    body = [tile.store(LocalId(0), A[ID]), Barrier(), OUT.store(ID, tile[LitU32(63) - LocalId(0)])]
    code = ptx_of(Program([A, OUT, tile], [64], body))
    assert len(re.findall(r"bar\.sync|barrier\.sync", code)) == 2  # one after filling with zeros
    assert re.search(r"\.shared \.align \d+ \.b8 \S*b_tile\S*\[256\]", code)


@pytest.mark.parametrize("op", list(AtomicOp))
def test_atomics_are_atomic_instructions(op: AtomicOp) -> None:
    names = {"exchange": "exch", "compareexchange": "cas"}
    expected = LitU32(3) if op is AtomicOp.CompareExchange else None
    old = Atomic(op, "out", ID, Load("a", ID), expected)
    tally = BufferDecl.workgroup("tally", DataType.U32, 4, atomic=True)
    shared = Atomic(op, "tally", LitU32(1), LitU32(5), expected)
    code = ptx_of(
        Program([A, OUT, tally], [64], [Store("out", ID + 64, old), Store("out", ID + 128, shared)])
    )
    word = names.get(op.value.lower(), op.value.lower())
    assert re.search(rf"atom\.(relaxed\.)?(gpu\.)?global\.(relaxed\.)?(gpu\.)?{word}", code)
    assert re.search(rf"atom\.(relaxed\.)?(gpu\.|cta\.)?shared\.(relaxed\.)?(gpu\.|cta\.)?{word}", code)


def test_no_float_instruction_is_made_of_integer_programs() -> None:
    code = "".join(ptx_of(case.program) for name, case in exactness_programs().items() if "moves" in name)
    assert not re.search(r"\b(add|sub|mul|fma|neg|abs|mov)\.(rn\.)?f(16|32|64)\b", code)


def test_rejected_source_is_shown_with_the_log() -> None:
    source = emit(prepare(Program([A, OUT], [64], [OUT.store(ID, A[ID])])))
    with pytest.raises(VyreError, match="nonsense") as caught:
        compile_source(replace(source, text=source.text + "\nnonsense;"), "compute_90")
    assert "NVRTC rejects" in str(caught.value)
    assert "store_1" in str(caught.value)


@pytest.mark.parametrize(
    ("capability", "architecture"), [(90, "sm_90"), (80, "sm_80"), (95, "compute_90"), (130, "compute_121")]
)
def test_a_device_that_the_compiler_does_not_know_gets_ptx(capability: int, architecture: str) -> None:
    assert choose_architecture(capability, [75, 80, 90, 121]) == architecture


def test_a_device_that_is_too_old_is_refused() -> None:
    with pytest.raises(VyreError, match="compute capability 75"):
        choose_architecture(52, [75, 80, 90])


def test_what_has_no_exact_lowering_is_refused_by_name() -> None:
    f = BufferDecl.read_write("f", 0, DataType.F64)
    program = Program([f], [1], [f.store(0, BinOp(BinaryOp.FAdd, f[0], f[1]))])
    with pytest.raises(UnsupportedByBackend, match="FAdd on F64 is not supported by the backend cuda"):
        emit(prepare(program))


def test_a_machine_without_a_driver_gets_one_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: int) -> None:
        raise RuntimeError("the library libcuda.so.1 cannot be found")

    monkeypatch.setattr("cuda.bindings.driver.cuInit", missing)
    with pytest.raises(VyreError, match=r"no CUDA device can be used: the library libcuda\.so\.1") as caught:
        CudaBackend()
    assert "driver" in caught.value.fix
