"""The table of features names all that programs and dispatches are made of, and the rows try every pair."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from vyre.backends import protocol
from vyre.backends.protocol import BackendLimits
from vyre.conform.shapes.constraints import FURTHER, buffers_needed, further, why_not
from vyre.conform.shapes.features import CHOSEN, FEATURES, NOT_OF_SHAPE, Feature, measure, reached
from vyre.conform.shapes.rows import ROWS, fitted, pairs_of, parted, too_costly, wanted
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.expr import EXPR_KINDS, InvocationId, LitU32, Var
from vyre.ir.node import NODE_KINDS, Assign, Barrier, Break, If, Let, Loop, Store
from vyre.ir.operators import FLOAT_UNARY_OPS, BinaryOp, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable

PROTOCOLS = (
    protocol.Backend, protocol.Executable, protocol.ResidentBackend, protocol.ResidentExecutable,
    protocol.LimitedExecutable, protocol.DeviceMemory,
)  # fmt: skip


def parts() -> set[str]:
    """What the language and the protocol consist of."""
    methods = {name for p in PROTOCOLS for name in vars(p) if not name.startswith("_")}
    kinds = {kind.__name__ for kind in (*NODE_KINDS, *EXPR_KINDS)}
    operators = {op.value for op in (*BinaryOp, *UnaryOp)}
    return methods | kinds | operators | {t.value for t in DataType} | {a.value for a in BufferAccess}


def uncovered(features: Iterable[Feature]) -> set[str]:
    covered = {part for feature in features for part in feature.covers}
    return parts() - covered - NOT_OF_SHAPE.keys()


def test_every_part_of_the_language_and_the_protocol_has_a_feature() -> None:
    assert uncovered(FEATURES.values()) == set(), "give it a feature, or a reason in NOT_OF_SHAPE"


@pytest.mark.parametrize("gone", ["barriers", "entrance", "payload", "element type"])
def test_a_part_without_a_feature_is_seen(gone: str) -> None:
    assert uncovered(f for f in FEATURES.values() if f.name not in (gone, "barrier nesting"))


def test_levels_ascend_and_limits_are_those_of_the_protocol() -> None:
    limits = BackendLimits()
    for feature in FEATURES.values():
        numbers = [n for n in feature.levels if isinstance(n, int)]
        assert numbers in ([], list(feature.levels))
        assert numbers == sorted(set(numbers))
        assert len(set(feature.every)) == len(feature.every)
        assert not feature.limit or hasattr(limits, feature.limit)


def test_the_rows_try_every_pair() -> None:
    tried = {pair for row in ROWS for pair in pairs_of(row)}
    assert wanted() - tried == set()
    assert all(row.keys() == {*CHOSEN, FURTHER} for row in ROWS)
    assert not tried & too_costly() or all(why_not(row) in (None, "too costly") for row in ROWS)
    fewer = {pair for row in ROWS[1:] for pair in pairs_of(row)}
    assert wanted() - fewer, "the first row brings pairs that no other has"


def test_the_extremes_are_tried() -> None:
    for name, feature in CHOSEN.items():
        assert {row[name] for row in ROWS} == set(feature.every), name


def test_what_no_device_takes_is_lowered() -> None:
    limits = BackendLimits(buffers=8, workgroup_invocations=256, workgroup_bytes=16_384, workgroup_size_z=64)
    for row in ROWS:
        low = fitted(row, limits)
        size = int(low["workgroup x"]) * int(low["workgroup y"]) * int(low["workgroup z"])
        assert size <= 256
        assert int(low["buffers"]) <= 8
        assert int(low["workgroup bytes"]) <= 16_384
        assert fitted(row, BackendLimits()) == row


def test_each_element_type_of_a_row_is_tried_with_its_levels() -> None:
    row = max(ROWS, key=lambda row: len(further(row)))
    first, *_, last = str(row["element type"]), *further(row)
    assert first != last
    for kind in (first, last):
        assert (("turns", row["turns"]), ("element type", kind)) in pairs_of(row)
    assert all(a[0] != b[0] for a, b in pairs_of(row)), "two types are no pair of levels"


def test_a_row_is_run_in_parts_where_a_device_has_few_buffers() -> None:
    for row in ROWS:
        assert parted(row) == (row,)
        low = fitted(row, BackendLimits(buffers=8))
        parts = parted(low)
        assert {pair for part in parts for pair in pairs_of(part)} == pairs_of(low)
        assert all(not further(part) or buffers_needed(part) <= 8 for part in parts)


def _program(*body: Any) -> Program:
    out = BufferDecl.read_write("out", 0, DataType.U32)
    return Program((out,), (8, 2, 1), (Let("i", InvocationId(0)), *body, Store("out", Var("i"), Var("i"))))


def test_a_program_is_measured() -> None:
    inner = Loop("k", LitU32(2), LitU32(7), (Barrier(),))
    found = measure(
        _program(If(LitU32(1), (Loop("j", LitU32(0), LitU32(3), (inner,)),))), {"out": bytes(64)}, (3, 1, 1)
    )
    assert (found["loop depth"], found["turns"], found["loop start"]) == ({2}, {3, 5}, {0, 2})
    assert (found["barriers"], found["barrier nesting"], found["branches"]) == ({1}, {3}, {"uniform"})
    assert (found["invocations"], found["workgroup size"], found["output"]) == ({48}, {16}, {"short"})
    assert reached(FEATURES["turns"], found["turns"]) == 3


def test_a_divergent_bound_and_a_load_after_a_store_are_seen() -> None:
    load = BufferDecl.read_write("out", 0, DataType.U32)[Var("i")]
    body = (
        Let("x", LitU32(0)),
        Loop("k", LitU32(0), Var("i"), (Assign("x", Var("x") + 1),)),
        Store("out", Var("i"), Var("x")),
        Let("y", load),
    )
    found = measure(_program(*body), {"out": bytes(192)}, (3, 1, 1))
    assert (found["loop bounds"], found["loads after stores"]) == ({"divergent"}, {1})


def test_breaks_private_memory_and_tables_are_seen() -> None:
    own = BufferDecl.private("own", DataType.U32, 5)
    table = BufferDecl.constant("table", DataType.U32, (3).to_bytes(4, "little") * 2)
    i, zero = Var("i"), LitU32(0)
    together = Loop("k", zero, table[1], (If(Var("k").eq(1), (Break(),)),))
    apart = Loop("k", zero, LitU32(9), (If(Var("k").eq(i), (Break(),)),))
    found = measure(_program(Loop("k", zero, LitU32(3), together.body)), {"out": bytes(4)}, (1, 1, 1))
    assert (found["break"], found["private bytes"], found["table bytes"]) == ({"uniform"}, {0}, {0})
    base = _program(Loop("j", zero, LitU32(2), (apart,)))
    whole = Program(
        (*base.buffers, own, table), base.workgroup_size, (*base.entry[:1], together, *base.entry[1:])
    )
    found = measure(whole, {"out": bytes(4)}, (1, 1, 1))
    assert found["break"] == {"uniform", "divergent", "nested"}
    assert (found["private bytes"], found["table bytes"], found["buffers"]) == ({20}, {8}, {1})
    assert found["turns"] == {2, 3, 9}


def test_float_operators_are_in_the_payload() -> None:
    assert {op.value for op in FLOAT_UNARY_OPS} <= FEATURES["payload"].covers
    assert len(list(combinations(CHOSEN, 2))) == 780
