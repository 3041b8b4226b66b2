"""Ops of installed packages: a real distribution on the import path, with entry points."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from vyre.compose import Registry
from vyre.compose.plugins import installed_ops
from vyre.compose.registry import default_registry
from vyre.errors import OpError

if TYPE_CHECKING:
    from pathlib import Path

OPS = """
from vyre.compose import Op, Param
from vyre.ir import DataType, Var

def make(name):
    return Op(f"acme.{name}", (Param("x", DataType.U32),), DataType.U32, Var("x") + 1)

one = make("one")
several = [make("two"), make("three")]

def function():
    return make("four")

def generator():
    yield make("five")
    yield make("six")

wrong = [make("seven"), "not an op"]
number = 7

def broken():
    raise RuntimeError("no licence")
"""


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, entries: str) -> None:
    """A package as pip leaves it: a module and its dist-info."""
    (tmp_path / f"{name}.py").write_text(OPS)
    info = tmp_path / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[vyre.ops]\n{entries}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def acme_ids() -> list[str]:
    return [op.id for op in installed_ops() if op.id.startswith("acme.")]


def test_an_entry_is_an_op_an_iterable_or_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = "b = acme_ops:several\na = acme_ops:one\nc = acme_ops:function\nd = acme_ops:generator"
    install(tmp_path, monkeypatch, "acme_ops", entries)
    assert acme_ids() == [f"acme.{n}" for n in ("one", "two", "three", "four", "five", "six")]
    assert len(Registry(installed_ops())) >= 6


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("acme_bad:missing", "AttributeError"),
        ("acme_absent:one", "ModuleNotFoundError"),
        ("acme_bad:broken", "no licence"),
        ("acme_bad:wrong", "'not an op'"),
        ("acme_bad:number", "which is not an Op"),
    ],
)
def test_a_broken_package_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, reason: str
) -> None:
    install(tmp_path, monkeypatch, "acme_bad", f"x = {target}")
    with pytest.raises(OpError, match="acme_bad") as caught:
        installed_ops()
    assert reason in caught.value.message
    assert "uninstall acme_bad" in caught.value.fix


HELD = """
import vyre
from vyre import u32

@vyre.op(id="acme.held")
def held(x: u32) -> u32:
    return x + 1
"""


def test_a_function_that_holds_an_op_is_refused_with_what_to_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "acme_held", "x = acme_held:held")
    (tmp_path / "acme_held.py").write_text(HELD + "\nheld = [held]\n")
    with pytest.raises(OpError, match="acme_held") as caught:
        installed_ops()
    assert caught.value.fix.startswith("list its .op; or make acme_held:held an Op")


BY_ID = """
import vyre
from vyre import u32

@vyre.op(id="acme.first")
def first(x: u32) -> u32:
    return vyre.call("acme.second", x)
"""


def test_an_op_that_is_called_by_its_id_before_its_package_is_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "acme_by_id", "x = acme_by_id:first")
    (tmp_path / "acme_by_id.py").write_text(BY_ID)
    default_registry.cache_clear()
    with pytest.raises(OpError, match="acme_by_id") as caught:
        default_registry()
    default_registry.cache_clear()
    assert "no op 'acme.second'" in caught.value.message
    assert "acme_by_id.py:7" in caught.value.message
    assert "partially initialized" not in str(caught.value)
    assert "as a function" in caught.value.fix
    assert str(caught.value).count("Fix:") == 1
