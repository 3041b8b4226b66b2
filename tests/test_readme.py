"""The README's code runs as written and prints what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def blocks() -> list[tuple[str, str]]:
    return re.findall(r"```(\w+)\n(.*?)```", README.read_text(), flags=re.DOTALL)


def test_the_first_block_is_the_ten_line_kernel_and_prints_what_follows(tmp_path: Path) -> None:
    (language, code), (kind, output) = blocks()[:2]
    assert (language, kind) == ("python", "text")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    script = tmp_path / "first.py"
    script.write_text(code)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout == output


def test_every_other_python_block_runs_too(tmp_path: Path) -> None:
    rest = [code for language, code in blocks() if language == "python"][1:]
    for number, code in enumerate(rest):
        script = tmp_path / f"block{number}.py"
        script.write_text(code)
        run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
    assert rest
