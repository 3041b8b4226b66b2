"""Imports point one way, between the rooms and inside them; heavy modules load only where they are needed."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCE = Path(__file__).parent.parent / "src" / "vyre"

ALLOWED: dict[str, set[str]] = {
    "slotted": set(),
    "sha": set(),
    "errors": set(),
    "disk": {"errors"},
    "ir": {"errors"},
    "ops": {"errors", "ir"},
    "compose": {"errors", "ir", "ops"},
    "graph": {"errors", "ir", "compose"},
    "text": {"errors", "ir", "graph"},
    "wire": {"errors", "ir", "graph"},
    "validate": {"errors", "ir", "compose", "text"},
    "reference": {"errors", "ir", "compose", "validate", "graph"},
    "semantics": {"errors", "disk", "ir", "compose"},
    "numeric": {"errors", "ir", "compose", "wire"},
    "obligations": {"ir"},
    "optimize": {"errors", "ir", "compose", "reference", "obligations"},
    "lower": {"errors", "ir", "compose", "optimize", "numeric", "obligations"},
    "backends": {"errors", "disk", "ir", "compose", "wire", "validate", "reference", "lower", "obligations"},
    "watch": {"errors", "ir", "validate", "reference", "backends"},
    "frontend": {"errors", "ir", "compose", "validate", "reference", "backends", "watch"},
    "engines": {"errors", "ir", "compose", "backends"},
    "library": {"errors", "ir", "backends", "frontend", "engines"},
    "planning": {"errors", "ir", "graph", "compose", "backends", "engines", "wire"},
    "tensor": {"errors", "ir", "graph", "planning", "reference", "backends", "engines"},
    "nn": {"errors", "files", "ir", "graph", "tensor"},
    "onnx": {"errors", "ir", "graph", "planning", "tensor", "nn", "backends"},
    "conform": {
        "errors",
        "disk",
        "ir",
        "graph",
        "planning",
        "tensor",
        "nn",
        "compose",
        "ops",
        "text",
        "wire",
        "validate",
        "semantics",
        "reference",
        "optimize",
        "backends",
        "engines",
        "library",
    },
    "report": {"errors", "conform"},
    "files": {"errors"},
    "certification": {"errors", "files", "backends", "conform", "report"},
    "__main__": {"cli"},
    "cli": {
        "errors",
        "ir",
        "graph",
        "frontend",
        "compose",
        "text",
        "wire",
        "validate",
        "watch",
        "semantics",
        "lower",
        "backends",
        "conform",
        "certification",
        "files",
    },
}
"""Which rooms a room may import from, beside `slotted`, how every class of records is defined, and `sha`."""

FILE_EXCEPTIONS = {
    "conform/registry/vanishing.py": {"lower"},
    "conform/verify/stages/evidence.py": {"numeric"},
}
"""Single files that reach further: what certification says about the code that it certifies, it must look at.
The oracles and the specification must not."""


CONFORM = (
    "spec",
    "records",
    "process",
    "oracle",
    "generate",
    "shapes",
    "registry",
    "algebra",
    "diff",
    "verify",
    "suite",
    "certify",
    "permanence",
)
"""The rooms of conform, each of which may import those before it."""

BACKENDS_FOR_CONFORM = {
    "canaries": "what a backend was examined with is in its certificate",
    "dispatch": "the door that a user takes is one of the things under test",
    "execute": "one program on one backend, bytes in and bytes out",
    "float_state": "the processor's float state, which a run must find and leave as it is",
    "host": "how arrays become bytes",
    "host_memory": "memory that stays where it is",
    "kernel_cache": "where compiled kernels are kept between processes",
    "protocol": "what a backend is",
    "storage": "the dtype that holds each element type",
}
"""What conform may import of backends: every backend is reached by protocol, none by its package."""

RUNTIMES = ("cpu", "cuda", "opencl", "reference", "webgpu")
DOORS = {
    "agreed",
    "capture",
    "chosen",
    "conventions",
    "device_buffer",
    "dispatch",
    "registry",
    "resident",
    "step_limit",
}
"""What lies above the runtimes in backends: the calls of users, which find a backend by its name."""

DOORS_FOR_RUNTIMES = {"cuda": {"device_buffer"}}
"""An array of another library on a GPU becomes a device buffer in the runtime of that GPU."""

BELOW_LANGUAGES = {"llvm", "wgsl", "cuda", "opencl"}
"""The languages of lower, none of which imports another; of what they share, only the tables of all of them
(`languages`, `manifest`) may know them, and those by name."""


LAZY_METHODS = ("to_text", "to_wire", "from_text", "from_wire")


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "vyre" and len(parts) > 1 else None


def imports(tree: ast.AST) -> set[str]:
    """Every module that may be meant, in functions and for type checkers too. `Program.to_text` and its like,
    and those of `Graph`, import their format when they are called: the one convenience that points back."""
    skipped: set[ast.AST] = set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in ("Program", "Graph"):
            methods = [m for m in node.body if isinstance(m, ast.FunctionDef)]
            lazy = [m for m in methods if m.name in LAZY_METHODS]
            skipped |= {inner for m in lazy for inner in ast.walk(m)}
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{a.name}" for a in node.names}
    return found


def broken_arrows(room: str, source: str) -> set[str]:
    rooms = {room_of(m) for m in imports(ast.parse(source))} - {None, room}
    return {str(r) for r in rooms if r in ALLOWED} - ALLOWED[room] - {"slotted", "sha"}


def rooms_inside(package: str, source: str) -> set[str]:
    """The children of a package that a source imports."""
    prefix = f"{package}."
    return {m.removeprefix(prefix).split(".")[0] for m in imports(ast.parse(source)) if m.startswith(prefix)}


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


def from_outside(source: str) -> set[str]:
    """What a file imports of this repository that is not in the wheel."""
    return {m.split(".")[0] for m in imports(ast.parse(source))} & {"lab", "tests", "tools", "benchmarks"}


def test_the_wheel_knows_neither_the_lab_nor_the_tests() -> None:
    for _, path in files():
        assert from_outside(path.read_text()) == set(), path
    assert from_outside("def f():\n    from lab.mutants import hunt\nimport tests.wrong") == {"lab", "tests"}


def conform_faults(room: str, source: str) -> set[str]:
    """Rooms of conform that a room above reaches down to, or one beside or below that it must not know."""
    known = CONFORM[: CONFORM.index(room) + 1]
    return (rooms_inside("vyre.conform", source) & set(CONFORM)) - set(known)


def inhabited(folder: Path) -> set[str]:
    """The files of a folder, and its folders that have modules."""
    return {p.name for p in folder.iterdir() if p.is_file() or any(p.glob("*.py"))}


def test_a_loose_file_is_seen(tmp_path: Path) -> None:
    for name in ("spec/op.py", "left/__pycache__/op.pyc", "loose.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert inhabited(tmp_path) == {"spec", "loose.py"}


def test_the_rooms_of_conform_import_downwards() -> None:
    found = inhabited(SOURCE / "conform")
    assert found == {*CONFORM, "__init__.py"}, "conform has no loose files, and all rooms are in CONFORM"
    for path in sorted((SOURCE / "conform").rglob("*.py")):
        room = path.relative_to(SOURCE / "conform").parts[0]
        if room != "__init__.py":
            assert conform_faults(room, path.read_text()) == set(), path


def backend_faults(source: str) -> set[str]:
    """What a file of conform imports of backends and must not."""
    children = {p.name.removesuffix(".py") for p in (SOURCE / "backends").iterdir()}
    return (rooms_inside("vyre.backends", source) & children) - BACKENDS_FOR_CONFORM.keys()


def test_conform_reaches_backends_by_protocol() -> None:
    for path in sorted((SOURCE / "conform").rglob("*.py")):
        assert backend_faults(path.read_text()) == set(), path
    runtime = "from vyre.backends.cpu.backend import CpuBackend"
    assert backend_faults(runtime) == {"cpu"}


def runtime_faults(room: str, source: str) -> set[str]:
    """What a child of backends imports and must not: another runtime, or a door."""
    doors = DOORS - DOORS_FOR_RUNTIMES.get(room, set[str]()) if room not in DOORS else set[str]()
    return (rooms_inside("vyre.backends", source) - {room}) & {*RUNTIMES, *doors}


def test_runtimes_do_not_know_each_other() -> None:
    for path in sorted((SOURCE / "backends").rglob("*.py")):
        room = path.relative_to(SOURCE / "backends").parts[0].removesuffix(".py")
        if room != "__init__":
            assert runtime_faults(room, path.read_text()) == set(), path


def language_faults(room: str, source: str) -> set[str]:
    return (rooms_inside("vyre.lower", source) - {room}) & BELOW_LANGUAGES


def test_languages_do_not_know_each_other() -> None:
    for path in sorted((SOURCE / "lower").rglob("*.py")):
        room = path.relative_to(SOURCE / "lower").parts[0].removesuffix(".py")
        if room != "__init__":
            assert language_faults(room, path.read_text()) == set(), path


def test_a_wrong_arrow_inside_a_room_is_seen() -> None:
    assert conform_faults("spec", "from vyre.conform.verify.bench import Bench") == {"verify"}
    assert conform_faults("verify", "from vyre.conform import certify, spec") == {"certify"}
    assert runtime_faults("cpu", "def f():\n    import vyre.backends.cuda.backend") == {"cuda"}
    assert runtime_faults("cuda", "from vyre.backends.dispatch import dispatch") == {"dispatch"}
    assert runtime_faults("subgroups", "from vyre.backends.webgpu import backend") == {"webgpu"}
    assert language_faults("clike", "from vyre.lower.llvm.watch import Watch") == {"llvm"}


def import_graph(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Which of the modules each imports. The package's own `__init__` and `errors` do not count."""
    free = {"vyre", "vyre.errors"}
    graph: dict[str, set[str]] = {}
    for module, source in sources.items():
        named = imports(ast.parse(source))
        # Of `from a.b import c`, both `a.b` and `a.b.c` are named; where the second is a module, it is meant.
        graph[module] = {m for m in named if m in sources} - {module} if module not in free else set()
    return graph


