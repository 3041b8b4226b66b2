"""The rows of the operators agree with each other, and with what is written down beside them."""

from __future__ import annotations

import inspect

import pytest

import vyre
from vyre.frontend import builtins
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS, BinaryOp, UnaryOp
from vyre.reference import integers

OPERATORS: list[BinaryOp | UnaryOp] = [*BinaryOp, *UnaryOp]
INTEGERS: list[BinaryOp | UnaryOp] = [*INTEGER_BINARY_OPS, *INTEGER_UNARY_OPS]
WORDS = (0, 1, 2, 3, 31, 32, 0x7FFF_FFFF, 0x8000_0000, 0xDEAD_BEEF, 0xFFFF_FFFF)


def swaps(op: BinaryOp, mirror: BinaryOp) -> bool:
    """Whether `a op b` is `b mirror a` for all pairs of some words."""
    pairs = [(a, b) for a in WORDS for b in WORDS]
    return all(integers.binary(op, a, b) == integers.binary(mirror, b, a) for a, b in pairs)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_a_row_has_the_name_of_its_member(op: BinaryOp | UnaryOp) -> None:
    assert op.row.name == op.name == op.value
    assert type(op)(op.name) is op


@pytest.mark.parametrize("op", INTEGER_BINARY_OPS, ids=lambda op: op.name)
def test_a_mirror_is_the_operator_with_its_operands_swapped(op: BinaryOp) -> None:
    mirrors = [other for other in INTEGER_BINARY_OPS if swaps(op, other)]
    assert mirrors == ([BinaryOp(op.row.mirror)] if op.row.mirror else [])


def test_a_wrong_mirror_would_be_noticed() -> None:
    assert not swaps(BinaryOp.Sub, BinaryOp.Sub)
    assert not swaps(BinaryOp.Lt, BinaryOp.Ge)


@pytest.mark.parametrize("op", INTEGERS, ids=lambda op: op.name)
def test_an_integer_operator_is_an_op_with_a_doc(op: BinaryOp | UnaryOp) -> None:
    assert op.row.op
    assert op.row.doc.endswith(".")


@pytest.mark.parametrize("op", [op for op in OPERATORS if op.row.kernel], ids=lambda op: op.name)
def test_a_kernel_function_is_public_and_takes_the_operands(op: BinaryOp | UnaryOp) -> None:
    function = getattr(builtins, op.row.kernel)
    assert getattr(vyre, op.row.kernel) is function
    assert len(inspect.signature(function).parameters) == (2 if isinstance(op, BinaryOp) else 1)
    if op.row.doc:
        assert function.__doc__ == op.row.doc
