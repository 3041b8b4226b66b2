"""Composition of float ops costs nothing either, whichever way a language computes them.

Every op of the library is lowered as a call and as the operator itself: by the integer formulas (`soft`), and
the way that each language takes by default, which is its own instructions where it guarantees their bits.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.lower.zero_cost_float_twins import FLOAT_TWINS
from tests.lower.zero_cost_kernels import Kernel
from tests.lower.zero_cost_twins import TWINS, Hand
from vyre.compose import Category, Op
from vyre.errors import UnsupportedByBackend
from vyre.ir import (
    BinaryOp,
    BinOp,
    Call,
    DataType,
    Expr,
    FMulAdd,
    Let,
    Literal,
    Program,
    Select,
    UnaryOp,
    UnOp,
    Var,
)
from vyre.ir.types import FLOAT_TYPES
from vyre.lower.languages import LANGUAGES
from vyre.lower.prepare import prepare
from vyre.lower.ways import DEFAULT_WAYS, SOFT
from vyre.ops import standard_ops
from vyre.validate import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.ways import Ways

U32, F32, F64 = DataType.U32, DataType.F32, DataType.F64
OPS = {
    op.id: op
    for op in standard_ops()
    if op.category is Category.A
    and not FLOAT_TYPES.isdisjoint({op.output, *(p.type for p in op.params)})
    and not op.id.startswith(("fp8.", "nf4."))
}
CODES = {op.id for op in standard_ops() if op.id.startswith(("fp8.", "nf4."))}
"""Conversions of codes, written on integers: `verify/composition` proves what is left of them inlined."""


def text(program: Program, language: str, ways: Ways) -> str:
    """The source, or the refusal of an operation that has no exact form there."""
    try:
        return LANGUAGES[language].emit(prepare(program, ways=ways)).text
    except UnsupportedByBackend as refusal:
        return f"refused: {refusal.op}"


def texts(program: Program) -> dict[str, str]:
    check(program)
    found = {f"{language} soft": text(program, language, SOFT) for language in LANGUAGES}
    return found | {language: text(program, language, DEFAULT_WAYS[language]) for language in LANGUAGES}


def test_every_float_op_of_the_library_has_a_twin() -> None:
    assert set(FLOAT_TWINS) == set(OPS)
    assert set(OPS) | set(TWINS) | CODES == {op.id for op in standard_ops()}


@pytest.mark.parametrize("op_id", OPS)
def test_a_float_op_lowers_to_its_twin(op_id: str) -> None:
    op = OPS[op_id]
    kernel = Kernel([p.type for p in op.params], op.output)
    called = texts(kernel.program(Call(op_id, tuple(kernel.inputs))))
    assert called == texts(kernel.program(FLOAT_TWINS[op_id](Hand(), *kernel.inputs)))
    refused = {name for name, source in called.items() if source.startswith("refused")}
    soft = {name for name in called if "soft" in name}
    signs = op_id in ("float.f64.neg", "float.f64.abs")
    assert refused == (set() if op.params[0].type is not F64 or signs else {*soft, "wgsl"})


class Composition:
    """The same random nest of F32 ops twice: as calls, and written by hand."""

    def __init__(self, seed: int, inputs: Sequence[Var], depth: int) -> None:
        self._rng = Random(f"float composition {seed}")
        self._inputs = inputs
        self.call, self.twin = self._make(depth)

    def _make(self, depth: int) -> tuple[Expr, Expr]:
        rng = self._rng
        if depth == 0:
            leaf = rng.choice(self._inputs) if rng.randrange(4) else Literal(F32, rng.getrandbits(32))
            return leaf, leaf
        op = rng.choice(F32_OPS)
        deepest = rng.randrange(len(op.params))
        parts = [self._make(depth - 1 if i == deepest else rng.randrange(2)) for i in range(len(op.params))]
        call: Expr = Call(op.id, tuple(part[0] for part in parts))
        twin = FLOAT_TWINS[op.id](Hand(), *(part[1] for part in parts))
        if op.output is F32:
            return call, twin
        one, zero = Literal(F32, 0x3F800000), Literal(F32, 0)
        return Select(call, one, zero), Select(twin, one, zero)


F32_OPS: list[Op] = sorted(
    (op for op in OPS.values() if all(p.type is F32 for p in op.params)), key=lambda op: op.id
)


def calls_of(root: Expr) -> int:
    return isinstance(root, Call) + sum(map(calls_of, root.children))


@pytest.mark.parametrize("seed", range(30))
def test_a_composition_of_float_ops_lowers_to_its_twin(seed: int) -> None:
    kernel = Kernel([F32, F32, F32], F32)
    made = Composition(seed, kernel.inputs, 5 + seed % 3)
    assert calls_of(made.call) >= 5
    assert texts(kernel.program(made.call)) == texts(kernel.program(made.twin))


def test_an_op_of_ops_is_the_expression_without_them() -> None:
    """The softplus of a difference: floats, a comparison and an integer op in one nest."""
    kernel = Kernel([F32, F32], F32)
    x, y = kernel.inputs
    one = Literal(F32, 0x3F800000)
    difference = Call("float.sub", (x, y))
    grown = Call("float.log", (Call("float.add", (Call("float.exp", (difference,)), one)),))
    flag = Call("primitive.bitwise.xor", (Call("float.lt", (x, y)), Call("float.is_nan", (x,))))
    called = texts(kernel.program(Select(flag, grown, Call("float.fma", (x, y, one)))))
    plain = BinOp(BinaryOp.FSub, x, y)
    by_hand = UnOp(UnaryOp.FLog, BinOp(BinaryOp.FAdd, UnOp(UnaryOp.FExp, plain), one))
    mark = BinOp(BinaryOp.FLt, x, y) ^ UnOp(UnaryOp.FIsNaN, x)
    assert called == texts(kernel.program(Select(mark, by_hand, FMulAdd(x, y, one))))


@pytest.mark.parametrize("way", ["soft", "default"])
def test_a_dearer_or_another_twin_is_not_the_same_text(way: str) -> None:
    """The comparison can fail: a fused twin, one operation more, one variable more."""
    kernel = Kernel([F32, F32, F32], F32)
    x, y, z = kernel.inputs
    product = Call("float.mul", (x, y))
    apart = texts(kernel.program(Call("float.add", (product, z))))
    fused = texts(kernel.program(FMulAdd(x, y, z)))
    dearer = texts(kernel.program(Call("float.add", (product, Call("float.abs", (z,))))))
    bound = texts(
        kernel.program(Var("kept"), [Let("kept", BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, x, y), z))])
    )
    for language in LANGUAGES:
        name = f"{language} soft" if way == "soft" else language
        assert apart[name] != fused[name]
        assert apart[name] != dearer[name]
        assert apart[name] != bound[name] or language == "llvm"
