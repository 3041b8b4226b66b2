"""Approximate operations in every language: by exact means, within every tolerance."""

from __future__ import annotations

import re

import numpy as np
import pytest

from vyre import dispatch
from vyre.backends import get
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.oracle.floats.layout import LAYOUTS
from vyre.conform.oracle.floats.tolerated import reduction
from vyre.conform.oracle.golden import load_rows
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import replay_all
from vyre.conform.verify.stages.approximate import ranges
from vyre.errors import BackendUnavailable, UnsupportedByBackend
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Approx, BufLen, FReduceApprox, InvocationId, LitU32, Load, Select
from vyre.ir.node import Loop, Store
from vyre.ir.operators import ApproxOp, ReduceOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.languages import lower
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS, LLVM_WAYS, SOFT, Ways

I = InvocationId(0)  # noqa: E741
ROWS = [row for row in load_rows() if "tolerance" in row.fields]
CHOSEN = {("FTanhApprox", "F32"), ("FExpApprox", "F32"), ("FLogApprox", "F16")}
LANGUAGES = ("llvm", "wgsl", "cuda", "opencl")


def folding(op: ReduceOp, of: DataType, *, tolerance: int = 1) -> Program:
    """One range per invocation, by its ends."""
    ends = (Load("start", I), Load("stop", I))
    return Program(
        [
            BufferDecl.read("data", 0, of),
            BufferDecl.read("start", 1, DataType.U32),
            BufferDecl.read("stop", 2, DataType.U32),
            BufferDecl.read_write("out", 3, of),
        ],
        (64, 1, 1),
        [Store("out", I, FReduceApprox(op, "data", *ends, tolerance))],
    )


def applied(op: ApproxOp, of: DataType = DataType.F32) -> Program:
    buffers = [BufferDecl.read("a", 0, of), BufferDecl.read_write("out", 1, of)]
    return Program(buffers, (64, 1, 1), [Store("out", I, Approx(op, Load("a", I), 4))])


@pytest.mark.parametrize("op", ApproxOp, ids=lambda op: op.value)
def test_a_function_is_the_correctly_rounded_one(op: ApproxOp) -> None:
    text = lower(applied(op), "wgsl").text
    assert text.count(f"fn soft_f32_{op.value[1:-6].lower()}(") == 1
    assert not re.search(r"(?<![a-z_])(f32|f16|float|double)(?![a-z_])|[0-9]\.[0-9]", text)


@pytest.mark.parametrize("language", ["wgsl", "cuda", "opencl"])
@pytest.mark.parametrize(("op", "last"), [(ReduceOp.Add, "total"), (ReduceOp.Mul, "scaled")])
def test_a_reduction_has_one_rounding(op: ReduceOp, last: str, language: str) -> None:
    text = lower(folding(op, DataType.F32), language).text
    assert len(re.findall(rf"\bsoft_f32_{last}\(", text)) == 2, "the helper and its one call"


@pytest.mark.parametrize(
    ("op", "ways", "expected"),
    [
        (ReduceOp.Add, SOFT, {"f32.sum": "soft"}),
        (ReduceOp.Mul, SOFT, {"f32.product": "soft"}),
        (ReduceOp.Min, LLVM_WAYS, {"f32.min": "native"}),
    ],
)
def test_the_way_is_told(op: ReduceOp, ways: Ways, expected: dict[str, str]) -> None:
    assert dict(prepare(folding(op, DataType.F32), ways=ways).ways) == expected


def test_doubles_test_the_rounding_first() -> None:
    used = dict(prepare(folding(ReduceOp.Add, DataType.F32), ways=LLVM_WAYS).ways)
    assert used["f32.sum"] == "double"
    assert used["f64.add"] == "native"
    for of in (DataType.F32, DataType.F16, DataType.BF16):
        for op, name in ((ReduceOp.Add, "sum"), (ReduceOp.Mul, "product")):
            used = dict(prepare(folding(op, of), ways=CUDA_WAYS).ways)
            assert used[f"{of.value.lower()}.{name}"] == "double"


@pytest.mark.parametrize("op", [ReduceOp.Add, ReduceOp.Mul])
def test_wide_sums_are_refused_with_the_reason(op: ReduceOp) -> None:
    for language in LANGUAGES:
        with pytest.raises(UnsupportedByBackend, match="FReduceApprox on F64") as caught:
            lower(folding(op, DataType.F64), language)
        assert "strict order" in caught.value.fix


def test_the_smallest_of_f64_needs_no_formula() -> None:
    data = np.array([3.0, np.nan, -7.5, 2.0])
    buffers = {"data": data, "start": np.array([0, 2], np.uint32), "stop": np.array([4, 2], np.uint32)}
    out = dispatch(folding(ReduceOp.Min, DataType.F64), {**buffers, "out": np.zeros(2)}, backend="cpu")["out"]
    assert out.tolist() == [-7.5, np.inf]


