"""Float reductions give the bits of their declared order, everywhere, and any other order is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import DataType, ReduceOp, ReduceOrder, engines
from vyre.backends import get
from vyre.conform.records.results import RunPlan
from vyre.conform.registry.engine import float_engines as floats
from vyre.conform.registry.engine.float_engines import float_bits
from vyre.conform.registry.engine.float_oracle import reduced, rounded, values
from vyre.conform.verify.stages.engines import Engines
from vyre.engines import Runner, Shape, tree
from vyre.engines.float_fold import Fold, join
from vyre.engines.strict import strict_engine
from vyre.engines.tree import tree_engine, tree_program
from vyre.errors import VyreError
from vyre.ir.expr import Cast, Expr, FReduce, LitU32, Var
from vyre.ir.float_formats import BF16, F16, F32, STRICT_FORMATS
from vyre.ir.node import Let, Node, Store
from vyre.ir.program import Program
from vyre.reference.floats.reduce import reduce as reference

FORMATS = {DataType.F32: F32, DataType.F16: F16, DataType.BF16: BF16}
ORDERS = (ReduceOrder.TreeBinary, ReduceOrder.Strict)
LONG = 1_000_003


def engine_of(order: ReduceOrder, fold: Fold, shape: Shape | None = None) -> Any:
    if order is ReduceOrder.TreeBinary:
        return tree_engine(fold, shape=shape)
    return strict_engine(fold, chunk=64 if shape else 1 << 18)


def typed(element: DataType, bits: Any) -> Any:
    return bits if element is DataType.BF16 else bits.view(np.dtype(f"<f{bits.itemsize}"))


def bits_of(runner: Runner, order: ReduceOrder, fold: Fold, bits: Any, shape: Shape | None = None) -> int:
    found = runner.run(engine_of(order, fold, shape), {"input": typed(fold.element, bits)})
    return int(found["output"][0])


@pytest.fixture(scope="module")
def cpu() -> Runner:
    return Runner("cpu")


SHAPE = Shape(16, 4, turns=2)


@pytest.mark.parametrize("element", STRICT_FORMATS, ids=lambda t: t.value)
@pytest.mark.parametrize("op", ReduceOp, ids=lambda o: o.value)
def test_engines_oracle_and_reference_agree(cpu: Runner, op: ReduceOp, element: DataType) -> None:
    rng = np.random.default_rng(3)
    for count in (0, 1, 2, 3, 5, 127, 128, 129, 700):
        bits = float_bits(rng, op, element, count)
        if count == 3:
            bits = rng.integers(0, 1 << STRICT_FORMATS[element].width, 3).astype(bits.dtype)
        for order in ORDERS:
            truth = reference(order, op, FORMATS[element], bits.tolist())
            assert reduced(order, op, element, bits) == truth
            assert bits_of(cpu, order, Fold(op, element), bits, SHAPE) == truth


@pytest.mark.parametrize("element", STRICT_FORMATS, ids=lambda t: t.value)
@pytest.mark.parametrize("op", ReduceOp, ids=lambda o: o.value)
def test_special_values_go_through(cpu: Runner, op: ReduceOp, element: DataType) -> None:
    """One NaN alone keeps its payload; minus zeros stay; a number beats NaN."""
    layout = STRICT_FORMATS[element]
    payload = layout.nan | 1
    for picked in (
        [payload],
        [payload, payload],
        [payload] * 3,
        [layout.sign] * 5,
        [0, layout.sign, 0],
        [payload, layout.one, payload],
        [layout.infinity, layout.sign | layout.infinity, layout.one],
    ):
        bits = np.array(picked, f"<u{layout.width // 8}")
        for order in ORDERS:
            truth = reference(order, op, FORMATS[element], picked)
            assert bits_of(cpu, order, Fold(op, element), bits, SHAPE) == truth
            assert reduced(order, op, element, bits) == truth


def test_the_tree_is_the_one_inside_a_kernel(cpu: Runner) -> None:
    rng = np.random.default_rng(8)
    for count in (2, 3, 1000, 4097):
        x = rng.standard_normal(count).astype(np.float32)
        source = vyre.BufferDecl.read("x", 0, DataType.F32)
        out = vyre.BufferDecl.read_write("out", 1, DataType.F32, count=1)
        for order in ORDERS:
            inside = FReduce(order, ReduceOp.Add, "x", LitU32(0), source.length)
            program = Program((source, out), (1, 1, 1), [Store("out", LitU32(0), inside)])
            expected = vyre.dispatch(program, {"x": x}, backend="cpu")["out"].view(np.uint32)[0]
            assert bits_of(cpu, order, Fold(ReduceOp.Add, DataType.F32), x.view(np.uint32)) == expected


@pytest.mark.parametrize("backend", ["cpu", "wgpu", "opencl", "cuda"])
@pytest.mark.parametrize("order", ORDERS, ids=lambda o: o.value)
def test_long_sums_have_the_same_bits_on_every_backend(order: ReduceOrder, backend: str) -> None:
    try:
        get(backend)
    except VyreError as missing:
        pytest.skip(missing.message)
    runner = Runner(backend)
    fold = Fold(ReduceOp.Add, DataType.F32)
    for count in (0, 1, 2, 3, LONG):
        bits = float_bits(np.random.default_rng(count), ReduceOp.Add, DataType.F32, count, plain=True)
        assert bits_of(runner, order, fold, bits) == reduced(order, ReduceOp.Add, DataType.F32, bits)


def test_another_order_is_noticed(cpu: Runner) -> None:
    """The oracle of one order does not accept the other, nor the tree of a shifted array."""
    bits = float_bits(np.random.default_rng(0), ReduceOp.Add, DataType.F32, 5001, plain=True)
    fold = Fold(ReduceOp.Add, DataType.F32)
    tree = reduced(ReduceOrder.TreeBinary, ReduceOp.Add, DataType.F32, bits)
    assert bits_of(cpu, ReduceOrder.TreeBinary, fold, bits) == tree
    assert bits_of(cpu, ReduceOrder.Strict, fold, bits) != tree
    assert bits_of(cpu, ReduceOrder.TreeBinary, fold, np.roll(bits, 1)) != tree


def test_a_tree_that_joins_far_ones_is_caught_by_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual GPU reduction, which halves the distance, is another tree."""

    def strided(fold: Fold, words: list[Expr], prefix: str, out: list[Node]) -> Expr:
        level: list[Expr] = []
        for k, word in enumerate(words):
            out.append(Let(f"{prefix}w{k}", Cast(fold.element, word)))
            level.append(Var(f"{prefix}w{k}"))
        while len(level) > 1:
            half = len(level) // 2
            joined = [join(fold, level[k], level[k + half]) for k in range(half)]
            level = list[Expr](joined)
        return level[0]

    monkeypatch.setattr(tree, "_tree", strided)
    monkeypatch.setattr(tree, "tree_program", tree.tree_program.__wrapped__)
    stage = Engines((floats.TREE,))
    plan = RunPlan("cpu", 3, 0, (1, 1), 0, (), "", ("engines",), 0, False, 1, 1)
    failed = {o.subject for o in stage.run(get("cpu"), plan, 0, 5) if o.status == "failed"}
    assert "reduce_tree/NoOutputLost" in failed
    assert "reduce_tree/Deterministic" not in failed


