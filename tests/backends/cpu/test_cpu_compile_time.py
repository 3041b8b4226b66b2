"""Compile time stays in proportion to the program, and how hard LLVM worked never shows in a result."""

from __future__ import annotations

import importlib.util
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.cpu.cpu_programs import agree, words
from vyre.backends.cpu import effort as cpu_effort
from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.cpu.effort import (
    BARE,
    EFFORTS,
    FULL,
    INLINED,
    LIGHT,
    MOST,
    ROLLED,
    Effort,
    effort_for,
    size_of,
    waits_for_memory,
)
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import ProgramOptions, generate_program
from vyre.errors import DispatchError
from vyre.ir import BufferDecl, DataType, Expr, InvocationId, Program, Select
from vyre.ir.walk import postorder
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare
from vyre.lower.ways import LLVM_WAYS

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = Path(__file__).parents[3] / "benchmarks" / "compile_time.py"
_SPEC = importlib.util.spec_from_file_location("compile_time", _FILE)
assert _SPEC is not None
assert _SPEC.loader is not None
BENCHMARK: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(BENCHMARK)
SHAPES: dict[str, Callable[[int], Program]] = BENCHMARK.SHAPES

BAR = 10.0
"""Seconds of processor time for 20,000 nodes; the worst takes three."""

WORST = ("barriers", "branches", "functions", "returns", "variables")


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_program_compiles_within_the_bar(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", "off")
    nodes = 20_000 if shape in WORST else 6_000
    lower, llvm, what = BENCHMARK.timed(SHAPES[shape](nodes))
    assert lower + llvm < BAR, what


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2_000, 7_800, 15_000])
def test_just_below_a_step_it_is_within_the_bar_too(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain is what a full optimisation takes longest for, line by line."""
    monkeypatch.setenv("VYRE_CACHE", "off")
    lower, llvm, what = BENCHMARK.timed(SHAPES["chain"](nodes))
    assert lower + llvm < BAR, what


def written(program: Program) -> str:
    return emit(prepare(program, ways=LLVM_WAYS)).text


def test_less_is_done_for_more() -> None:
    found = [effort_for(written(SHAPES["chain"](nodes))) for nodes in (100, 4_000, 12_000, 20_000)]
    assert [x.passes for x in found] == [FULL, ROLLED, LIGHT, INLINED]
    assert [x.codegen for x in found] == [3, 3, 1, 0]
    assert effort_for(written(SHAPES["functions"](9_000))).passes == BARE
    assert sorted(EFFORTS, key=lambda x: (x.written, x.inlined)) == list(EFFORTS)


def test_a_kernel_that_moves_memory_is_told_from_one_that_computes() -> None:
    def of(value: Callable[[Expr], Expr]) -> bool:
        a = BufferDecl.read("a", 0, DataType.U32)
        out = BufferDecl.read_write("out", 1, DataType.U32)
        i = InvocationId(0)
        return waits_for_memory(written(Program([a, out], (64,), [out.store(i, value(a[i]))])))

    assert of(lambda x: x ^ 1)
    assert of(lambda x: x * 3 + 1)
    assert not of(lambda x: reduce(lambda y, k: (y ^ (y >> 15)) * k, range(3, 23, 2), x))
    assert not waits_for_memory(written(SHAPES["barriers"](400)))
    assert not waits_for_memory("")


def test_lines_are_counted_with_what_is_inlined() -> None:
    text = """
declare i32 @llvm.umin.i32(i32, i32)
define internal i32 @leaf(i32 %x) alwaysinline nounwind {
entry:
  ret i32 %x
}

define internal i32 @twice(i32 %x) alwaysinline nounwind {
entry:
  %a = call i32 @leaf(i32 %x)
  %b = call i32 @leaf(i32 %a)
  ret i32 %b
}

define internal i32 @apart(i32 %x) noinline nounwind {
entry:
  ret i32 %x
}

define void @main(i32 %x) #0 {
entry:
  %a = call i32 @twice(i32 %x)
  %b = call i32 @apart(i32 %a)
  %c = call i32 @llvm.umin.i32(i32 %a, i32 %b)
  ret void
}
"""
    found = size_of(text)
    assert found.written == 2 + 4 + 2 + 5
    assert found.inlined == 2 + 5 + (4 + 2 * 2)


@pytest.mark.parametrize("codegen", [0, 1, 3])
@pytest.mark.parametrize("passes", [FULL, ROLLED, LIGHT, INLINED, BARE])
def test_every_effort_gives_the_same_bytes(
    passes: str, codegen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VYRE_CACHE", "off")
    monkeypatch.setattr(cpu_effort, "EFFORTS", (Effort(MOST, 1 << 62, passes, codegen),))
    on = CpuBackend(threads=1, canaries=False)
    for seed in range(12):
        mismatch = compare(generate_program(seed, INTEGER_PROGRAMS), on)
        assert mismatch is None, str(mismatch)
    for seed in range(6):
        mismatch = compare(generate_program(seed, ProgramOptions(functions=False)), on)
        assert mismatch is None, str(mismatch)


@pytest.mark.parametrize("shape", ["stores", "branches", "variables", "returns", "divisions", "vectors"])
def test_large_programs_give_the_bytes_of_the_reference(shape: str) -> None:
    """The guarded version at the edges and the fast one inside, with little effort each."""
    program = SHAPES[shape](4_000)
    data = {b.name: words(*(k * 2654435761 for k in range(1500))) for b in program.buffers}
    agree(program, data, (2, 1, 1))


def test_a_giant_is_refused_before_it_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def untouched() -> None:
        raise AssertionError("LLVM is asked")

    monkeypatch.setenv("VYRE_CACHE", "off")
    monkeypatch.setattr(cpu_effort, "MOST", 5_000)
    monkeypatch.setattr("vyre.backends.cpu.compiling.translator", untouched)
    with pytest.raises(DispatchError, match=r"6,\d{3} lines of LLVM IR.*at most 5,000\. Fix: write what"):
        CpuBackend(threads=1, canaries=False).compile(SHAPES["stores"](2_000))


def test_accesses_that_differ_in_their_offsets_are_one_limit() -> None:
    """The entry checks once what thousands of accesses need, and what it checks is the outermost of them."""
    few, many = (written(SHAPES["stores"](nodes)) for nodes in (80, 4_000))
    entries = [text[text.index("define void @vyre_main") :] for text in (few, many)]
    assert entries[0].count("\n") == entries[1].count("\n")
    assert ", 9\n" in entries[0]
    assert ", 499\n" in entries[1]


def test_a_walk_stops_at_what_is_known() -> None:
    """Typing an operand again under each of its users would be a walk for every level."""
    a, i = BufferDecl.read("a", 0, DataType.U32), InvocationId(0)
    condition = a[i] > 0
    for k in range(1, 900):
        condition = condition.and_(a[i] > k)
    looked: list[object] = []

    class Watched(set[Expr]):
        def __contains__(self, key: object) -> bool:
            looked.append(key)
            return super().__contains__(key)

    root = Select(condition, i, a[i])
    assert list(postorder(root, Watched(postorder(condition)))) == [root]
    assert len(looked) == 4
    assert len(list(postorder(root))) > 2_700
