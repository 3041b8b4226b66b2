"""The page on adding a backend works as written: its code runs, its mistake is found, its repair is one."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from vyre.conform.oracle.golden.rows import load_rows
from vyre.conform.process.load import load
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import STAGES
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.golden.stage import run_rows
from vyre.conform.verify.named import run_named
from vyre.conform.verify.stage import FAILED, PASSED
from vyre.errors import UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.backends.protocol import Backend
    from vyre.conform.verify.stage import Outcome

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-backend.md").read_text()
TARGET = "vyre_lanes.backend:LanesBackend"


def block(language: str, holding: str) -> str:
    """The one block of this language that holds a text."""
    blocks: list[tuple[str, str]] = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
    (found,) = [text for of, text in blocks if of == language and holding in text]
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "vyre_lanes"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "backend.py").write_text(block("python", "class LanesBackend"))
    (tmp_path / "try.py").write_text(block("python", "vyre.dispatch"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    yield tmp_path
    for name in ("vyre_lanes", "vyre_lanes.backend"):
        sys.modules.pop(name, None)


def changed(folder: Path, line: str) -> Backend:
    """The backend with this line in place of the one for the same operator, or added."""
    file = folder / "vyre_lanes" / "backend.py"
    key = line.strip().partition(":")[0]
    old = re.compile(rf"^    {re.escape(key)}: .*\n", re.MULTILINE)
    text, count = old.subn(lambda _: line, file.read_text())
    file.write_text(text if count else text.replace("BINARY = {\n", "BINARY = {\n" + line))
    for name in ("vyre_lanes", "vyre_lanes.backend"):
        sys.modules.pop(name, None)
    return load(TARGET)


def golden(backend: Backend, family: str) -> list[Outcome]:
    return run_rows(backend, tuple(row for row in load_rows() if row.id.startswith(family)))


def test_its_package_names_the_class() -> None:
    project: dict[str, Any] = tomllib.loads(block("toml", "vyre.backends"))["project"]
    assert project["entry-points"]["vyre.backends"] == {"lanes": TARGET}


def test_its_first_run_prints_what_it_says(folder: Path) -> None:
    run = subprocess.run([sys.executable, "try.py"], cwd=folder, capture_output=True, text=True, check=True)
    assert run.stdout == block("", "[ 1  4")


def test_its_mistake_is_found_by_the_rows_it_names_and_repaired_by_its_line(folder: Path) -> None:
    failed = [o.case for o in golden(load(TARGET), "primitive.logical") if o.status == FAILED]
    assert failed == [f"golden/primitive.logical.and/golden/{n}" for n in (5, 6, 7, 8)]
    assert failed[0] in PAGE
    repaired = changed(folder, block("python", 'BinaryOp.And: "({} !='))
    assert {o.case: o.status for o in golden(repaired, "primitive.logical.and") if o.case in failed} == (
        dict.fromkeys(failed, PASSED)
    )
    assert FAILED not in {o.status for o in golden(repaired, "primitive.logical")}


def test_what_it_refuses_is_refused_until_its_lines_are_added(folder: Path) -> None:
    case, plan = "primitive.math.div/inputs/0x5,0x0", make_plan("lanes", ops=("primitive.math.div",))
    assert run_named(Bench(load(TARGET)), case, plan, STAGES).status == "refused"
    for line in block("python", "BinaryOp.Div").splitlines(keepends=True):
        changed(folder, line)
    assert run_named(Bench(load(TARGET)), case, plan, STAGES).status == "passed"


def test_every_page_it_links_to_is_there() -> None:
    for name in re.findall(r"\]\(([\w-]+\.md)\)", PAGE):
        assert (Path(__file__).parents[2] / "docs" / name).is_file(), name


def test_its_refusal_reads_as_it_says() -> None:
    refusal = UnsupportedByBackend("BinaryOp.Div", "lanes")
    assert f"{refusal.message} Fix: {refusal.fix}" in PAGE
