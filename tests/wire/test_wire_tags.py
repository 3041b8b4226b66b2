"""The tag tables cover the language, and the layouts cover the tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.graph.nodes import NODES, Accumulator, Duplicates, Joining, MulStep
from vyre.ir import (
    ApproxOp,
    AtomicOp,
    BinaryOp,
    BufferAccess,
    DataType,
    ReduceOp,
    ReduceOrder,
    RoundMode,
    UnaryOp,
)
from vyre.ir.expr import EXPR_KINDS
from vyre.ir.node import NODE_KINDS
from vyre.wire import tags
from vyre.wire.graph_tags import GRAPH_TABLES
from vyre.wire.graph_tags import MEMBERS as GRAPH_MEMBERS
from vyre.wire.layout import EXPR_LAYOUTS, NODE_LAYOUTS, VARIADIC, by_tag

if TYPE_CHECKING:
    from collections.abc import Mapping

MEMBERS: dict[str, tuple[Any, ...]] = {
    "type": tuple(DataType),
    "access": tuple(BufferAccess),
    "binary": tuple(BinaryOp),
    "unary": tuple(UnaryOp),
    "atomic": tuple(AtomicOp),
    "reduce": tuple(ReduceOp),
    "order": tuple(ReduceOrder),
    "round": tuple(RoundMode),
    "approx": tuple(ApproxOp),
    "expression": EXPR_KINDS,
    "statement": NODE_KINDS,
}
OF_GRAPHS: dict[str, tuple[Any, ...]] = {
    "node": NODES,
    "joining": tuple(Joining),
    "accumulator": tuple(Accumulator),
    "step": tuple(MulStep),
    "duplicates": tuple(Duplicates),
}


def faults(table: Mapping[Any, int], members: tuple[Any, ...]) -> list[str]:
    """What is wrong with a tag table: a member without a tag, a stranger, a number given twice."""
    missing = [f"{m} has no tag" for m in members if m not in table]
    strangers = [f"{m} is not a member" for m in table if m not in members]
    numbers = list(table.values())
    repeated = [f"{n} is given twice" for n in sorted(set(numbers)) if numbers.count(n) > 1]
    outside = [f"{n} is not a tag number" for n in numbers if not 1 <= n <= 255]
    return missing + strangers + repeated + outside


@pytest.mark.parametrize("group", MEMBERS)
def test_a_table_is_complete_and_its_numbers_are_unique(group: str) -> None:
    assert faults(tags.TABLES[group], MEMBERS[group]) == []


@pytest.mark.parametrize("group", OF_GRAPHS)
def test_a_table_of_graphs_is_complete_and_its_numbers_are_unique(group: str) -> None:
    assert faults(GRAPH_TABLES[group], OF_GRAPHS[group]) == []


def test_the_tables_are_all_checked() -> None:
    assert set(MEMBERS) == set(tags.TABLES)
    assert set(OF_GRAPHS) == set(GRAPH_TABLES)
    assert set(tags.TABLES).isdisjoint(GRAPH_TABLES)
    for enumeration, table in GRAPH_MEMBERS.items():
        assert [member for member in enumeration.__members__.values() if member not in table] == []


def test_a_faulty_table_is_noticed() -> None:
    good = dict(tags.REDUCE_ORDERS)
    members = tuple(ReduceOrder)
    assert faults({ReduceOrder.Strict: 1}, members)
    assert faults({**good, ReduceOp.Add: 9}, members)
    assert faults(dict.fromkeys(members, 1), members)
    assert faults({**good, ReduceOrder.Strict: 0}, members)


def test_every_kind_has_a_layout_that_names_all_its_fields() -> None:
    assert set(EXPR_LAYOUTS) == set(EXPR_KINDS)
    assert set(NODE_LAYOUTS) == set(NODE_KINDS)
    for cls, layout in EXPR_LAYOUTS.items():
        fields: tuple[str, ...] = cls.__match_args__  # pyright: ignore[reportAttributeAccessIssue]
        own = [field.attribute for field in layout.fields]
        assert set(own) <= set(fields)
        if layout.operands >= 0:
            assert len(own) + layout.operands == len(fields)
        elif layout.operands == VARIADIC:
            assert len(own) + 1 == len(fields)


def test_a_tag_is_known_by_a_permanent_name() -> None:
    named = tags.all_tags()
    assert named["binary.Add"] == 1
    assert named["expression.BinOp"] == 11
    assert named["statement.Barrier"] == 8
    assert len(named) == sum(len(table) for table in tags.TABLES.values())


def test_the_inverse_of_a_table_knows_no_other_byte() -> None:
    inverse = by_tag(tags.ROUND_MODES.items())
    assert len(inverse) == 256
    assert [i for i, member in enumerate(inverse) if member is not None] == sorted(tags.ROUND_MODES.values())
