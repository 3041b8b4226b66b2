"""The golden rows against the documents themselves, wherever `VYRE_SPEC_DIR` names their folder.

The manifest must have every row as the documents have it. Beyond that, what a table says in its cells
(operands and results, types and sizes, what is allowed) must be what the golden rows say that answer for it.
"""

from __future__ import annotations

import os
import re
import runpy
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.golden.coverage import drift
from vyre.conform.oracle.golden import Row, load_rows, load_tables
from vyre.conform.oracle.golden.formula import evaluate
from vyre.conform.oracle.golden.rows import Value, number, variables
from vyre.conform.oracle.golden.samples import assignments
from vyre.ir.types import STORED_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable

    Cells = tuple[str, ...]
    Says = Callable[[str, Cells, list[Row]], bool]

TOOL = runpy.run_path(str(Path(__file__).parents[4] / "tools" / "spec_tables.py"))
ANSWERS: dict[str, list[Row]] = defaultdict(list)
for _row in load_rows():
    for _source in _row.sources:
        ANSWERS[_source].append(_row)


@pytest.fixture(scope="module")
def documents() -> dict[str, list[Cells]]:
    folder = os.environ.get("VYRE_SPEC_DIR")
    if not folder:
        pytest.skip("VYRE_SPEC_DIR names no folder with the documents")
    found = TOOL["read_directory"](Path(folder))
    assert found, f"{folder} holds no numbered documents"
    return found


def test_the_manifest_has_every_row_as_the_documents_have_it(documents: dict[str, list[Cells]]) -> None:
    assert drift(load_tables(), TOOL["manifest"](documents)) == []


DOCUMENT = """\
# Title
## One
| a | b |
|---|---|
| 1 | 2 |
| 3 | x \\| y |

text

| c |
|---|
| 1 |
```
| not | a table |
```
### `Two`
1. first
   goes on
2. second

   and ends.
"""


def test_tables_and_lists_are_read() -> None:
    assert TOOL["read_document"]("009", DOCUMENT) == {
        "009/One": [("1", "2"), ("3", "x \\| y")],
        "009/One#2": [("1",)],
        "009/Two (list)": [("first goes on",), ("second and ends.",)],
    }


def test_every_change_of_a_document_shows() -> None:
    tables = TOOL["manifest"](TOOL["read_document"]("009", DOCUMENT))
    read = TOOL["read_document"]

    def changed(old: str, new: str) -> list[str]:
        return drift(tables, TOOL["manifest"](read("009", DOCUMENT.replace(old, new))))

    assert changed("", "") == []
    assert changed("| 1 | 2 |", "|  1 |   2 |") == []
    assert changed("| 1 | 2 |", "| 1 | 3 |") == ["009/One/1 says something else in the documents"]
    assert changed("| 1 | 2 |\n", "") == [
        "009/One/1 says something else in the documents",
        "009/One/2 is not in the documents",
    ]
    assert changed("2. second", "2. second\n3. third") == [
        "009/Two (list)/2 says something else in the documents",
        "009/Two (list)/3 is not in the manifest",
    ]
    assert changed("goes on", "goes off") == ["009/Two (list)/1 says something else in the documents"]


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def values(text: str) -> list[int | str]:
    """`(0xFF, x)` or `42` as the golden data writes them."""
    parts = text.strip().removeprefix("(").removesuffix(")").split(",")
    return [_value(part.strip()) for part in parts]


def _value(text: str) -> int | str:
    text = {"true": "1", "false": "0"}.get(text, text)
    text = text.replace("0xFFFF..", "0xFFFFFFFF")
    return text if text == "x" else int(text, 0)


def numbers(value: Value) -> list[int | str]:
    """A golden value, lane by lane: numbers as 32-bit words, formulas as they are."""
    lanes: list[int | str] = value if isinstance(value, list) else [value]
    return [lane if variables(lane) else number(lane, {}) & 0xFFFFFFFF for lane in lanes]


def _operation(place: str, cells: Cells, rows: list[Row]) -> bool:
    """`000`: the very operands and the very result, of the operation of that section."""
    inputs, result = values(quoted(cells[0])[0]), values(quoted(cells[1])[0])
    op = place.split("/")[1]
    return any(
        row["op"] == op
        and [numbers(v) for v in row["inputs"]] == [[v] for v in inputs]
        and numbers(row["expected"]) == result
        for row in rows
    )


