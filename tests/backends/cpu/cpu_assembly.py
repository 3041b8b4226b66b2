"""Machine code as text, always for a processor that the test names, so that no host changes what is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.backends.cpu.compiling import assembly, native_ways
from vyre.lower.llvm import emit
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from vyre.ir import Program
    from vyre.lower.ways import Ways

V2, V3, V4 = "x86-64-v2", "x86-64-v3", "x86-64-v4"


def listing(program: Program, cpu: str = V3, *, ways: Ways | None = None) -> str:
    """The whole module, with the float operations that are native there unless told otherwise."""
    return assembly(emit(prepare(program, ways=native_ways(cpu) if ways is None else ways)), cpu)


def in_range(program: Program, cpu: str = V3) -> str:
    """The fast version alone."""
    found = re.search(r"_in_range:(.*?)\.Lfunc_end", listing(program, cpu), re.DOTALL)
    assert found
    return found[1]


def loops_of(text: str) -> list[list[str]]:
    """Innermost loops of a listing: the lines from a label to a jump back to it."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("\t.")]
    labels = {line[:-1]: k for k, line in enumerate(lines) if line.endswith(":")}
    found: list[list[str]] = []
    for k, line in enumerate(lines):
        target = re.match(r"j\w+\s+(\S+)", line)
        start = labels.get(target[1], k) if target else k
        if start < k and not any(x.endswith(":") for x in lines[start + 1 : k]):
            found.append(lines[start : k + 1])
    return found
