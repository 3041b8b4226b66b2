"""Affine indices: which forms are recognised, and that every limit is exact."""

from __future__ import annotations

import pytest

from tests.lower.llvm.llvm_programs import OUT, TILE, I, program
from vyre.ir import Assign, Expr, InvocationId, Let, LitU32, Load, LocalId, Node, Store, Var, WorkgroupId
from vyre.lower.llvm.affine import Limit, Ranges
from vyre.lower.llvm.forms import Affine
from vyre.lower.prepare import prepare

WIDTH = 8
U, L = WorkgroupId(0), LocalId(0)


def ranges(entry: list[Node], *, flat: bool = True) -> Ranges:
    return Ranges(prepare(program(entry, TILE)), flat)


FORMS: list[tuple[Expr, Affine | None]] = [
    (I, Affine(8, 1, 0)),
    (I + 3, Affine(8, 1, 3)),
    (I - 3, Affine(8, 1, -3)),
    (I + 0xFFFFFFFF, Affine(8, 1, -1)),
    (U * 8 + L, Affine(8, 1, 0)),
    ((I << 2) + 1, Affine(32, 4, 1)),
    (LitU32(4) * (I + 2), Affine(32, 4, 8)),
    (I * 2 + L, Affine(16, 3, 0)),
    (LitU32(5), Affine(0, 0, 5)),
    (LitU32(5) - I, None),
    (I * I, None),
    (I * 0xFFFFFFFF, None),
    (I << L, None),
    (I * 0x7FFFFFFF, None),
    (I ^ 1, None),
    (InvocationId(1), None),
    (I + Load("a", I), None),
]


@pytest.mark.parametrize(("index", "form"), FORMS, ids=lambda v: repr(v)[:60])
def test_forms(index: Expr, form: Affine | None) -> None:
    assert ranges([Store("out", LitU32(0), index)]).form(index) == form


def test_a_variable_stands_for_its_value_unless_it_is_assigned() -> None:
    entry: list[Node] = [Let("i", I + 1), Let("j", Var("i") * 2), Store("out", Var("j"), LitU32(0))]
    assert ranges(entry).form(Var("j")) == Affine(16, 2, 2)
    again: list[Node] = [Assign("j", Load("a", I)), Store("out", Var("j"), LitU32(1))]
    assert ranges([*entry, *again]).form(Var("j")) is None


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(("scale", "offset"), [(1, 0), (1, 5), (1, -5), (3, 2), (3, -4), (2, 40), (7, -70)])
def test_limits_are_exact(flat: bool, scale: int, offset: int) -> None:
    """A position is in the range exactly when every index it makes is in bounds."""
    index = I * scale + (offset & 0xFFFFFFFF)
    (limit,) = ranges([Store("out", index, LitU32(0))], flat=flat).limits()
    per_position = 1 if flat else WIDTH
    for length in range(60):
        for position in range(80):
            first = position * per_position
            made = [i * scale + offset for i in range(first, first + per_position)]
            assert holds(limit, position, length) == all(0 <= x < length for x in made)


def holds(limit: Limit, position: int, length: int) -> bool:
    return limit.step * position + limit.high < length and limit.step * position + limit.low >= 0


def test_a_local_index_is_proved_by_the_declared_count() -> None:
    found = ranges([Store("tile", L, LitU32(0)), Store("tile", L + 1, LitU32(0))], flat=False)
    tile = found.prepared.buffer("tile")
    assert found.proved(found.form(L), tile, fast=False)
    assert not found.proved(found.form(L + 1), tile, fast=True)
    assert not found.limits()


def test_strides_that_differ_from_the_workgroup_are_left_to_workgroups() -> None:
    entry: list[Node] = [Store("out", U * 16 + L, LitU32(0))]
    assert not ranges(entry, flat=True).constraints
    assert ranges(entry, flat=False).limits() == [Limit(16, 0, 7, OUT.name)]