def circles(graph: Mapping[str, set[str]]) -> list[str]:
    """At every level of the tree: the siblings that import each other, straight or in a circle."""
    packages = {m.rsplit(".", n)[0] for m in graph for n in range(1, m.count(".") + 1)}
    found: list[str] = []
    for package in sorted(packages):
        prefix = f"{package}."
        arrows: dict[str, set[str]] = {}
        for module, targets in graph.items():
            if not module.startswith(prefix):
                continue
            child = module.removeprefix(prefix).split(".")[0]
            below = {t.removeprefix(prefix).split(".")[0] for t in targets if t.startswith(prefix)}
            arrows.setdefault(child, set()).update(below - {child})
        while outside := _ends(arrows):
            arrows = {child: targets for child, targets in arrows.items() if child not in outside}
        if arrows:
            found.append(f"{package}: {', '.join(sorted(arrows))}")
    return found


def _ends(arrows: Mapping[str, set[str]]) -> set[str]:
    """Those that import none of the others, or that none imports: they are in no circle."""
    reached = {target for targets in arrows.values() for target in targets}
    return {child for child, targets in arrows.items() if not targets & arrows.keys() or child not in reached}


def sources_of(folder: Path, name: str) -> dict[str, str]:
    paths = {".".join((name, *p.relative_to(folder).with_suffix("").parts)): p for p in folder.rglob("*.py")}
    return {module.removesuffix(".__init__"): path.read_text() for module, path in sorted(paths.items())}


