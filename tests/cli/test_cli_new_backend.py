"""`vyre new-backend` writes a package that works as it is, and overwrites nothing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from vyre.cli import main
from vyre.cli.new_backend_ import texts

if TYPE_CHECKING:
    from pathlib import Path


def call(*words: str) -> Result:
    return CliRunner().invoke(main, ["new-backend", *words])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    assert call("my_gpu", "--folder", str(folder)).exit_code == 0
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_its_own_tests_pass(package: Path) -> None:
    done = run(package, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    assert "6 passed" in done.stdout


def test_its_tests_fail_when_a_node_is_missing_or_an_operator_is_wrong(package: Path) -> None:
    emitter = package / "vyre_my_gpu" / "emitter.py"
    good = emitter.read_text()
    emitter.write_text(good.replace("    v.Lane: lambda", "    v.Var: lambda"))
    done = run(package, "pytest", "-q", "-p", "no:cacheprovider", "-k", "row")
    assert "test_every_node_of_the_language_has_a_row" in done.stdout.partition("short test summary")[2]
    emitter.write_text(good.replace('"mod({}, {})"', '"{} & {}"'))
    done = run(package, "pytest", "-q", "-p", "no:cacheprovider", "-k", "primitive")
    assert "test_golden_rows_agree[primitive]" in done.stdout.partition("short test summary")[2]


def test_the_golden_stage_has_no_failure(package: Path) -> None:
    target = "vyre_my_gpu.backend:MyGpuBackend"
    done = run(package, "vyre", "certify", "--backend-class", target, "--stage", "golden")
    assert done.returncode == 0, done.stdout
    assert "FAILED" not in done.stdout
    assert "✓ All 3," in done.stdout


def test_the_entry_point_names_the_class(package: Path) -> None:
    project: dict[str, Any] = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    assert project["name"] == "vyre-my-gpu"
    assert project["entry-points"]["vyre.backends"] == {"my_gpu": "vyre_my_gpu.backend:MyGpuBackend"}


def test_nothing_of_the_template_is_left_over() -> None:
    for path, text in texts("my_gpu").items():
        for word in ("template", "mine", "Mine"):
            assert word not in text, (path, word)


def test_it_overwrites_nothing(package: Path) -> None:
    (package / "README.md").write_text("my own words")
    again = call("my_gpu", "--folder", str(package))
    assert again.exit_code == 1
    assert "nothing was written" in again.stderr
    assert (package / "README.md").read_text() == "my own words"
    call("other", "--folder", str(package))
    assert not (package / "vyre_other").exists()


@pytest.mark.parametrize("name", ["My", "1st", "a-b", "a__b", "_a", "class.x", "../up", ""])
def test_names_that_cannot_be_a_package_are_refused(name: str, tmp_path: Path) -> None:
    refused = call(name, "--folder", str(tmp_path / "x"))
    assert refused.exit_code == 1
    assert "cannot name a backend" in refused.stderr
    assert not (tmp_path / "x").exists()


def test_the_name_of_an_installed_backend_is_refused(tmp_path: Path) -> None:
    refused = call("cpu", "--folder", str(tmp_path / "x"))
    assert "is installed already" in refused.stderr


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert "is not a folder" in call("mine", "--folder", str(tmp_path / "x")).stderr
    assert "cannot make" in call("mine", "--folder", str(tmp_path / "x" / "y")).stderr