def test_the_shape_changes_no_bit(cpu: Runner) -> None:
    bits = float_bits(np.random.default_rng(1), ReduceOp.Add, DataType.F32, 30_011, plain=True)
    fold = Fold(ReduceOp.Add, DataType.F32)
    shapes = (Shape(1, 4), Shape(64, 2, turns=4, row=7, reverse=True), Shape(256, 16, banks=False), None)
    assert len({bits_of(cpu, ReduceOrder.TreeBinary, fold, bits, s) for s in shapes}) == 1


def test_values_come_back_in_the_dtype_they_came_in() -> None:
    half = np.array([1.5, 2.25], np.float16)
    assert engines.reduce_tree(half) == np.float16(3.75)
    assert engines.reduce_tree(half).dtype == np.float16
    words = np.array([0x3FC0, 0x4010], np.uint16)
    assert engines.reduce_strict(words, element=DataType.BF16) == 0x4070


def test_bfloat16_of_ml_dtypes_is_taken() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.array([1.5, 2.25, -8], np.float32).astype(ml_dtypes.bfloat16)
    assert float(engines.reduce_tree(x)) == -4.25


def test_rounding_of_the_oracle_breaks_ties_to_even_and_reaches_subnormals() -> None:
    f16 = DataType.F16
    exact = np.array([1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-25, 3 * 2.0**-26, 65519.9, 65520.0, -1e9])
    expected = [1.0, 1 + 2.0**-9, 0.0, 2.0**-24, 65504.0, np.inf, -np.inf]
    assert rounded(f16, exact).tolist() == expected
    assert values(f16, np.array([0x0001], np.uint16))[0] == 2.0**-24


def test_programs_are_built_once() -> None:
    fold = Fold(ReduceOp.Add, DataType.F32)
    assert tree_program(fold, SHAPE, 1, bits=True) is tree_program(fold, SHAPE, 1, bits=True)
