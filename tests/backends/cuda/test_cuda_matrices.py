"""Matrix instructions in CUDA C: one `mma.sync` for calls in a row; compiled here without a GPU."""

from __future__ import annotations

import re

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.backends.cuda.backend import compile_source
from vyre.errors import SourceRejected, UnsupportedByBackend
from vyre.ir.expr import Call, Expr, Lane, LitU32, MakeVec, Var
from vyre.ir.node import Assign, If, Let, Loop, Node, Store
from vyre.lower.cuda import emit
from vyre.lower.languages import lower
from vyre.lower.manifest import manifest
from vyre.lower.matrices import ELEMENTS, MATRICES
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS, SOFT
from vyre.ops.intrinsics.matrix import DEPTHS, ops

pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")

T = DataType
ID = InvocationId(0)
DATA = BufferDecl.read("data", 0, T.F64)
OUT = BufferDecl.read_write("out", 1, T.F64)
VECTORS = BufferDecl.read("data", 0, T.Vec4U32)
SUMS = BufferDecl.read_write("out", 1, T.Vec4U32)


def operands(depth: int) -> list[Node]:
    return [Let(f"x{i}", DATA[ID * 16 + i]) for i in range(depth // 2 + depth // 4 + 4)]


def arguments(depth: int) -> list[Expr]:
    return [Var(f"x{i}") for i in range(depth // 2 + depth // 4 + 4)]


def called(depth: int, *elements: int, name: str = "r", args: list[Expr] | None = None) -> list[Node]:
    args = args or arguments(depth)
    return [Let(f"{name}{i}", Call(f"intrinsic.mma_f64.m16n8k{depth}_{i}", args)) for i in elements]


def stored(*names: str) -> list[Node]:
    return [Store("out", ID * 16 + i, Var(name)) for i, name in enumerate(names)]


def source(*entry: Node) -> str:
    return emit(prepare(Program([DATA, OUT], (64,), entry), ways=CUDA_WAYS)).text


def ptx(*entry: Node, architecture: str = "compute_90") -> str:
    made = emit(prepare(Program([DATA, OUT], (64,), entry), ways=CUDA_WAYS))
    return compile_source(made, architecture).decode()


def executed(*entry: Node) -> list[str]:
    return re.findall(r"mma\.sync\.aligned\.(m16n8k[0-9]+)\.row\.col\.f64\.f64\.f64\.f64", ptx(*entry))


def test_every_instruction_can_be_printed() -> None:
    assert {op.hardware for op in ops()} == MATRICES
    assert {op.id for op in ops()} - ELEMENTS.keys() == {"intrinsic.mma_s8.m16n8k32"}


@pytest.mark.parametrize("depth", DEPTHS)
def test_four_results_are_one_instruction(depth: int) -> None:
    names = [f"r{i}" for i in range(4)]
    assert executed(*operands(depth), *called(depth, 0, 1, 2, 3), *stored(*names)) == [f"m16n8k{depth}"]
    assert executed(*operands(depth), *called(depth, 2), *stored("r2")) == [f"m16n8k{depth}"]


def test_calls_that_differ_in_more_or_stand_apart_are_several() -> None:
    swapped = [*arguments(4)[::-1]]
    two = [*called(4, 0, 1), *called(4, 0, 1, name="s", args=swapped)]
    assert len(executed(*operands(4), *two, *stored("r0", "r1", "s0", "s1"))) == 2
    apart = [
        *called(4, 0),
        Store("out", ID, Var("r0")),
        *called(4, 1, name="s"),
        Store("out", ID + 1, Var("s1")),
    ]
    assert len(executed(*operands(4), *apart)) == 2
    inside = If(LitU32(1), (*called(4, 0), *stored("r0")))
    behind = [Loop("t", LitU32(0), DATA.length, (*called(4, 1), *stored("r1"))), *called(4, 2), *stored("r2")]
    text = source(*operands(4), inside, *behind)
    assert text.count("intrinsic_mma_f64_m16n8k4(") == 4  # the helper and three calls


def test_a_sum_that_goes_round_is_canonical_where_it_is_seen() -> None:
    """A result that joins loaded bits in one variable keeps the row; the choice of NaN comes behind it."""
    args = arguments(4)
    start = [Let(f"c{i}", DATA[ID + 100 + i]) for i in range(4)]
    sums: list[Expr] = [Var(f"c{i}") for i in range(4)]
    body = [
        *called(4, 0, 1, 2, 3, args=[*args[:-4], *sums]),
        *(Assign(f"c{i}", Var(f"r{i}")) for i in range(4)),
    ]
    loop = Loop("t", LitU32(0), DATA.length, body)
    text = source(*operands(4), *start, loop, *stored(*(f"c{i}" for i in range(4))))
    assert text.count("intrinsic_mma_f64_m16n8k4(") == 2
    assert text.count("native_f64_canon(") == 5
    unseen = source(*operands(4), *called(4, 0), Store("out", ID, Var("r0")))
    assert unseen.count("native_f64_canon(") == 2


def bytes_program() -> Program:
    value = VECTORS[ID]
    b = MakeVec(T.Vec2U32, (Lane(value, 0), Lane(value, 1)))
    call = Call("intrinsic.mma_s8.m16n8k32", (VECTORS[ID + 1], b, VECTORS[ID + 2]))
    return Program([VECTORS, SUMS], (64,), [Store("out", ID, call)])


def test_bytes_are_one_instruction() -> None:
    made = emit(prepare(bytes_program(), ways=CUDA_WAYS))
    found = compile_source(made, "compute_80").decode()
    assert re.findall(r"mma\.sync\.aligned\.([\w.]+)", found) == ["m16n8k32.row.col.s32.s8.s8.s32"]
    assert "satfinite" not in found
    assert manifest(bytes_program(), made, file="k.cu", digests={})["subgroup_width"] == 32


def test_an_older_gpu_has_no_doubles_in_its_matrices() -> None:
    made = emit(prepare(Program([DATA, OUT], (64,), [*operands(16), *called(16, 0)]), ways=CUDA_WAYS))
    assert compile_source(made, "sm_90")
    with pytest.raises(SourceRejected):
        compile_source(made, "sm_80")


@pytest.mark.parametrize("language", ["opencl", "wgsl", "llvm"])
def test_other_languages_refuse_by_name(language: str) -> None:
    program = Program([DATA, OUT], (64,), [*operands(8), *called(8, 1), *stored("r1")])
    with pytest.raises(UnsupportedByBackend, match=r"mma_f64\.m16n8k8_1"):
        lower(program, language)
    with pytest.raises(UnsupportedByBackend, match=r"mma_s8\.m16n8k32"):
        lower(bytes_program(), language)


def test_doubles_that_are_only_moved_cannot_be_multiplied() -> None:
    program = Program([DATA, OUT], (64,), [*operands(8), *called(8, 1), *stored("r1")])
    with pytest.raises(UnsupportedByBackend, match=r"mma_f64\.m16n8k8_1"):
        emit(prepare(program, ways=SOFT))
