"""Composition costs nothing: calls of ops lower to the very text of the kernel written by hand.

The float ops are in `test_zero_cost_floats.py`.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.lower.zero_cost_kernels import Kernel
from tests.lower.zero_cost_twins import TWINS, Hand
from vyre.compose import Category, Op, Param, Registry, default_registry
from vyre.ir import Call, DataType, Expr, Let, LitU32, Program, Var
from vyre.ir.types import FLOAT_TYPES
from vyre.lower.languages import LANGUAGES
from vyre.lower.prepare import prepare
from vyre.ops import standard_ops
from vyre.validate import check

if TYPE_CHECKING:
    from collections.abc import Sequence

U32 = DataType.U32
KERNEL_MARKS = {"wgsl": "@compute", "cuda": "__global__", "opencl": "__kernel", "llvm": "define void"}


def is_integer(op: Op) -> bool:
    return op.category is Category.A and FLOAT_TYPES.isdisjoint({op.output, *(p.type for p in op.params)})


OPS = {op.id: op for op in standard_ops() if is_integer(op)}


def texts(program: Program, registry: Registry | None = None) -> dict[str, str]:
    check(program, registry=registry)
    prepared = prepare(program, registry=registry)
    return {name: language.emit(prepared).text for name, language in LANGUAGES.items()}


def written(op_id: str, hand: Hand, *args: Expr) -> Expr:
    hand.group()
    return TWINS[op_id](hand, *args)


def test_every_integer_op_of_the_library_has_a_twin() -> None:
    assert set(TWINS) == set(OPS)


@pytest.mark.parametrize("op_id", OPS)
def test_an_op_lowers_to_its_twin(op_id: str) -> None:
    op = OPS[op_id]
    kernel = Kernel([p.type for p in op.params], op.output)
    hand = Hand()
    twin = written(op_id, hand, *kernel.inputs)
    called = texts(kernel.program(Call(op_id, tuple(kernel.inputs))))
    assert called == texts(kernel.program(twin, hand.statements))


SCALARS = sorted(
    (op for op in OPS.values() if op.output is U32 and all(p.type is U32 for p in op.params)),
    key=lambda op: op.id,
)


class Composition:
    """The same random nest of ops twice: as calls, and written by hand, operands first."""

    def __init__(self, seed: int, inputs: Sequence[Var], depth: int) -> None:
        self._rng = Random(f"composition {seed}")
        self._inputs = inputs
        self.hand = Hand()
        self.call, self.twin = self._make(depth)

    def _make(self, depth: int) -> tuple[Expr, Expr]:
        rng = self._rng
        if depth == 0:
            leaf = rng.choice(self._inputs) if rng.randrange(4) else LitU32(rng.randrange(1, 32))
            return leaf, leaf
        op = rng.choice(SCALARS)
        deepest = rng.randrange(len(op.params))
        parts = [self._make(depth - 1 if i == deepest else rng.randrange(2)) for i in range(len(op.params))]
        call = Call(op.id, tuple(part[0] for part in parts))
        return call, written(op.id, self.hand, *(part[1] for part in parts))


def call_depth(root: Expr) -> int:
    return 1 + max((call_depth(child) for child in root.children), default=0) if isinstance(root, Call) else 0


@pytest.mark.parametrize("seed", range(50))
def test_a_composition_of_depth_five_and_more_lowers_to_its_twin(seed: int) -> None:
    kernel = Kernel([U32, U32, U32], U32)
    made = Composition(seed, kernel.inputs, 5 + seed % 4)
    assert call_depth(made.call) >= 5
    assert texts(kernel.program(made.call)) == texts(kernel.program(made.twin, made.hand.statements))


def layers(count: int, each: int) -> list[list[str]]:
    """For every op, the ids of the binary primitives that it is made of."""
    rng = Random("layers")
    names = [op.id for op in SCALARS if op.id.startswith("primitive.") and len(op.params) == 2]
    return [[rng.choice(names) for _ in range(each)] for _ in range(count)]


def test_twenty_ops_of_two_hundred_sub_ops_lower_to_one_kernel() -> None:
    made = layers(20, 10)
    assert sum(map(len, made)) == 200
    ops: list[Op] = []
    a, b, t = Var("a"), Var("b"), Var("t")
    for number, ids in enumerate(made):
        first: Expr = Call(ids[0], (a, LitU32(number + 1)))
        for op_id in ids[1:5]:
            first = Call(op_id, (first, LitU32(number + 2)))
        result: Expr = Call(ids[5], (t, b))
        for op_id in ids[6:]:
            result = Call(op_id, (result, LitU32(number + 3)))
        params = (Param("a", U32), Param("b", U32))
        ops.append(Op(f"layer.op{number}", params, U32, result, (Let("t", first),)))
    registry = Registry([*default_registry(), *ops])
    kernel = Kernel([U32, U32], U32)
    x, y = kernel.inputs
    hand = Hand()
    call: Expr = x
    twin: Expr = x
    for number, ids in enumerate(made):
        call = Call(f"layer.op{number}", (call, y))
        hand.group()
        for op_id in ids[:1]:
            twin = TWINS[op_id](hand, twin, LitU32(number + 1))
        for op_id in ids[1:5]:
            twin = TWINS[op_id](hand, twin, LitU32(number + 2))
        twin = TWINS[ids[5]](hand, hand.let("t", twin), y)
        for op_id in ids[6:]:
            twin = TWINS[op_id](hand, twin, LitU32(number + 3))
    called = texts(kernel.program(call), registry)
    assert called == texts(kernel.program(twin, hand.statements))
    for language, mark in KERNEL_MARKS.items():
        assert called[language].count(mark) == 1, language


def test_a_dearer_twin_is_not_the_same_text() -> None:
    """The comparison can fail: one operation more, or one variable more, shows in every language."""
    kernel = Kernel([U32, U32], U32)
    x, y = kernel.inputs
    plain = texts(kernel.program(Call("primitive.bitwise.xor", (x, y))))
    dearer = texts(kernel.program(Call("primitive.bitwise.xor", (x, Call("primitive.bitwise.xor", (y, y))))))
    bound = texts(kernel.program(Var("kept"), [Let("kept", x ^ y)]))
    for language in LANGUAGES:
        assert plain[language] != dearer[language]
        assert plain[language] != bound[language] or language == "llvm"
