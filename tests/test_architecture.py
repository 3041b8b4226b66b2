"""Imports point one way; optional and heavy modules load only where they are needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "vyre"

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "disk": {"errors"},
    "ir": {"errors"},
    "compose": {"errors", "ir", "ops"},
    "ops": {"errors", "ir", "compose"},
    "text": {"errors", "ir", "compose"},
    "wire": {"errors", "ir"},
    "validate": {"errors", "ir", "compose", "text"},
    "reference": {"errors", "ir", "compose", "validate"},
    "numeric": {"errors", "ir", "compose", "wire"},
    "obligations": {"ir"},
    "optimize": {"errors", "ir", "compose", "reference", "obligations"},
    "lower": {"errors", "ir", "compose", "optimize", "numeric", "obligations"},
    "backends": {"errors", "disk", "ir", "compose", "wire", "validate", "reference", "lower"},
    "frontend": {"errors", "ir", "compose", "validate", "backends"},
    "engines": {"errors", "ir", "compose", "ops", "backends"},
    "conform": {
        "errors",
        "disk",
        "ir",
        "compose",
        "ops",
        "text",
        "wire",
        "validate",
        "reference",
        "optimize",
        "backends",
        "engines",
    },
    "report": {"errors", "conform"},
    "files": {"errors"},
    "certification": {"errors", "files", "backends", "conform", "report"},
    "__main__": {"cli"},
    "cli": {
        "errors",
        "ir",
        "frontend",
        "compose",
        "text",
        "wire",
        "validate",
        "lower",
        "backends",
        "conform",
        "certification",
        "files",
    },
}
"""Which rooms a room may import from. `ops` is data that `compose` reaches lazily."""

LAZY_EXCEPTIONS = {("ir", "wire"), ("ir", "text")}
"""`Program.to_wire` and `Program.to_text` are conveniences that import inside the method."""


FILE_EXCEPTIONS = {
    "conform/registry/vanishing.py": {"lower"},
    "conform/verify/stages/evidence.py": {"numeric"},
}
"""Single files that reach further: what certification says about the code that it certifies, it must look at.
The oracles and the specification must not."""


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "vyre" and len(parts) > 1 else None


def imports(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names if node.module == "vyre"}
    return found


def broken_arrows(room: str, source: str) -> set[str]:
    rooms = {room_of(m) for m in imports(ast.parse(source))} - {None, room}
    rooms = {r for r in rooms if r in ALLOWED}
    bad = {str(r) for r in rooms - ALLOWED[room]}
    return {r for r in bad if (room, r) not in LAZY_EXCEPTIONS}


def files() -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room != "__init__":
            found.append((room, path))
    return found


@pytest.mark.parametrize(("room", "path"), files(), ids=lambda v: str(v).removeprefix(str(SOURCE)))
def test_imports_point_one_way(room: str, path: Path) -> None:
    assert room in ALLOWED, f"{room} is a new room: say in ALLOWED what it may import"
    allowed = FILE_EXCEPTIONS.get(path.relative_to(SOURCE).as_posix(), set[str]())
    assert broken_arrows(room, path.read_text()) == allowed


def test_a_wrong_arrow_is_seen() -> None:
    assert broken_arrows("ir", "def f():\n    from vyre.validate import check") == {"validate"}
    assert broken_arrows("wire", "import vyre.backends.cpu.backend") == {"backends"}
    assert broken_arrows("reference", "from vyre import conform") == {"conform"}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "heavy", ["numpy", "click", "rich", "llvmlite", "vyre.reference", "vyre.validate", "asyncio"]
)
def test_import_vyre_is_light(heavy: str) -> None:
    assert heavy not in loaded_by("import vyre")


def test_the_command_line_loads_no_arrays_for_help() -> None:
    loaded = loaded_by(
        "from click.testing import CliRunner\nfrom vyre.cli import main\nCliRunner().invoke(main, ['--help'])"
    )
    assert "click" in loaded
    assert not {"numpy", "rich", "vyre.reference", "vyre.backends"} & loaded


def test_the_reference_never_touches_numpy() -> None:
    assert "numpy" not in loaded_by("import vyre.reference")
