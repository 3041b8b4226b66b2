"""Hardware instructions in the target languages: one helper each, in order, for every lane, or a refusal."""

from __future__ import annotations

import pytest

from vyre.compose import BackendAvailability, Category, Op, Param, default_registry
from vyre.errors import UnsupportedByBackend
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.ir.expr import Atomic, Call, Expr, LitU32, Select, Var
from vyre.ir.node import If, Let, Node, Return, Store
from vyre.ir.operators import AtomicOp
from vyre.lower.intrinsics import CUDA_HARDWARE, OPENCL_EXTENSIONS, OPENCL_HARDWARE, WGSL_HARDWARE
from vyre.lower.languages import lower
from vyre.lower.manifest import manifest
from vyre.lower.prepare import prepare
from vyre.ops.intrinsics import intrinsic_ops
from vyre.ops.intrinsics.subgroup import NAMES, op_id

U32 = DataType.U32
OUT = BufferDecl.read_write("out", 0, U32)
IN = BufferDecl.read("data", 1, U32)
ID = InvocationId(0)


def call(name: str, value: Expr, other: Expr | None = None, *, width: int = 32) -> Call:
    return Call(op_id(width, name), (value,) if other is None else (value, other))


def store(value: Expr) -> Program:
    return Program([OUT, IN], (64,), [Store("out", ID, value)])


def everything(width: int) -> Program:
    total: Expr = LitU32(0)
    for name in NAMES:
        total = total + call(name, IN[ID], ID if name.startswith("shuffle") else None, width=width)
    return store(total)


def test_the_tables_know_every_declared_instruction() -> None:
    declared = {op.hardware: op for op in intrinsic_ops() if not op.hardware.startswith("mma_")}
    assert OPENCL_HARDWARE == WGSL_HARDWARE == set(declared)
    warps = {h for h, op in declared.items() if op.backend_availability and op.backend_availability("cuda")}
    assert warps == CUDA_HARDWARE
    assert set(OPENCL_EXTENSIONS) == set(NAMES)


@pytest.mark.parametrize(("language", "width"), [("cuda", 32), ("opencl", 16), ("wgsl", 32)])
def test_every_call_is_one_call_of_one_helper(language: str, width: int) -> None:
    text = lower(everything(width), language).text
    for name in NAMES:
        assert text.count(f"intrinsic_subgroup{width}_{name}(") == 2, name  # its definition and its call


@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_what_is_not_used_is_not_printed(language: str) -> None:
    text = lower(store(ID), language).text
    assert "subgroup" not in text
    assert "sub_group" not in text
    text = lower(store(call("ballot", ID)), language).text
    assert "reduce" not in text


def test_wgsl_begins_with_the_extension() -> None:
    assert lower(everything(8), "wgsl").text.startswith("enable subgroups;\n")
    assert not lower(store(ID), "wgsl").text.startswith("enable")


def test_opencl_asks_for_the_extensions_it_uses() -> None:
    lines = lower(store(call("ballot", ID, width=8)), "opencl").text.splitlines()
    assert [x for x in lines if "EXTENSION" in x and "subgroup" in x] == [
        "#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable",
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable",
    ]
    assert "__attribute__((intel_reqd_sub_group_size(8)))" in lines
    assert "#ifdef __NV_CL_C_VERSION" not in lines


def test_opencl_of_nvidia_gets_ptx() -> None:
    text = lower(everything(32), "opencl").text
    nvidia, _, others = text.partition("#else")
    for name in NAMES:
        assert f"intrinsic_subgroup32_{name}(" in nvidia
        assert f"intrinsic_subgroup32_{name}(" in others
    assert nvidia.count("asm volatile(") == len(NAMES)
    assert "sub_group_" not in nvidia
    assert "asm" not in others


def test_lanes_are_masked_by_the_width() -> None:
    assert "lane & 7u" in lower(everything(8), "wgsl").text
    assert "lane & 15u" in lower(everything(16), "opencl").text
    assert "lane & 31u" in lower(everything(32), "cuda").text


