"""The make targets that the pages, the hooks, the templates and the workflow name are in the Makefile."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
PAGES = sorted(
    path
    for pattern in (
        "*.md",
        "docs/*.md",
        ".github/*.md",
        ".github/ISSUE_TEMPLATE/*.yml",
        ".pre-commit-config.yaml",
    )
    for path in ROOT.glob(pattern)
)
# In pages a target is named in backticks or at the start of a line of a shell block.
_NAMED = re.compile(r"(?:^|`|entry: )make((?: +[\w$][^\s`]*)+)", re.MULTILINE)


def targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


def named_in(text: str) -> set[str]:
    """The targets of every `make …` in the text; `NAME=value` is a setting, `#` ends a command."""
    words = (word for line in _NAMED.findall(text) for word in line.split("#")[0].split())
    return {word for word in words if "=" not in word}


def runs_of(workflow: dict[Any, Any]) -> list[str]:
    return [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]


def problems_of(workflow: dict[Any, Any]) -> list[str]:
    """What in a workflow is neither a make target nor an action of the forge's own at a major version."""
    actions = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    found = [f"uses {name}" for name in actions if not re.fullmatch(r"actions/[\w-]+@v\d+", name)]
    for run in runs_of(workflow):
        command = re.fullmatch(r"(?:sudo )?make ([\w-]+)", run)
        if command is None or command[1] not in targets():
            found.append(f"runs {run}")
    return found


def workflow() -> dict[Any, Any]:
    return yaml.safe_load(WORKFLOW.read_text())


def test_every_target_of_the_makefile_is_phony_and_defined() -> None:
    defined = set(re.findall(r"^([a-z][\w-]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert defined == targets()


def test_the_pages_and_the_hooks_name_targets_that_exist() -> None:
    named = {
        (page.relative_to(ROOT).as_posix(), name) for page in PAGES for name in named_in(page.read_text())
    }
    assert {name for _, name in named} >= {"check", "test", "certify", "docs", "matrix", "setup-dev"}
    assert not {pair for pair in named if pair[1] not in targets()}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("run `make nothing` first", {"nothing"}),
        ("```sh\nmake nothing   # does it\n```", {"nothing"}),
        ("        entry: make nothing\n", {"nothing"}),
        ("`make test VYRE_SPEC_DIR=FOLDER` and `make CONSTRAINTS= nothing`", {"test", "nothing"}),
        ("we make sure of it", set[str]()),
    ],
)
def test_a_target_is_found_where_a_page_names_it(text: str, named: set[str]) -> None:
    assert named_in(text) == named


def test_the_workflow_calls_make_targets_and_the_forges_own_actions_alone() -> None:
    assert problems_of(workflow()) == []
    assert {"make check", "make test", "make certify", "make matrix"} <= set(runs_of(workflow()))


@pytest.mark.parametrize(
    "step",
    [
        {"run": "make nothing"},
        {"run": "pip install ruff"},
        {"run": "make check && pip install ruff"},
        {"uses": "somebody/setup@v1"},
        {"uses": "actions/checkout@main"},
        {"uses": "actions/checkout@v6.0.1"},
    ],
)
def test_any_other_step_of_a_workflow_is_found(step: dict[str, str]) -> None:
    assert len(problems_of({"jobs": {"one": {"steps": [step]}}})) == 1


def test_the_workflow_may_only_read_and_runs_on_pull_requests() -> None:
    # YAML 1.1 reads the key `on` as true.
    assert workflow()[True].keys() == {"push", "pull_request"}
    assert workflow()["permissions"] == {"contents": "read"}


def test_the_hooks_are_local_and_use_the_tools_of_the_environment() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [repository["repo"] for repository in hooks["repos"]] == ["local"]
    for hook in hooks["repos"][0]["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].startswith((".venv/bin/ruff ", "make ")), hook["id"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()), ids=lambda p: p.name
)
def test_an_issue_template_has_what_the_forge_asks_of_one(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    assert form.keys() >= {"name", "description", "body"}
    assert form["body"]
    names = [part["id"] for part in form["body"]]
    assert len(set(names)) == len(names)
    for part in form["body"]:
        assert part["type"] in ("input", "textarea")
        assert part["attributes"]["label"]
