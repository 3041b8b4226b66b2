"""The page on a backend of one's own works as written: its commands run in order and print what it shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vyre.backends import protocol

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "backend.md").read_text(encoding="utf-8")
BLOCKS: list[str] = re.findall(r"^```\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

CERTIFY = "vyre certify --backend-class vyre_mine.backend:MineBackend"
NOT_RUN = {
    "make setup": "the environment in which the tests run",
    ". .venv/bin/activate": "the same",
    f"{CERTIFY} --timeout 900": "every case in NumPy, far slower than the devices that the run is made for",
    "pip install -e .": "changes the environment; test_backends_plugin.py has installed packages",
    "vyre backends": "needs the package installed",
    "vyre certify mine --stage golden": "needs the package installed",
}
FAILS = 2
"""Which of the runs of the golden rows meets the mistake, counted from 1."""


def commands() -> list[str]:
    """The lines to type, in order: those of blocks that begin with one."""
    typed = re.compile(r"^(vyre [a-z]|cd |sed |make |\. |pip |python )")
    return [line for text in BLOCKS if typed.match(text) for line in text.splitlines()]


def shown(before: str) -> str:
    """What the page shows below the first block that begins with a command."""
    at = next(i for i, text in enumerate(BLOCKS) if text.startswith(before))
    return BLOCKS[at + 1]


def test_every_command_runs_and_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert set(NOT_RUN) <= set(commands()), "what is left out stands on the page, word for word"
    folder, printed, golden = tmp_path, list[tuple[str, str]](), 0
    for line in commands():
        if line in NOT_RUN:
            continue
        words = shlex.split(line)
        if words[0] == "cd":
            folder = folder / words[1]
            continue
        golden += line.endswith("--stage golden")
        words = [sys.executable, "-m", *words] if words[0] == "vyre" else words
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        wrong = line.endswith("--stage golden") and golden == FAILS
        assert done.returncode == (1 if wrong else 0), (line, done.stdout, done.stderr)
        printed.append((line, done.stdout))
    assert printed[0][1].strip() == shown("vyre new-backend mine").strip()
    right, wrong = (text for line, text in printed if line.endswith("--stage golden"))
    for expected, text in ((shown("sed -i"), wrong), (shown(f"{CERTIFY} --stage golden"), right)):
        for line in expected.splitlines():
            assert line in text, line
    laws = next(text for line, text in printed if "--quick --ops" in line)
    for line in shown(f"{CERTIFY} --quick --ops").splitlines():
        assert line in laws


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\]\(([\w-]+\.md)\)", PAGE))))
def test_every_page_it_links_to_is_there(name: str) -> None:
    assert (ROOT / "docs" / name).is_file()


def test_the_optional_members_it_names_are_those_of_the_protocols() -> None:
    rows = PAGE.partition("| members | for |")[2]
    named = set(
        re.findall(
            r"`(\w+)(?:\(\))?`", "".join(row.split("|")[1] for row in re.findall(r"^\|.*", rows, re.M))
        )
    )
    known = Path(protocol.__file__).read_text(encoding="utf-8")
    device = (Path(protocol.__file__).parent / "device_buffer.py").read_text(encoding="utf-8")
    for name in named - {"categories", "hardware", "limits"}:
        assert f"def {name}(" in known or f"def {name}(" in device, name
