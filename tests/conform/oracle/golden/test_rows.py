"""The golden data is complete: counted against the documents' tables, operator by operator."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from lab.golden.coverage import answered_twice, repeated_ids, uncovered, unknown
from vyre.conform.oracle.golden import Later, Row, Shown, load_later, load_rows, load_shown, load_tables
from vyre.conform.oracle.golden.rows import variables
from vyre.conform.verify.golden.checks import CHECKS
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS
from vyre.ir.expr import EXPR_KINDS
from vyre.ir.node import NODE_KINDS
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOp, ReduceOrder, UnaryOp
from vyre.ir.types import VALUE_TYPES
from vyre.ir.typing import CAST_TABLE

ROWS = load_rows()
ELSEWHERE = (*load_later(), *load_shown())
ROOT = Path(__file__).parents[4]


def test_every_row_of_every_table_is_answered() -> None:
    assert uncovered(ROWS, ELSEWHERE, load_tables()) == []


def test_every_source_names_a_row_of_the_documents() -> None:
    assert unknown(ROWS, ELSEWHERE, load_tables()) == []


def test_nothing_is_answered_twice() -> None:
    assert answered_twice(ROWS, ELSEWHERE) == []


def test_ids_are_unique_and_well_formed() -> None:
    assert repeated_ids(ROWS) == []
    malformed = [row.id for row in ROWS if not re.fullmatch(r"[a-z0-9_.]+/golden/[1-9][0-9]*", row.id)]
    assert malformed == []


def test_numbers_of_a_subject_have_no_gaps() -> None:
    numbers: dict[str, list[int]] = {}
    for row in ROWS:
        numbers.setdefault(row.stem, []).append(int(row.id.rpartition("/")[2]))
    assert [stem for stem, n in numbers.items() if sorted(n) != list(range(1, len(n) + 1))] == []


def test_counting_notices_a_missing_row() -> None:
    rows = [row for row in ROWS if row.id != "primitive.math.div/golden/2"]
    assert uncovered(rows, ELSEWHERE, load_tables()) == ["000/Div/2"]


def test_counting_notices_a_longer_table() -> None:
    tables = load_tables()
    tables["000/Div"] = [*tables["000/Div"], "0"]
    assert uncovered(ROWS, ELSEWHERE, tables) == ["000/Div/6"]


def test_counting_notices_wrong_references() -> None:
    stray = Row("x.y/golden/1", "type", {}, ("000/Div/99",))
    assert unknown([stray], [], load_tables()) == ["000/Div/99"]
    assert answered_twice(ROWS, [Later("000/Div/2", "")]) == ["000/Div/2"]
    assert answered_twice([], [Later("000/Div/2", ""), Shown("000/Div/2", ())]) == ["000/Div/2"]
    assert repeated_ids([stray, stray]) == ["x.y/golden/1"]


def test_every_test_that_answers_for_a_row_exists() -> None:
    missing = [test for entry in load_shown() for test in entry.tests if not is_a_test(test)]
    assert missing == []
    assert not is_a_test("tests/conform/oracle/golden/test_rows.py::test_that_does_not_exist")


def is_a_test(name: str) -> bool:
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body)


def test_every_kind_can_be_replayed() -> None:
    assert {row.kind for row in ROWS} == EXECUTABLE_KINDS | CHECKS.keys()


def test_every_operator_has_at_least_eight_rows() -> None:
    counts: Counter[str] = Counter()
    for row in ROWS:
        match row.kind:
            case "binary" | "unary":
                counts[row["op"]] += 1
            case "atomic":
                counts[f"Atomic.{row['op']}"] += 1
            case "select" | "lane" | "make" | "fma":
                counts[row.kind] += 1
            case "reduce":
                counts[f"{row['order']}.{row['op']}"] += 1
            case _:
                pass
    wanted = [op.value for op in (*BinaryOp, *UnaryOp)] + ["select", "lane", "make", "fma"]
    wanted += [f"Atomic.{op.value}" for op in AtomicOp]
    wanted += [f"{order.value}.{op.value}" for order in ReduceOrder for op in ReduceOp]
    assert {name: counts[name] for name in wanted if counts[name] < 8} == {}


def test_every_integer_operator_has_a_formula_for_all_operands() -> None:
    general = {row["op"] for row in ROWS if row.kind in ("binary", "unary") and variables(row["inputs"])}
    operators = [*tuple(BinaryOp)[:19], *tuple(UnaryOp)[:7]]
    assert [op.value for op in operators if op.value not in general] == []


def test_every_float_operator_has_rows_in_every_format_it_takes() -> None:
    have = {(row["op"], row["type"]) for row in ROWS if row.kind in ("binary", "unary")}
    floats = [op.value for op in (*BinaryOp, *UnaryOp) if op.value.startswith("F")]
    assert [(op, t) for op in floats for t in ("F32", "F16", "BF16") if (op, t) not in have] == []


def test_every_cast_has_rows_and_every_other_pair_of_the_documents_is_refused() -> None:
    have = {(row["from"], row["to"]) for row in ROWS if row.kind in ("cast", "cast_identity")}
    assert have == {(a.value, b.value) for a, b in CAST_TABLE}
    refused = {(row["from"], row["to"]) for row in ROWS if row.kind == "cast_refused"}
    to_bytes = {(t.value, "Bytes") for t in VALUE_TYPES}
    assert to_bytes <= refused


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


OTHER_STEMS = {
    "FReduceApprox": "float.reduce.approx.add",
    "Approx": "float.sin_approx",
    "FReduce": "expr.freduce",
    "FMulAdd": "expr.fmul_add",
    "LitI32": "expr.lit_i32",
    "LitU32": "expr.lit_u32",
}


def test_every_statement_and_expression_has_a_program() -> None:
    stems = {row.stem for row in ROWS}
    wanted = {k.__name__: f"node.{_snake(k.__name__)}" for k in NODE_KINDS}
    wanted |= {k.__name__: f"expr.{_snake(k.__name__)}" for k in EXPR_KINDS}
    wanted |= OTHER_STEMS
    assert {name: stem for name, stem in wanted.items() if stem not in stems} == {}


def test_both_reduction_orders_and_lengths_are_told_apart() -> None:
    by_values: dict[tuple[str, str, tuple[str, ...]], dict[str, str]] = {}
    for row in ROWS:
        if row.kind == "reduce" and row["order"] != "Approx":
            key = (row["type"], row["op"], tuple(row["values"]))
            by_values.setdefault(key, {})[row["order"]] = row["expected"]
    assert all(len(orders) == 2 for orders in by_values.values())
    differing = {t for (t, _, _), orders in by_values.items() if len(set(orders.values())) == 2}
    assert differing == {"F32", "F16", "BF16", "F64"}
    assert {0, 1, 2, 3, 5} <= {len(values) for _, _, values in by_values}