def results(
    backend: CpuBackend, ways: Ways | None, op: ReduceOp, of: DataType, found: list[list[int]]
) -> list[int]:
    word = np.uint32 if of.stride == 4 else np.uint16
    stop = np.cumsum([len(r) for r in found]).astype(np.uint32)
    start = stop - np.array([len(r) for r in found], np.uint32)
    views = {
        "data": memoryview(np.array([x for r in found for x in r], word).tobytes()),
        "start": memoryview(start.tobytes()),
        "stop": memoryview(stop.tobytes()),
        "out": memoryview(bytearray(len(found) * of.stride)),
    }
    backend.compile(folding(op, of), ways=ways).run(views, (len(found) // 64, 1, 1))
    return np.frombuffer(views["out"], word).tolist()


@pytest.mark.parametrize("ways", [None, SOFT], ids=["doubles", "integers"])
@pytest.mark.parametrize("of", [DataType.F32, DataType.F16, DataType.BF16], ids=lambda t: t.value)
@pytest.mark.parametrize("op", ReduceOp, ids=lambda op: op.value)
def test_both_ways_are_correctly_rounded(op: ReduceOp, of: DataType, ways: Ways | None) -> None:
    found = ranges(LAYOUTS[of.value], 23)
    expected = [reduction(op.value, of.value, r) for r in found]
    assert results(CpuBackend(threads=1), ways, op, of, found) == expected


def test_long_sums_and_products() -> None:
    """One float would be allowed; the doubles decide all but the cancelling one."""
    rng = np.random.default_rng(2)
    near = (rng.integers(0, 1 << 23, 20_000) | rng.integers(126, 128, 20_000) << 23).tolist()
    found = [near, [x ^ (k & 1) << 31 for k, x in enumerate(near)], near[:6001], near[:3]] + [[1]] * 60
    for op in (ReduceOp.Add, ReduceOp.Mul):
        expected = [reduction(op.value, "F32", r) for r in found]
        assert results(CpuBackend(threads=1), None, op, DataType.F32, found) == expected


def test_products_that_leave_the_range_of_doubles_and_come_back() -> None:
    """Powers of two down to 2^-149 * 300 and up again, with a factor that is no power here and there."""
    tiny, huge, odd, zero, inf = 1, 0x7F000000, 0x3FC00001, 1 << 31, 0x7F800000
    down, up = [tiny, odd] * 300, [huge, odd] * 300
    found = [down, up, down + up, up + down, [*down, *up, huge, huge], [huge] * 352 + [tiny] * 300]
    found += [
        [*up, zero, *down],
        [*down, inf],
        [*down, inf, zero],
        [*up, 0x7FA12345],
        [tiny, huge],
        [odd] * 17,
    ]
    found += [[x ^ 1 << 31 for x in r] for r in found] + [[odd]] * 40
    expected = [reduction("Mul", "F32", r) for r in found]
    for ways in (None, SOFT):
        assert results(CpuBackend(threads=1), ways, ReduceOp.Mul, DataType.F32, found) == expected


def test_sums_of_halves_that_end_between_two() -> None:
    """1 + 2^-11 is the middle between two F16, and 2^-24 more or less decides; many of them, then few."""
    one, step, least, low = 0x3C00, 0x1000, 0x0001, 0x8001
    found = [[one, step], [one, step, least], [one, step, low], [0x7BFF, 0x4C00], [0x7BFF, 0x4BFF]]
    found += [[one] * 9000, [one, 0xBC00] * 4500 + [step, one, least], [0x7BFF] * 9000, [0x7C00, one]]
    found += [[one]] * 55
    expected = [reduction("Add", "F16", r) for r in found]
    assert results(CpuBackend(threads=1), None, ReduceOp.Add, DataType.F16, found) == expected


def test_a_fold_inside_of_everything() -> None:
    """In the bounds of a loop, under a choice, over a buffer that is written: the fold stays in its place."""
    out = BufferDecl.read_write("out", 0, DataType.F32)
    total = FReduceApprox(ReduceOp.Add, "out", LitU32(0), BufLen("out"), 3)
    body = Store("out", LitU32(0), Select(LitU32(1), total, Approx(ApproxOp.FTanhApprox, out[0], 4)))
    program = Program([out], (1, 1, 1), [Loop("k", LitU32(0), LitU32(3), [body])])
    start = np.array([1.0, 2.0, 4.0], np.float32)
    for backend in ("cpu", "reference"):
        found = dispatch(program, {"out": start.copy()}, backend=backend, workgroups=(1, 1, 1))["out"]
        assert found.tolist() == [1 + 3 * 6, 2.0, 4.0]


@pytest.mark.parametrize("name", ["cpu", "wgpu", "dawn", "opencl"])
def test_golden_rows_of_the_approximate_track(name: str) -> None:
    try:
        backend = get(name)
    except BackendUnavailable as error:
        pytest.skip(error.message)
    # A program for every function, format and tolerance takes long to compile; backends' own tests run all.
    rows = [r for r in ROWS if r.kind == "reduce" or (r["op"], r["type"]) in CHOSEN]
    outcomes = replay_all(rows, backend)
    assert [o.row.id for o in outcomes if o.status is not Status.Passed] == []
    assert len(outcomes) > 30


def test_cuda_compiles_and_rounds_by_name() -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed")
    from vyre.backends.cuda.backend import compile_source

    programs = [folding(op, of) for op in ReduceOp for of in (DataType.F32, DataType.F16, DataType.BF16)]
    for program in [*programs, applied(ApproxOp.FTanhApprox)]:
        try:
            ptx = compile_source(lower(program, "cuda"), "compute_90").decode()
        except (ImportError, RuntimeError) as error:
            pytest.skip(f"NVRTC is missing: {error}")
        assert ".approx" not in ptx
        assert not re.search(r"\b(add|sub|mul|fma)\.f(32|64)\b", ptx)
