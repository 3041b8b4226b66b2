"""How the house is built, in figures: rooms, lines, arrows, files of an operator, files visited.

    python tools/measure_house.py [ROOT]

ROOT is a checkout (this one by default), so that two states of the code can be compared with one measure. A
file counts as visited when one of its functions runs; what runs while modules are imported does not count.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

_FIRST_CALL = """
import numpy as np
import vyre
from vyre import In, Out, u32

@vyre.kernel
def hamming(a: In[u32], b: In[u32], out: Out[u32]):
    i = vyre.invocation_id(0)
    out[i] = vyre.popcount(a[i] ^ b[i])

print(hamming(np.array([1, 2, 3], np.uint32), np.array([3, 2, 0], np.uint32)))
"""
_ONE_LAW = """
from click.testing import CliRunner
from vyre.cli import main
CliRunner().invoke(main, ["laws", "primitive.math.mul_hi", "--tier", "witnessed"])
"""
_COUNTED = """
import sys, threading
seen, importing = set(), threading.local()
def watch(frame, event, argument):
    code = frame.f_code
    if code.co_filename.startswith("<frozen importlib"):
        if code.co_name == "_find_and_load":
            importing.depth = getattr(importing, "depth", 0) + {{"call": 1, "return": -1}}.get(event, 0)
    elif event == "call" and {package!r} in code.co_filename and not getattr(importing, "depth", 0):
        seen.add(code.co_filename)
threading.setprofile(watch)
sys.setprofile(watch)
exec(compile(open({script!r}).read(), {script!r}, "exec"))
sys.setprofile(None)
print("visited", len(seen))
"""


def modules(source: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found: dict[str, Path] = {}
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def arrows(known: dict[str, Path]) -> dict[str, set[str]]:
    """What each module imports, inside functions and for types too."""
    found: dict[str, set[str]] = {}
    for name, path in known.items():
        targets: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                targets |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets |= {i if i in known else node.module for i in inner}
        found[name] = {t for t in targets if t in known}
    return found


def two_way(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Siblings, at any level, that import each other."""
    pairs: Counter[tuple[str, str]] = Counter()
    for module, targets in graph.items():
        for target in targets:
            a, b = module.split("."), target.split(".")
            shared = next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
            if shared:
                pairs[".".join(a[: shared + 1]), ".".join(b[: shared + 1])] += 1
    return sorted((a, b) for a, b in pairs if a < b and (b, a) in pairs)


def visited(root: Path, script: str, work: Path) -> int:
    """How many files of the package a script passes through."""
    (work / "script.py").write_text(script, encoding="utf-8")
    package = str(root / "src" / "vyre")
    code = _COUNTED.format(package=package, script=str(work / "script.py"))
    environment = {"PYTHONPATH": f"{root / 'src'}", "XDG_CACHE_HOME": str(work), "VYRE_CACHE": str(work)}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return int(run.stdout.split()[-1])


def main() -> None:
    import tempfile

    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    source = root / "src" / "vyre"
    known = modules(root / "src")
    graph = arrows(known)
    rooms = [p.name for p in sorted(source.iterdir()) if (p / "__init__.py").exists()]
    inner = [p.name for p in sorted((source / "conform").iterdir()) if (p / "__init__.py").exists()]
    loose = [p for p in (source / "conform").glob("*.py") if p.name != "__init__.py"]
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in known.items()}
    in_conform = sum(n for name, n in lines.items() if name.startswith("vyre.conform"))
    print(f"rooms                      {len(rooms)}: {' '.join(rooms)}")
    print(f"rooms in conform           {len(inner)}: {' '.join(inner)}; loose files {len(loose)}")
    print(f"lines                      {sum(lines.values())}, in conform {in_conform}")
    print(f"files past 400 lines       {sum(n > 400 for n in lines.values())}")
    print(f"arrows between modules     {sum(map(len, graph.values()))}")
    both = two_way(graph)
    print(f"two-way arrows             {len(both)}: {', '.join(f'{a} <-> {b}' for a, b in both)}")
    named = [p for p in source.rglob("*.py") if "BinaryOp.MulHi" in p.read_text(encoding="utf-8")]
    print(f"files with BinaryOp.MulHi  {len(named)}")
    untyped = re.compile(r"\b(?:backend|inner|executable): Any\b")
    found = sum(len(untyped.findall(path.read_text(encoding="utf-8"))) for path in known.values())
    print(f"backends that are Any      {found}")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        print(f"visited by a first call    {visited(root, _FIRST_CALL, work)}")
        print(f"visited by one law         {visited(root, _ONE_LAW, work)}")


if __name__ == "__main__":
    main()
