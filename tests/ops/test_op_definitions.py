"""The standard library as data: complete, documented, valid, and the same in its documentation."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from vyre.compose import Category, Op, Registry, default_registry, inline, inline_op
from vyre.ir import DataType, Let, Literal, LitI32, LitU32, Program
from vyre.ir.expr import Call, Expr
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS
from vyre.ops import standard_ops
from vyre.validate import check, validate_op

ROOT = Path(__file__).parent.parent.parent
DECIDED = {
    "primitive.math": "add sub mul div mod negate mul_hi",
    "primitive.bitwise": "and or xor not shl shr popcount clz ctz reverse_bits",
    "primitive.compare": "eq ne lt gt le ge",
    "primitive.logical": "and or not",
}


def argument(t: DataType) -> Expr:
    match t:
        case DataType.U32:
            return LitU32(1)
        case DataType.I32:
            return LitI32(1)
        case _:
            return Literal(t, 1)


def test_ids_are_unique_and_bare() -> None:
    ids = [op.id for op in standard_ops()]
    assert len(set(ids)) == len(ids)
    assert not any("@" in op_id for op_id in ids)


def test_the_primitives_are_those_of_the_language() -> None:
    found = {op.id for op in standard_ops() if op.id.startswith("primitive.")}
    assert found == {f"{family}.{name}" for family, names in DECIDED.items() for name in names.split()}
    assert len(found) == len(INTEGER_BINARY_OPS) + len(INTEGER_UNARY_OPS)


def test_atomics_are_no_ops() -> None:
    assert not any(op.id.startswith("atomic") for op in standard_ops())


@pytest.mark.parametrize("op", standard_ops(), ids=lambda op: op.id)
def test_each_op_is_a_documented_valid_composition(op: Op) -> None:
    assert op.category is Category.A
    assert op.doc.endswith(".")
    assert "\n" not in op.doc
    assert validate_op(op) == []


def test_a_program_that_calls_every_op_is_valid_before_and_after_inlining() -> None:
    calls = [Call(op.id, tuple(argument(p.type) for p in op.params)) for op in standard_ops()]
    program = Program([], (1,), [Let(f"r{i}", call) for i, call in enumerate(calls)])
    check(program)
    check(inline(program, default_registry()), allow_reserved=True)


def test_expanding_an_op_changes_nothing_where_it_calls_nothing() -> None:
    registry = Registry(standard_ops())
    changed = {op.id for op in standard_ops() if inline_op(op, registry) != op}
    assert changed == {"integer.pow_mod"}, "it calls integer.mul_mod"


def test_the_documentation_is_the_one_the_registry_gives() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_docs_ops.py"))["render"]()
    assert (ROOT / "docs" / "ops.md").read_text(encoding="utf-8") == made, "run tools/make_docs_ops.py"
    assert all(f"`{op.id}`" in made for op in standard_ops())
