"""What is compared is what the backend computed: from buffers, single ops at a time, on right inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from tests import wrong
from vyre.conform.generate.cases import of_words
from vyre.conform.registry import lookup, spec, specs
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify import control
from vyre.conform.verify.bench import Bench, program_of
from vyre.conform.verify.cases import kinds
from vyre.conform.verify.graph import PARITY, Value, graph
from vyre.conform.verify.layout import elements, pack, unpack
from vyre.conform.verify.made import InputMaker
from vyre.conform.verify.operations import run_block
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, UnOp
from vyre.ir.operators import BinaryOp
from vyre.ir.types import VALUE_TYPES, DataType
from vyre.ir.walk import expressions
from vyre.semantics.arrays import NUMPY

MUL = "primitive.math.mul"


def test_no_kernel_holds_both_sides_of_a_law_or_a_second_operation() -> None:
    for one in specs():
        found = graph(one, lookup)
        for node in found.nodes:
            program = program_of(node.spec)
            if node.spec.id.startswith("primitive"):
                guard = BinaryOp.Lt  # surplus invocations are told by a comparison
                used = [x for x in expressions(program.entry) if isinstance(x, BinOp | UnOp)]
                assert (
                    len([x for x in used if x.op is not guard]) + (node.spec.id == "primitive.compare.lt")
                    == 1
                )
            if node.spec.id.startswith("float."):
                used = [x for x in expressions(program.entry) if _computes(x)]
                assert len(used) == 1, node.spec.id


def _computes(x: Expr) -> bool:
    """Whether it is more than a load, a name, a literal or the comparison that guards a kernel."""
    if isinstance(x, BinOp):
        return x.op is not BinaryOp.Lt
    return isinstance(x, UnOp | FMulAdd | Convert | Cast)


def test_equal_applications_are_run_once_and_constants_come_from_buffers() -> None:
    found = graph(spec(MUL), lookup)
    assert len(set(found.nodes)) == len(found.nodes)
    commutative = next(c for c in found.checks if c.name == "Commutative")
    assert isinstance(commutative.left, Value)
    assert isinstance(commutative.right, Value)
    assert commutative.left.node == 0 != commutative.right.node
    identity = [c for c in found.checks if c.name == "Identity(1)"]
    assert [c.positions for c in identity] == [1, 1]
    assert len(identity) == 2


def test_every_declared_law_is_checked_on_some_kind() -> None:
    plan = make_plan("cpu", cases=16)
    for one in specs():
        found = graph(one, lookup)
        checked = {c.name for kind in kinds(found, plan) for c in kind.checks}
        assert checked == {PARITY, *found.statements}


def test_a_result_that_is_never_written_is_seen() -> None:
    class Silent(wrong.Right):
        def compile(self, program: Any) -> Any:
            class Nothing:
                def run(self, buffers: Any, workgroups: Any) -> None: ...

            return Nothing()

    bench = Bench(Silent())
    found = graph(spec("primitive.math.sub"), lookup)
    words = {p: np.zeros(4, np.uint32) for p in range(found.words)}
    (mask,) = bench.compare(found, found.checks[:1], words, bench.memory())
    assert mask is not None
    assert mask.all()


@pytest.mark.parametrize("of", VALUE_TYPES)
def test_words_become_elements_and_come_back(of: DataType) -> None:
    lanes = max(1, of.bits // 32)
    words = [np.array([1, 0xFFFF_FFFF, 0x8000_0000], np.uint32) + np.uint32(k) for k in range(lanes)]
    memory = bytearray(3 * of.stride)
    array = elements(memoryview(memory), of, 3)
    pack(array, of, words)
    found = unpack(array, of)
    assert len(found) == lanes
    mask = {DataType.Bool: 1, DataType.F16: 0xFFFF, DataType.BF16: 0xFFFF}.get(of, 0xFFFF_FFFF)
    for got, want in zip(found, words, strict=True):
        assert got.tolist() == [int(w) & mask for w in want]


def test_inputs_made_by_the_backend_are_those_of_the_host() -> None:
    bench = Bench(wrong.Right())
    stream = of_words("random", spec(MUL), (0xFFFF_FFFF, 0xFFFF), 9)
    maker = InputMaker(bench, stream, bench.memory())
    for start in (0, 1000, (5 << 32) - 300):
        made = maker.block(start, 300)
        assert made is not None
        assert all(np.array_equal(a, b) for a, b in zip(made.values(), stream.block(start, 300), strict=True))
    assert maker.block((1 << 32) - 10, 20) is None


def test_a_backend_that_makes_wrong_inputs_gets_them_from_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.conform.verify.operations.MADE_FROM", 1)
    bench = Bench(wrong.OffByOne())
    stream = of_words("random", spec(MUL), (0xFFFF_FFFF,), 9)
    maker = InputMaker(bench, stream, bench.memory())
    made = maker.block(0, 64)
    assert made is not None
    assert maker.mistake(0, made) is not None
    found = graph(spec(MUL), lookup)
    kind = next(k for k in kinds(found, make_plan("cpu", cases=64)) if k.name == "random")
    record = run_block(bench, kind, 0, 64, bench.memory())
    assert (0, 64, 0) in record.fails
    assert record.failing is not None
    assert (0, ((0, 63, 64),)) in record.failing
    assert record.made is not None
    assert record.made.case == 0


@pytest.mark.parametrize("name", ["u8", "boundary", "correlated"])
def test_a_block_counts_the_classes_and_boundary_values_among_its_cases(name: str) -> None:
    found = graph(spec("primitive.math.div"), lookup)
    kind = next(k for k in kinds(found, make_plan("cpu", cases=64)) if k.name == name)
    lo, hi = kind.count // 3, kind.count // 2
    bench = Bench(wrong.Right())
    record = run_block(bench, kind, lo, hi, bench.memory())
    assert record.coverage is not None
    words = [kind.block(lo, hi - lo)[p] for p in range(2)]
    for place, values in enumerate(found.spec.boundaries):
        met = np.flatnonzero(np.isin(np.asarray(values, np.uint32), words[place])).tolist()
        assert list(record.coverage.boundaries[place]) == met
    assert any(record.coverage.boundaries)
    counts = [int(np.count_nonzero(c.contains(NUMPY, *words))) for c in found.spec.classes]
    assert list(record.coverage.classes) == counts


COPY = "  movl (%rdi), %eax\n  addq $4, %rdi\n"


class Shown(wrong.Right):
    """Shows an assembly in which an addition can be missing."""

    adds = True

    def compile(self, program: Any) -> Any:
        made = super().compile(program)
        real = any(isinstance(x, BinOp) and x.op is BinaryOp.Add for x in expressions(program.entry))
        made.assembly = lambda: COPY + ("  vpaddd %ymm0, %ymm1, %ymm2\n" if real and self.adds else "")
        return made


def test_the_instruction_of_the_op_is_looked_for() -> None:
    add = spec("primitive.math.add")
    assert control.instruction(Bench(Shown()), add) == "seen"
    folded = Shown()
    folded.adds = False
    assert control.instruction(Bench(folded), add) == "not seen"
    assert control.instruction(Bench(wrong.Right()), add) == "not exposed"
    assert control.instruction(Bench(Shown()), spec("value.select")) == "not exposed"
