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


def test_what_it_says_a_certificate_of_the_cpu_does_not_show_is_so() -> None:
    from vyre.conform.registry import floats
    from vyre.conform.spec.program import application
    from vyre.lower.prepare import prepare
    from vyre.lower.ways import LLVM_F16_WAYS

    assert "does not show: the soft floats" in README.read_text()
    taken = {
        key: way for s in floats() for key, way in prepare(application(s).program, ways=LLVM_F16_WAYS).ways
    }
    soft = {key for key, way in taken.items() if key.startswith("f32.") and way == "soft"}
    assert soft == {"f32.is_nan", "f32.is_inf"}
    assert {way for key, way in taken.items() if key.startswith("f64.")} == {"native"}
    halves = {f"{fmt}.{name}" for fmt in ("f16", "bf16") for name in ("add", "sub", "mul", "div", "sqrt")}
    assert {taken[key] for key in halves} == {"native"}
    assert taken["f32.sin"] == taken["f32.pow"] == "double"
