"""What is installed: the package alone, with the data that runs need, and it works without the lab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"

SHIPPED = {
    "vyre/py.typed",
    "vyre/conform/oracle/truth/data/exp.bin",
    "vyre/conform/oracle/truth/data/index.json",
    "vyre/conform/oracle/truth/data/hardest.npz",
    "vyre/conform/oracle/truth/data/hardest.json",
    "vyre/conform/oracle/golden/data/floats.json",
    "vyre/conform/oracle/golden/tables.json",
    "vyre/numeric/functions/evidence.json",
    "vyre/validate/rules.toml",
}
"""Digests of the truth, the hardest inputs, golden rows, proof records, the table of codes."""

IMPORTS = """
import importlib, pkgutil, sys
from pathlib import Path

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lab", "tests", "tools"):
            raise RuntimeError(f"{name} is not installed")

sys.meta_path.insert(0, Blocked())
import vyre
assert Path(vyre.__file__).is_relative_to(sys.argv[1]), vyre.__file__
count = 0
for module in pkgutil.walk_packages(vyre.__path__, "vyre."):
    if module.name == "vyre.__main__":
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        if (error.name or "").partition(".")[0] in ("vyre", "lab", "tests", "tools", ""):
            raise
    count += 1
print(count)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


def strangers(names: list[str]) -> list[str]:
    """What belongs to neither the package nor the wheel's own records."""
    return [n for n in names if n.split("/")[0] != "vyre" and ".dist-info/" not in n]


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = ZipFile(wheel).namelist()
    assert strangers(names) == []
    assert [n for n in names if {"lab", "tests", "tools"} & set(n.split("/"))] == []


def test_a_stranger_is_seen() -> None:
    assert strangers(["vyre/ir/expr.py", "lab/mutants/hunt.py", "vyre-0.1.0.dist-info/RECORD"]) == [
        "lab/mutants/hunt.py"
    ]


def test_the_data_that_runs_need_is_in_the_wheel(wheel: Path) -> None:
    names = set(ZipFile(wheel).namelist())
    assert names >= SHIPPED
    assert any(n.startswith("vyre/numeric/proofs/") for n in names)
    data = [p for p in (SOURCE / "vyre").rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {p.relative_to(SOURCE).as_posix() for p in data} - names == set()


def test_every_installed_module_is_imported_without_the_lab(wheel: Path, tmp_path: Path) -> None:
    ZipFile(wheel).extractall(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) > 400


def test_an_import_of_the_lab_is_seen(wheel: Path, tmp_path: Path) -> None:
    ZipFile(wheel).extractall(tmp_path)
    (tmp_path / "vyre" / "reaching.py").write_text("import lab.mutants\n")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(tmp_path)],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode != 0
    assert "lab is not installed" in done.stderr
