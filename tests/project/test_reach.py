"""Every module of the package is reached by something a user runs; proofs and exams are in the lab."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"

FOUND_BY_NAME = ("vyre.cli.", "vyre.conform.registry.")
"""Packages whose modules are imported by a name that is put together: a file a command, a file a spec."""

APART = {
    "vyre.conform.permanence": "the package of the lock",
    "vyre.conform.permanence.lock": "`python -m`, for whoever adds a promise",
    "vyre.conform.process.child": "started by its name in a process of its own",
    "vyre.semantics.vector": "taken by the lab's witnesses",
}
"""What is reached in another way, and how."""


def modules(source: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in source.rglob("*.py"):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def named_by(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that this one imports anywhere, or names in a string, with the packages above them."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), level=0, names=names):
                found |= {module, *(f"{module}.{alias.name}" for alias in names)}
            case ast.Constant(value=str(text)) if re.fullmatch(r"[a-z_0-9.]+(:\w+)?", text):
                found |= {text.partition(":")[0], f"{name}.{text}"}
            case _:
                pass
    above = {".".join(m.split(".")[:n]) for m in found for n in range(1, m.count(".") + 1)}
    return (found | above) & known.keys()


def unreached(known: dict[str, Path], roots: set[str]) -> set[str]:
    seen: set[str] = set()
    waiting = [n for n in known if n in roots or n.startswith(FOUND_BY_NAME)]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += named_by(name, known[name], known)
    return known.keys() - seen


def entry_points() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = [*project["scripts"].values()]
    points += [p for group in project["entry-points"].values() for p in group.values()]
    return {"vyre", "vyre.__main__", *(p.partition(":")[0] for p in points)}


def test_what_nothing_reaches_is_not_in_the_package() -> None:
    assert unreached(modules(SOURCE), entry_points()) <= APART.keys()


def test_a_module_that_nothing_reaches_is_seen(tmp_path: Path) -> None:
    for name, text in {
        "__init__": "",
        "cli": "def run():\n    from vyre.used import thing",
        "used": "LAZY = 'vyre.late:Thing'",
        "late": "",
        "exam": "import vyre.used",
    }.items():
        path = tmp_path / "vyre" / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert unreached(modules(tmp_path), {"vyre", "vyre.cli"}) == {"vyre.exam"}


def lab_imports(text: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {m for m in found if m.partition(".")[0] in ("lab", "tests", "tools")}


def test_nothing_in_the_package_imports_the_lab_or_the_tests() -> None:
    files = modules(SOURCE).items()
    assert {n: m for n, p in files if (m := lab_imports(p.read_text(encoding="utf-8")))} == {}
    assert lab_imports("def f():\n    from lab.mutants import hunt") == {"lab.mutants"}