def _cast(place: str, cells: Cells, rows: list[Row]) -> bool:
    source, target = quoted(cells[0])[0], quoted(cells[1])[0]
    if cells[1].startswith("non-"):
        others = {t.value for t in DataType if t not in STORED_TYPES} - {target}
        return {row["to"] for row in rows if row["code"] and row["from"] == source} == others
    if "Not supported" in cells[2]:
        (row,) = rows
        wanted = (quoted(cells[2]) or ["V012"])[0]
        return (row.kind, row["from"], row["to"], row["code"]) == ("cast_refused", source, target, wanted)
    rows = [row for row in rows if row.kind.startswith("cast")]
    if not rows or any((row["from"], row["to"]) != (source, target) for row in rows):
        return False
    given = [(numbers(row["inputs"][0]), numbers(row["expected"])) for row in rows if row.kind == "cast"]
    return all(example in given for example in _examples(cells[2:]))


def _examples(cells: Cells) -> list[tuple[list[int | str], list[int | str]]]:
    """Every `from → to` in the cells whose two sides are values."""
    found: list[tuple[list[int | str], list[int | str]]] = []
    for text in (t for cell in cells for t in quoted(cell)):
        left, arrow, right = re.sub(r"\((true|false)\)|as vec2", "", text).partition("→")
        if arrow and not re.search("value|low|c0", text):
            found.append((_words(left), _words(right)))
    return found


def _words(side: str) -> list[int | str]:
    return [v if isinstance(v, str) else v & 0xFFFFFFFF for v in values(side)]


def _type(place: str, cells: Cells, rows: list[Row]) -> bool:
    if quoted(cells[0]) == ["Tensor"]:
        return all(row.kind == "tensor" for row in rows)
    (row,) = [row for row in rows if row.kind == "type"]
    size = int(cells[1].partition(" ")[0].removesuffix("+"))
    return [row["type"], row["min_bytes"], row["wgsl"]] == [quoted(cells[0])[0], size, quoted(cells[2])[0]]


def _layout(place: str, cells: Cells, rows: list[Row]) -> bool:
    name = quoted(cells[0])[0]
    if name == "Bytes":
        return all(row.kind == "program" and any("Bytes" in line for line in row["text"]) for row in rows)
    lanes = int((re.search(r"vec(\d)", cells[1]) or ["", "1"])[1])
    return all(row["type"] == name and len(row["bytes"]) == 8 * lanes for row in rows)


def _access(place: str, cells: Cells, rows: list[Row]) -> bool:
    allowed = {use: cell == "Yes" for use, cell in zip(("load", "store", "atomic"), cells[1:4], strict=True)}
    return {(r["access"], r["use"], r["code"] is None) for r in rows} == {
        (quoted(cells[0])[0], use, may) for use, may in allowed.items()
    }


def _call(place: str, cells: Cells, rows: list[Row]) -> bool:
    argument, parameter = quoted(cells[0])[0].split(" -> ")
    return all(
        (row["argument"], row["parameter"], row["code"] is None) == (argument, parameter, cells[1] == "Yes")
        for row in rows
    )


def _formula(place: str, cells: Cells, rows: list[Row]) -> bool:
    """`003`: the formula of the documents and that of the row agree on every sample."""
    (name,), said = quoted(cells[0]), quoted(cells[1])
    general = [row for row in rows if row["op"] == name and "a" in row["inputs"]]
    if not said:
        return bool(general)
    text = said[0].replace("\\|", "|").replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"(.*) \? 1 : 0", r"1 if \1 else 0", text.replace("mod 2^32", ""))
    text = text.replace(" / ", " // ") if name == "Div" else text
    return bool(general) and all(
        evaluate(row["expected"], bound) & 0xFFFFFFFF == _said(text, bound)
        for row in general
        for bound in assignments(row.id, dict.fromkeys(row["inputs"], DataType.U32))
    )


def _said(text: str, bound: dict[str, int]) -> int:
    if not bound.get("b") and re.search("//|%", text):
        return 0
    return evaluate(text, bound) & 0xFFFFFFFF


def _atomic(place: str, cells: Cells, rows: list[Row]) -> bool:
    return all(row["op"] == quoted(cells[0])[0] for row in rows)


