"""The summary of a backend counts every row, shows failures by bits, and claims no more than it ran."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from vyre.backends import BackendInfo
from vyre.backends.reference import ReferenceBackend
from vyre.conform.certify import LEVEL, Summary, certify, render, to_json
from vyre.conform.golden import load_later, load_rows
from vyre.conform.golden.rows import variables
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import BinOp, LitU32, Select
from vyre.ir.node import Store
from vyre.ir.operators import BinaryOp
from vyre.ir.program import Program

if TYPE_CHECKING:
    from vyre.backends import Executable

ROWS = [
    row
    for row in load_rows()
    if row.stem in ("primitive.math.div", "float.add", "type.u32", "float.sin_approx", "node.let")
    and not (row.kind == "binary" and variables(row["inputs"]))
]


class Divider:
    """The reference, except that division by zero gives all ones and float addition is refused."""

    name = "divider"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0.1", "a wrong interpreter", toolchain="none")

    def compile(self, program: Program) -> Executable:
        last = program.entry[-1]
        if isinstance(last, Store) and isinstance(last.value, BinOp):
            if last.value.op is BinaryOp.FAdd:
                raise UnsupportedByBackend("FAdd", self.name)
            if last.value.op is BinaryOp.Div:
                wrong = Select(last.value.right, last.value, LitU32(0xFFFFFFFF))
                entry = (*program.entry[:-1], Store(last.buffer, last.index, wrong))
                program = Program(program.buffers, program.workgroup_size, entry)
        return ReferenceBackend().compile(program)


@pytest.fixture(scope="module")
def good() -> Summary:
    return certify("reference", rows=ROWS)


@pytest.fixture(scope="module")
def bad() -> Summary:
    return certify(Divider(), rows=ROWS)


def test_every_row_is_counted_once(good: Summary) -> None:
    assert good.rows == len(ROWS)
    assert good.failures == ()
    assert good.refusals == ()
    assert {c.subject for c in good.counts} == {row.stem for row in ROWS}
    assert all(c.passed == c.rows for c in good.counts)


def test_strict_approximate_and_language_rows_are_apart(good: Summary) -> None:
    tracks = {c.subject: c.track for c in good.counts}
    assert tracks["float.add"] == "strict"
    assert tracks["float.sin_approx"] == "approximate"
    assert tracks["type.u32"] == "language"


def test_the_text_names_backend_level_counts_and_gaps(good: Summary) -> None:
    text = render(good)
    assert text.startswith("backend  reference ")
    assert LEVEL in text
    assert f"{len(ROWS)} of {len(ROWS)} rows agree" in text
    assert f"Not covered yet, {len(load_later())} rows of the documents:" in text
    assert "laws are checked by" in text


def test_failures_show_bits_and_program(bad: Summary) -> None:
    assert {o.row.id for o in bad.failures} == {"primitive.math.div/golden/2", "primitive.math.div/golden/3"}
    text = render(bad)
    assert "2 of" in text
    assert "FAIL" in text
    assert "expected  0x00000000\n  actual    0xFFFFFFFF" in text
    assert "The program of primitive.math.div/golden/2:" in text
    assert "in0[i] / in1[i]" in text


def test_refusals_are_counted_and_are_no_failures(bad: Summary) -> None:
    assert {o.row.stem for o in bad.refusals} == {"float.add"}
    (count,) = [c for c in bad.counts if c.subject == "float.add"]
    assert (count.passed, count.failed, count.refused) == (0, 0, count.rows)
    assert "refused: FAdd is not supported by the backend divider" in render(bad)


def test_json_holds_everything(bad: Summary) -> None:
    data = json.loads(json.dumps(to_json(bad)))
    assert data["backend"]["name"] == "divider"
    assert data["level"] == LEVEL
    assert data["rows"] == len(ROWS)
    assert data["failures"][0]["row"] == "primitive.math.div/golden/2"
    assert data["failures"][0]["expected"] == "0x00000000"
    assert data["failures"][0]["actual"] == "0xFFFFFFFF"
    assert "entry {" in data["failures"][0]["program"]
    assert len(data["refusals"]) == len(bad.refusals)
    assert len(data["not_covered"]) == len(load_later())


def test_without_rows_all_of_them_are_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vyre.conform.certify.load_rows", lambda: tuple(ROWS[:3]))
    assert certify("reference").rows == 3