@pytest.mark.parametrize("folder", [SOURCE, SOURCE.parent.parent / "lab"], ids=["vyre", "lab"])
def test_no_siblings_import_each_other(folder: Path) -> None:
    assert circles(import_graph(sources_of(folder, folder.name))) == []


def test_a_circle_is_seen_at_every_level() -> None:
    below = "def f():\n    from vyre.a.y import g"
    typed = "if TYPE_CHECKING:\n    from vyre.a import x"
    assert circles(import_graph({"vyre.a.x": below, "vyre.a.y": typed})) == ["vyre.a: x, y"]
    rooms = {"vyre.a.x": "import vyre.b.y", "vyre.b.y": "", "vyre.b.z": "from vyre.a import x"}
    assert circles(import_graph(rooms)) == ["vyre: a, b"]
    long = {
        "vyre.a": "import vyre.b",
        "vyre.b": "import vyre.c",
        "vyre.c": "import vyre.a",
        "vyre.d": "import vyre.a",
    }
    assert circles(import_graph(long)) == ["vyre: a, b, c"]
    assert circles(import_graph({"vyre.a": "import vyre.b", "vyre.b": "import vyre.errors"})) == []


def test_programs_print_and_read_themselves_and_nothing_else_points_back() -> None:
    method = "class Program:\n    def {}(self):\n        from vyre.text import print_program"
    below = {"vyre.text": "import vyre.ir"}
    assert circles(import_graph({"vyre.ir": method.format("to_text"), **below})) == []
    assert circles(import_graph({"vyre.ir": method.format("shown"), **below})) == ["vyre: ir, text"]
    other = method.format("to_text").replace("Program", "Node")
    assert circles(import_graph({"vyre.ir": other, **below})) == ["vyre: ir, text"]


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