def _float(place: str, cells: Cells, rows: list[Row]) -> bool:
    names = re.findall(r"F[A-Z][A-Za-z0-9]*", quoted(cells[0])[0])
    have = {"FMulAdd" if row.kind == "fma" else row["op"] for row in rows}
    return set(names) <= have <= {*names, "FNe"}


def _conversion(place: str, cells: Cells, rows: list[Row]) -> bool:
    source, target = quoted(cells[0])[0].split(" → ")
    return all((row["from"], row["to"]) == (source, target) for row in rows)


def _reduction(place: str, cells: Cells, rows: list[Row]) -> bool:
    order = quoted(cells[0])[0].removeprefix("FReduce").partition("(")[0]
    return all(row["order"] == order for row in rows)


def _law(place: str, cells: Cells, rows: list[Row]) -> bool:
    return all(row["law"] == cells[0].partition("(")[0] for row in rows)


def _convention(place: str, cells: Cells, rows: list[Row]) -> bool:
    return any(row.kind == "convention" and row["variant"] == quoted(cells[0])[0][:2] for row in rows)


FLOATS = "003/Float semantics — strict IEEE 754, deterministic across backends"
TABLES: dict[str, Says] = {
    **{name: _operation for name in load_tables() if name.startswith("000/")},
    "001/Complete Cast Table": _cast,
    "001/Planned casts (not yet in source)": _cast,
    "001/Canonical Layout": _layout,
    "002/Stable types (implemented in source)": _type,
    "002/Planned types (specified but not yet in source)": _type,
    "002/BufferAccess": _access,
    "002/Convention": _convention,
    "003/Data Types": _type,
    FLOATS: _float,
    f"{FLOATS}#2": _conversion,
    f"{FLOATS}#3": _reduction,
    "003/Binary Operations (integer)": _formula,
    "003/Binary Operations": _formula,
    "003/Unary Operations": _formula,
    "003/Atomic Operations": _atomic,
    "003/Binary Laws": _law,
    "003/Unary Laws": _law,
    "003/Cross-Operation Laws": _law,
    "004/Type Compatibility": _call,
}


@pytest.mark.parametrize("table", TABLES)
def test_golden_rows_say_what_the_cells_say(documents: dict[str, list[Cells]], table: str) -> None:
    for position, cells in enumerate(documents[table], 1):
        place = f"{table}/{position}"
        assert ANSWERS[place], place
        assert TABLES[table](place, cells, ANSWERS[place]), (place, cells)


@pytest.mark.parametrize(
    ("place", "right", "wrong"),
    [
        ("000/Div/2", ("`(5, 0)`", "**`0`**", ""), ("`(5, 0)`", "**`1`**", "")),
        ("001/Complete Cast Table/3", ("`U32`", "`Bool`", "", "`7 → 1`"), ("`U32`", "`Bool`", "", "`7 → 7`")),
        (
            "001/Complete Cast Table/7",
            ("`U32`", "`Bytes`", "Not supported. `V023` validation error.", ""),
            ("`U32`", "`Bytes`", "Not supported. Validation error.", ""),
        ),
        ("003/Data Types/1", ("`U32`", "4 bytes", "`u32`", ""), ("`U32`", "8 bytes", "`u32`", "")),
        (
            "002/BufferAccess/1",
            ("`ReadOnly`", "Yes", "No", "No", ""),
            ("`ReadOnly`", "Yes", "Yes", "No", ""),
        ),
        ("003/Binary Operations/9", ("`Shl`", "`a << (b & 31)`", ""), ("`Shl`", "`a << b % 64`", "")),
        ("003/Binary Operations/4", ("`Div`", "`a / b`", ""), ("`Div`", "`a % b`", "")),
        ("003/Binary Laws/3", ("Identity(e)", "", ""), ("Idempotent", "", "")),
        ("004/Type Compatibility/3", ("`Bool -> U32`", "No", ""), ("`Bool -> U32`", "Yes", "")),
    ],
)
def test_a_cell_that_says_something_else_is_noticed(place: str, right: Cells, wrong: Cells) -> None:
    says = TABLES[place.rpartition("/")[0]]
    assert says(place, right, ANSWERS[place])
    assert not says(place, wrong, ANSWERS[place])
