"""A file is one idea, and a name means one thing."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent.parent
CODE = ("src", "lab", "tools", "benchmarks", "tests")
MOST_LINES = 400

TOO_VAGUE = ("floats.py", "helpers.py", "inputs.py", "misc.py", "report.py", "util.py", "utils.py")
"""Names of files that say nothing about their room: at most one file of the source may have each."""

WORDS = {
    "Access": "a finding of the interpreter; an access that the LLVM emitter orders",
    "Bar": "a bar of a chart; the bar of the terminal",
    "Block": "the statement; a block of a run's cases",
    "Body": "the statements between braces; a block with its path",
    "Bound": "arguments bound to parameters; arrays bound to buffers",
    "Buffer": "a parameter of a kernel; memory of the interpreter",
    "Claim": "a share of device memory; what an analysis says of an index",
    "Compiled": "a program ready to run; a law ready to check",
    "Constant": "a leaf of a law; a folded value; a node of a graph",
    "Cursor": "a place in text; a place in bytes",
    "Divergence": "between backends; between the invocations of a workgroup",
    "Evidence": "for a law; for a function",
    "Fault": "of a call; of a value in a graph",
    "Field": "of a document; of a wire layout",
    "Function": "an op in generated source; a mathematical function",
    "Graph": "of tensors; of laws",
    "HostMemory": "of an engine's run; of the backends on the processor",
    "Input": "of a specified program; of a graph",
    "Launch": "a step of an engine; a dispatch in WebGPU",
    "Limited": "a run with a step limit; a linear form with bounds",
    "Local": "a name in a kernel's scope; a name that inlining renames",
    "Location": "of an engine's promise; of an access",
    "Memory": "of an engine's steps; of a bench",
    "Node": "a statement; a node of the graph of laws",
    "Order": "in which invocations run; in which accesses may be made",
    "Place": "of a shard; of a statement",
    "Prepared": "an engine with its inputs; a program in normal form",
    "Proof": "of a law; of a rewriting rule",
    "Reduce": "a node of a graph; an instruction of the interpreter",
    "Report": "of validation; of the interpreter; of a certificate",
    "Row": "of the page; of the table of levels; of the golden file",
    "Rule": "of validation; of the optimiser; of an obligation; of a document's field",
    "Run": "of strands; of a certification",
    "Runner": "of engines; of truth",
    "Scope": "of a kernel's names; of a generated program",
    "Segment": "of shared memory; of straight code",
    "Size": "of an axis; of a kernel",
    "Source": "the user's text; the text of a lowering",
    "State": "of an invocation; of what an analysis knows",
    "Step": "of an engine; of a sequence of dispatches",
    "Store": "the statement; where failures are kept",
    "Table": "of interned values in the wire form; of columns",
    "Translation": "of a kernel; of an expression to SMT",
    "Value": "in a kernel's source; in the graph of laws",
}
"""Words of several rooms, which no file needs from two of them."""

IN_ONE_ROOM = {
    "Operation": "of the float oracle; of a golden row",
    "Row": "of the table of levels; of the golden file",
}
"""Those of which one room has two, in packages that do not meet."""


def too_long(sources: Mapping[str, str]) -> list[str]:
    return [path for path, text in sources.items() if text.count("\n") > MOST_LINES]


def public_classes(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """By name, the files that define a public class of it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for path, text in sources.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def shared_in_a_room(sources: Mapping[str, str]) -> set[str]:
    """Names that several public classes of one top room have."""
    rooms = {name: Counter(p.split("/")[2] for p in paths) for name, paths in public_classes(sources).items()}
    return {name for name, count in rooms.items() if max(count.values()) > 1}


def vague(paths: list[str]) -> list[str]:
    names = Counter(path.rsplit("/", 1)[-1] for path in paths)
    return [name for name in TOO_VAGUE if names[name] > 1]


def read(*folders: str) -> dict[str, str]:
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    return {path.relative_to(ROOT).as_posix(): path.read_text() for path in found}


def test_no_file_is_long() -> None:
    assert too_long(read(*CODE)) == []


def test_a_long_file_is_seen() -> None:
    assert too_long({"a.py": "\n" * 401, "b.py": "\n" * 400}) == ["a.py"]


def test_a_class_has_a_name_of_its_own() -> None:
    sources = read("src")
    # Both ways: an exception that nothing needs any more would let the next clash pass.
    assert shared_in_a_room(sources) == IN_ONE_ROOM.keys()
    assert public_classes(sources).keys() == IN_ONE_ROOM.keys() | WORDS.keys()


def test_a_name_that_is_taken_is_seen() -> None:
    sources = {"src/vyre/ir/a.py": "class Plan: ...", "src/vyre/ir/b.py": "class Plan: ...\nclass _Own: ..."}
    assert shared_in_a_room(sources) == {"Plan"}
    elsewhere = {"src/vyre/ir/a.py": "class Plan: ...", "src/vyre/wire/b.py": "class Plan: ..."}
    assert shared_in_a_room(elsewhere) == set()
    assert public_classes(elsewhere) == {"Plan": ["src/vyre/ir/a.py", "src/vyre/wire/b.py"]}


def test_a_file_says_what_it_is_about() -> None:
    assert vague(list(read("src", "lab"))) == []
    assert vague(["src/vyre/a/floats.py", "src/vyre/b/floats.py", "src/vyre/b/order.py"]) == ["floats.py"]
