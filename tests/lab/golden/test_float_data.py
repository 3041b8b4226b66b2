"""The float rows hold what MPFR computes, and the tool that says so can say otherwise."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from lab.golden import compute
from lab.golden import float_rows as floats
from lab.golden.formats import FORMATS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "argv", ["floats"])
    return floats


def test_the_data_is_what_mpfr_computes(tool: Any) -> None:
    tool.main()


def test_one_wrong_bit_is_noticed(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in tool.FILES:
        shutil.copy(tool.DATA / name, tmp_path)
    path = tmp_path / "floats.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"expected": "0x3EAAAAAB"', '"expected": "0x3EAAAAAA"', 1), encoding="utf-8")
    monkeypatch.setattr(tool, "DATA", tmp_path)
    with pytest.raises(SystemExit, match=r"floats\.json does not hold"):
        tool.main()


def _wrong(*operands: Any) -> Any:
    return operands[0] * 2


@pytest.mark.parametrize("table", ["ARITHMETIC", "FUNCTIONS"])
def test_the_second_opinion_can_disagree(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op = {"ARITHMETIC": "FMul", "FUNCTIONS": "FSin"}[table]
    entries = getattr(compute, table)
    monkeypatch.setitem(entries, op, (entries[op][0], _wrong))
    f32, three = FORMATS["F32"], 0x40400000
    with pytest.raises(SystemExit, match="disagree"):
        compute.binary(op, f32, three, three) if table == "ARITHMETIC" else compute.unary(op, f32, three)
