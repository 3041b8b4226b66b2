"""Python in another rounding mode, or with subnormals flushed, from before the import: nothing changes."""

from __future__ import annotations

import ast
import os
import platform
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "vyre"

x86_linux = pytest.mark.skipif(
    not sys.platform.startswith("linux") or platform.machine() != "x86_64",
    reason="the state is set through glibc's on x86-64",
)


def run(state: str, folder: Path, *, keep_bytecode: bool = False) -> list[str]:
    """The digests of a fresh process with cold caches, which sets the state before it imports vyre."""
    environment = {
        **os.environ,
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "VYRE_CACHE": str(folder / f"kernels-{state}"),
        "PYTHONDONTWRITEBYTECODE": "" if keep_bytecode else "1",
    }
    command = [sys.executable, "-m", "tests.numeric.float_state_child", state]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    pytest.importorskip("llvmlite")
    return run("default", tmp_path_factory.mktemp("default"))


@x86_linux
@pytest.mark.slow
@pytest.mark.parametrize("state", ["up", "down", "zero", "flush"])
def test_results_sources_and_literals_are_those_of_an_ordinary_process(
    state: str, ordinary: list[str], tmp_path: Path
) -> None:
    assert run(state, tmp_path) == ordinary


@x86_linux
@pytest.mark.slow
def test_bytecode_written_in_another_mode_is_as_good(ordinary: list[str], tmp_path: Path) -> None:
    run("up", tmp_path, keep_bytecode=True)
    assert any((tmp_path / "bytecode").rglob("*.pyc"))
    assert run("default", tmp_path, keep_bytecode=True) == ordinary


ROOMS = (
    "ir",
    "compose",
    "ops",
    "text",
    "wire",
    "validate",
    "reference",
    "optimize",
    "lower",
    "frontend",
    "numeric",
)
FILES = (
    SOURCE / "conform" / "generate" / "float_streams.py",
    SOURCE / "backends" / "canaries" / "float_programs.py",
)
TOOLS = {
    "lab/floats/truth.py",
    "lab/floats/sweep.py",
    "numeric/hardest",
}
"""Oracles and provers beside the code, which decide no constant of it."""

_ROUNDING = {"float", "fromhex", "as_integer_ratio", "hex", "ldexp", "frexp"}


def float_computations(text: str) -> list[str]:
    """Float literals that have to be rounded, arithmetic on float literals, and conversions at import."""
    tree = ast.parse(text)
    found = [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and not is_exact(node, text)
    ]
    for node in ast.walk(tree):
        sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
        if any(isinstance(s, ast.Constant) and isinstance(s.value, float) for s in sides):
            found.append(ast.unparse(node))
    at_import = [s for s in tree.body if not isinstance(s, ast.FunctionDef | ast.ClassDef)]
    for node in (n for statement in at_import for n in ast.walk(statement)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _ROUNDING:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "math" and node.attr in ("pi", "e"):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


def is_exact(node: ast.Constant, text: str) -> bool:
    """Whether the literal is a number of few bits, which every rounding mode reads alike."""
    written = ast.get_source_segment(text, node) or ""
    value = Fraction(written.replace("_", ""))
    return value.denominator & (value.denominator - 1) == 0 and value.numerator < 1 << 53


def checked_files() -> list[Path]:
    rooms = [p for room in ROOMS for p in sorted((SOURCE / room).rglob("*.py"))]
    return [p for p in (*rooms, *FILES) if not any(t in p.as_posix() for t in TOOLS)]


@pytest.mark.parametrize("path", checked_files(), ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_no_constant_is_a_float_that_python_rounds(path: Path) -> None:
    assert float_computations(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "MAGIC = 1.5 * 2.0**52",
        "def f():\n    return 0.1",
        "X = float.fromhex('0x1p0')",
        "import math\nTURN = (math.pi / 2,)",
        "def f(x):\n    return x * 2.0",
        "Y = 1e30",
    ],
)
def test_a_new_float_computation_is_seen(text: str) -> None:
    assert float_computations(text)


def test_exact_literals_may_stay() -> None:
    assert float_computations("TIMEOUT = 600.0\ndef f(limit: float = 0.5): ...") == []
