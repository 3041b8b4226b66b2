"""The versions of Python and of packages agree wherever they are written."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent.parent
MATRIX = ROOT / "tools" / "matrix.py"


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared() -> list[Requirement]:
    """Every direct dependency: of the package, of its extras and of its development."""
    table = project()
    lists = [table["project"]["dependencies"], *table["project"]["optional-dependencies"].values()]
    lists += table["dependency-groups"].values()
    found = [Requirement(text) for texts in lists for text in texts]
    return [requirement for requirement in found if requirement.name != "vyre"]


def problems_of(constraints: str) -> list[str]:
    """What in the text is not a pinned name, or does not agree with what pyproject.toml declares."""
    pinned: dict[str, str] = {}
    found: list[str] = []
    for line in constraints.splitlines():
        if line.startswith("#"):
            continue
        if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; [a-z0-9_'!=<>. ]+)?", line):
            found.append(f"not a name and a version: {line}")
            continue
        name, version = line.partition(" ;")[0].split("==")
        pinned[name] = version
    for requirement in declared():
        name = canonicalize_name(requirement.name)
        if name not in pinned:
            found.append(f"{name} is missing")
        elif not requirement.specifier.contains(pinned[name]):
            found.append(f"{name} {pinned[name]} is not {requirement.specifier}")
    return found


def test_the_constraints_pin_every_declared_dependency_within_its_bounds() -> None:
    assert problems_of((ROOT / "constraints.txt").read_text()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"^numpy==.*\n", ""),
        (r"^numpy==.*", "numpy==2.0.0"),
        (r"^numpy==.*", "numpy>=2"),
        (r"^numpy==", "numpy @ file:///wheels/numpy=="),
        (r"\A", "--index-url https://example.com/simple\n"),
        (r"\A", "-e .\n"),
    ],
)
def test_a_constraint_that_is_missing_too_low_or_local_is_found(old: str, new: str) -> None:
    text = (ROOT / "constraints.txt").read_text()
    changed = re.sub(old, new, text, count=1, flags=re.MULTILINE)
    assert changed != text
    assert problems_of(changed)


def test_every_dependency_has_a_lowest_version() -> None:
    for requirement in declared():
        assert [part.operator for part in requirement.specifier] == [">="], str(requirement)


def test_the_pythons_of_the_package_the_workflow_and_the_matrix_are_the_same() -> None:
    table = project()["project"]
    prefix = "Programming Language :: Python :: "
    pythons = [text.removeprefix(prefix) for text in table["classifiers"] if text.startswith(prefix)]
    assert pythons == ["3.11", "3.12", "3.13"]
    assert table["requires-python"] == f">={pythons[0]}"
    assert project()["tool"]["pyright"]["pythonVersion"] == pythons[0]
    assert f"\nPYTHONS ?= {' '.join(pythons)}\n" in (ROOT / "Makefile").read_text()
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    for name in ("check", "test"):
        assert jobs[name]["strategy"]["matrix"]["python"] == pythons, name
    (installed,) = [
        step["with"] for step in jobs["matrix"]["steps"] if "setup-python" in step.get("uses", "")
    ]
    assert installed["python-version"].split() == pythons


def test_the_workflow_checks_on_three_systems_and_stops_on_linux_alone() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
    systems = {name.partition("-")[0] for name in jobs["check"]["strategy"]["matrix"]["os"]}
    assert systems == {"ubuntu", "macos", "windows"}
    assert "ubuntu" in jobs["check"]["continue-on-error"]
    assert not any("continue-on-error" in job for name, job in jobs.items() if name != "check")


def test_the_newest_version_of_the_changelog_is_the_one_of_the_package() -> None:
    headings = re.findall(r"^## \[(.+?)\](.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == project()["project"]["version"]
    assert all(re.fullmatch(r" - \d{4}-\d{2}-\d{2}", date) for _, date in headings[1:])


def test_the_matrix_names_a_python_that_is_not_there_and_does_not_fail() -> None:
    run = subprocess.run([sys.executable, MATRIX, "9.9"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "python9.9: not on this machine\n")


def tool_with_environment(inside: Path | None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tool's function `outcome`, without what installs."""
    outcome = runpy.run_path(str(MATRIX))["outcome"]

    def environment_of(*_: object) -> Path | None:
        return inside

    monkeypatch.setitem(outcome.__globals__, "environment_of", environment_of)
    return outcome


def test_the_matrix_fails_when_a_test_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path(sys.executable)
    outcome = tool_with_environment(here, monkeypatch)
    for name, condition in (("good", "True"), ("bad", "False")):
        (tmp_path / f"test_{name}.py").write_text(f"def test_it():\n    assert {condition}\n")
    outcomes = [outcome(here, "lowest", [str(tmp_path / f"test_{name}.py")]) for name in ("good", "bad")]
    assert outcomes == ["passed", "FAILED: tests"]


def test_the_matrix_fails_when_versions_cannot_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = tool_with_environment(None, monkeypatch)
    assert outcome(Path(sys.executable), "lowest", []).startswith("FAILED")