@pytest.mark.parametrize("language", ["cuda", "opencl", "wgsl"])
def test_no_lane_is_left_out_by_lazy_operators(language: str) -> None:
    """A call behind `&&` or in an arm of `?:` would be executed by some lanes only."""
    chosen = Select(IN[ID] & 1, call("ballot", IN[ID]), call("reduce_add", IN[ID]))
    program = store(chosen + IN[ID].and_(call("reduce_or", IN[ID])))
    for line in lower(program, language).text.splitlines():
        if "intrinsic_" in line and not line.startswith(("FN ", "fn ")):
            assert "?" not in line
            assert "&&" not in line
            assert "select(" not in line


def test_instructions_and_atomics_keep_their_order() -> None:
    atomic = Atomic(AtomicOp.Add, "out", LitU32(0), LitU32(1))
    prepared = prepare(store(atomic + call("ballot", atomic) + atomic))
    kinds = [type(node.value).__name__ for node in prepared.entry if isinstance(node, Let)]
    assert kinds == ["Atomic", "Atomic", "Call", "Atomic"]


def test_prepare_tells_which_instructions_are_left() -> None:
    prepared = prepare(store(call("ballot", ID)))
    assert list(prepared.intrinsics) == [op_id(32, "ballot")]
    assert prepared.functions == ()
    never = Program(
        [OUT], (64,), [If(LitU32(0), (Store("out", ID, call("ballot", ID)),)), Store("out", ID, ID)]
    )
    assert not prepare(never).intrinsics


def test_the_processor_refuses_by_name() -> None:
    with pytest.raises(UnsupportedByBackend) as caught:
        lower(store(call("shuffle", ID, ID)), "llvm")
    assert (caught.value.op, caught.value.backend) == (op_id(32, "shuffle"), "cpu")
    assert "cuda" in caught.value.fix


@pytest.mark.parametrize("width", [4, 8, 16])
def test_cuda_has_warps_of_32_alone(width: int) -> None:
    with pytest.raises(UnsupportedByBackend, match="subgroup"):
        lower(everything(width), "cuda")


def test_two_widths_in_one_program_are_refused() -> None:
    program = store(call("ballot", ID, width=4) + call("ballot", ID, width=8))
    for language in ("wgsl", "opencl"):
        with pytest.raises(UnsupportedByBackend, match="4 and 8"):
            lower(program, language)


def test_instructions_of_others_are_refused_by_name() -> None:
    here = BackendAvailability(("theirs",), "rays")
    ray = Op("acme.ray", (Param("x", U32),), U32, None, (), Category.C, "", "rt.hit", here)
    registry = default_registry().extend([ray])
    for language in ("llvm", "wgsl", "cuda", "opencl"):
        with pytest.raises(UnsupportedByBackend) as caught:
            lower(store(Call("acme.ray", (ID,))), language, registry=registry)
        assert caught.value.op == "acme.ray"
        assert "theirs" in caught.value.fix


def test_an_early_return_before_a_collective_is_settled_for_tint() -> None:
    """A branch that always returns, and sometimes early, counts as divergent for Tint."""
    inner = If(IN[LitU32(0)], (Store("out", ID, ID), Return()))
    entry: list[Node] = [
        If(IN[LitU32(1)], (inner, Store("out", ID, ID + 1), Return())),
        Let("b", call("ballot", ID)),
        Store("out", ID, Var("b")),
    ]
    text = lower(Program([OUT, IN], (64,), entry), "wgsl").text
    assert "v_live" in text


def test_the_manifest_names_the_width() -> None:
    program = store(call("ballot", ID, width=16))
    source = lower(program, "wgsl")
    assert manifest(program, source, file="k.wgsl", digests={})["subgroup_width"] == 16
    plain = lower(store(ID), "wgsl")
    assert "subgroup_width" not in manifest(store(ID), plain, file="k.wgsl", digests={})
