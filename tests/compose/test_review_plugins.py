"""Packages that offer broken ops or backends: each failure names the package and what to do."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from vyre.compose import Op, Param
from vyre.errors import OpError
from vyre.ir import DataType, LitU32, Var

if TYPE_CHECKING:
    from pathlib import Path

U32 = DataType.U32
pytestmark = pytest.mark.slow

X = (Param("x", U32),)
ODD: Any = object()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Op("a.b", ODD, U32, Var("x")), "params"),
        (lambda: Op("a.b", (ODD,), U32, Var("x")), "params"),
        (lambda: Op("a.b", X, ODD, Var("x")), "output"),
        (lambda: Op("a.b", X, U32, ODD), "result"),
        (lambda: Op("a.b", X, U32, Var("x"), (ODD,)), "body"),
        (lambda: Op("a.b", X, U32, Var("x"), ODD), "body"),
        (lambda: Op("a.b", X, U32, Var("x"), (), ODD), "category"),
        (lambda: Op("a.b", X, U32, Var("x"), doc=ODD), "doc"),
        (lambda: Op(ODD, X, U32, Var("x")), "id"),
        (lambda: Op("a.b", (Param("x", ODD),), U32, Var("x")), "parameter"),
        (lambda: Op("a.b", (Param(ODD, U32),), U32, Var("x")), "parameter"),
    ],
)
def test_an_op_of_wrong_parts_cannot_be_made(make: Any, says: str) -> None:
    with pytest.raises(OpError, match=says) as caught:
        make()
    assert caught.value.fix


def test_a_sound_op_can_be_made() -> None:
    assert Op("a.b", X, U32, Var("x") + LitU32(1), doc="Adds one.").version == 1


def install(folder: Path, name: str, text: str, group: str, entry: str) -> None:
    (folder / f"{name}_module.py").write_text(text)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry} = {name}_module:thing\n")


def vyre(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The command in a process that sees the packages of `folder`."""
    code = f"import sys; sys.path.insert(0, {str(folder)!r}); from vyre.cli import main; main({list(args)!r})"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


OTHER_ADD = """
from vyre.compose import Op, Param
from vyre.ir import DataType, Var
thing = Op("primitive.math.add", (Param("x", DataType.U32),), DataType.U32, Var("x"))
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (OTHER_ADD, "primitive.math.add"),
        ("raise RuntimeError('no licence')", "no licence"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("thing = 5", "not an Op"),
        ("def thing():\n    return {'a': 1}", "not an Op"),
        ("from vyre.compose import Op\nthing = lambda: Op('x.y', (), 5, None)", "output"),
    ],
)
def test_broken_ops_name_their_package(tmp_path: Path, text: str, says: str) -> None:
    install(tmp_path, "acme", text, "vyre.ops", "thing")
    result = vyre(tmp_path, "ops", "--json")
    assert result.returncode == 1
    record = json.loads(result.stdout)
    assert "acme" in record["message"]
    assert says in record["message"]
    assert "uninstall acme" in record["fix"]


DESCRIBES = """
class thing:
    name = "acme"
    def describe(self):
        {}
    def compile(self, program):
        return None
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raise RuntimeError('no device')", "no device"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("import missing_module_of_acme", "missing_module_of_acme"),
        ("thing = 5", "TypeError"),
        ("thing = dict", "not a Backend"),
        (DESCRIBES.format("return 'a fine device'"), "not a BackendInfo"),
        (DESCRIBES.format("raise SystemExit(4)"), "SystemExit"),
    ],
)
def test_broken_backends_are_listed_with_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    install(tmp_path, "acme", text, "vyre.backends", "acme")
    listing = vyre(tmp_path, "backends", "--json")
    assert listing.returncode == 0, listing.stderr
    (status,) = [s for s in json.loads(listing.stdout) if s["name"] == "acme"]
    assert not status["available"]
    assert says in status["missing"]
    assert status["install"]


def test_a_backend_that_says_what_to_do_is_quoted(tmp_path: Path) -> None:
    text = "from vyre import VyreError\ndef thing():\n    raise VyreError('no chip.', fix='plug one in.')"
    install(tmp_path, "acme", text, "vyre.backends", "acme")
    (status,) = [s for s in json.loads(vyre(tmp_path, "backends", "--json").stdout) if s["name"] == "acme"]
    assert (status["missing"], status["install"]) == ("no chip.", "plug one in.")


def test_a_package_that_takes_the_name_of_ours_is_named(tmp_path: Path) -> None:
    text = "from vyre.backends.reference.backend import ReferenceBackend\nclass thing(ReferenceBackend): pass"
    install(tmp_path, "acme", text, "vyre.backends", "reference")
    listing = vyre(tmp_path, "backends", "--json")
    (status,) = [s for s in json.loads(listing.stdout or "[]") if s["name"] == "reference"] or [None]
    message = status["missing"] if status else listing.stderr
    assert "acme" in message
    assert "both register it" in message
