"""Indices over two dimensions and loops: their forms, and that the range of the fast version is exact."""

from __future__ import annotations

from itertools import product

import pytest

from tests.lower.llvm.llvm_programs import OUT, TILE, function, program, source_of
from vyre.ir import (
    Barrier,
    BufLen,
    Expr,
    InvocationId,
    Let,
    LitU32,
    LocalId,
    Loop,
    Node,
    Store,
    Var,
    WorkgroupId,
)
from vyre.lower.llvm.affine import Limit, Ranges
from vyre.lower.llvm.forms import Affine
from vyre.lower.prepare import prepare

SIZE = (16, 3, 2)
X, Y, Z = (InvocationId(axis) for axis in range(3))
K = Var("k")
SEVEN = LitU32(7)
GROUP_Y, GROUP_Z, LOCAL_Y, LOCAL_Z = WorkgroupId(1), WorkgroupId(2), LocalId(1), LocalId(2)


def ranges(index: Expr, *, size: tuple[int, int, int] = SIZE, stop: Expr = SEVEN) -> Ranges:
    """Those of a store within `for k in 2..stop`."""
    entry: list[Node] = [Loop("k", LitU32(2), stop, (Store("out", index, LitU32(0)),))]
    return Ranges(prepare(program(entry, size=size)), flat=False)


FORMS: list[tuple[Expr, Affine | None]] = [
    (Y, Affine(0, 0, 0, ((LOCAL_Y, 1), (GROUP_Y, 3)))),
    (Y * 100 + X, Affine(16, 1, 0, ((LOCAL_Y, 100), (GROUP_Y, 300)))),
    (X + Z + LOCAL_Z, Affine(16, 1, 0, ((LOCAL_Z, 2), (GROUP_Z, 2)))),
    (K * 5 + X + K, Affine(16, 1, 0, ((K, 6),))),
    (K * 0 + X, Affine(16, 1, 0)),
    (K * K, None),
    (Y * (1 << 28), None),
    (Y * (1 << 27), Affine(0, 0, 0, ((LOCAL_Y, 1 << 27), (GROUP_Y, 3 << 27)))),
]


@pytest.mark.parametrize(("index", "form"), FORMS, ids=lambda v: repr(v)[:60])
def test_forms(index: Expr, form: Affine | None) -> None:
    assert ranges(index).form(index) == form


def test_a_dimension_of_size_one_has_no_place_in_it() -> None:
    found = ranges(Y, size=(16, 1, 1))
    assert found.form(Y) == Affine(0, 0, 0, ((GROUP_Y, 1),))
    assert found.form(LOCAL_Y) == Affine(0, 0, 0)


@pytest.mark.parametrize("stop", [BufLen("a"), LitU32(2), LitU32(1)], ids=repr)
def test_a_loop_of_no_known_steps_is_no_term(stop: Expr) -> None:
    assert ranges(K, stop=stop).form(K) is None


def test_narrow_workgroups_and_barriers_keep_to_one_dimension() -> None:
    assert ranges(Y, size=(8, 3, 2)).form(Y) is None
    assert ranges(K, size=(8, 3, 2)).form(K) is None
    entry: list[Node] = [Store("out", Y, LitU32(0)), Barrier()]
    assert Ranges(prepare(program(entry, size=SIZE)), flat=False).form(Y) is None
    shared = Ranges(prepare(program(entry[:1], TILE, size=SIZE)), flat=False)
    assert shared.form(Y) is None


@pytest.mark.parametrize(
    "index",
    [
        X + Y * 40,
        X * 2 + K * 3 + 5,
        X + Y * 2 + Z * 3,
        X - 20 + K,
        WorkgroupId(0) * 50 + LOCAL_Y * 9 + K * 16,
    ],
    ids=repr,
)
def test_limits_are_exact(index: Expr) -> None:
    """A workgroup is in the range exactly when every index of all its invocations and steps is in bounds."""
    found = ranges(index)
    form = found.form(index)
    assert form is not None
    (limit,) = found.limits()
    for group, y, z in product(range(5), range(3), range(2)):
        made = [
            form.group * group + form.local * x + form.offset + sum(f * at[term] for term, f in form.rest)
            for x, ly, lz, k in product(range(16), range(3), range(2), range(2, 7))
            for at in [{GROUP_Y: y, GROUP_Z: z, LOCAL_Y: ly, LOCAL_Z: lz, K: k}]
        ]
        for length in (max(made), max(made) + 1):
            assert holds(limit, group, {GROUP_Y: y, GROUP_Z: z}, length) == (
                min(made) >= 0 and max(made) < length
            )


def holds(limit: Limit, group: int, row: dict[object, int], length: int) -> bool:
    before = limit.step * group
    return before + limit.low >= 0 and before + limit.high + sum(f * row[t] for t, f in limit.rows) < length


def test_what_a_loop_reaches_everywhere_is_no_limit() -> None:
    """Else one buffer that is too short would send the whole grid to the guarded version."""
    assert not ranges(K * 3).constraints
    assert not ranges(LOCAL_Y - 1).constraints


def test_rows_are_limited_one_by_one() -> None:
    index = (WorkgroupId(1) * 8 + WorkgroupId(0)) * 32 + LocalId(0)
    text = source_of([Let("i", index), Store("out", Var("i"), LitU32(1))], size=(32,)).text
    assert "icmp ult i32" not in function(text, "invocations_in_range")
    entry = function(text, "vyre_main")
    assert f"sub i64 %len_{OUT.name}.wide" in entry.partition("\nrow:")[2]
    assert "mul i64 %y, 256" in entry
