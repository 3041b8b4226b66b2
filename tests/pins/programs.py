"""The 500 programs of the pins: kept as text, because a generator draws others once the language grows.

kept()                             every program by its name
python -m tests.pins.programs      makes the collection anew: generated ones, the programs at the edges of
                                   the language, those of the engines, and a call of every library op

`xzcat tests/pins/data/programs.txt.xz` shows them; a line `// NAME` stands above each.
"""

from __future__ import annotations

import lzma
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.pins.doors import (
    Program,
    check,
    default_registry,
    edge_programs,
    engine_programs,
    generated,
    parse_program,
    print_program,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre import Op

DATA = Path(__file__).parent / "data"
ARCHIVE = DATA / "programs.txt.xz"
_SEEDS = {"integer": 120, "float": 50, "function": 10, "approximate": 10}
_STATEMENTS = {"integer": 7, "float": 4, "function": 1, "approximate": 2}


@cache
def kept() -> dict[str, Program]:
    """Every program of the collection by its name, in its order."""
    text = lzma.decompress(ARCHIVE.read_bytes()).decode()
    pieces = re.split(r"^// (.+)\n", text, flags=re.MULTILINE)
    return {name: parse_program(body) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _call_of(op: Op) -> Program:
    """One call, its operands from buffers whose size only the host knows."""
    buffers = [f"buffer x{n}: readonly {p.type.name} @{n}" for n, p in enumerate(op.params)]
    operands = ", ".join(f"x{n}[i]" for n in range(len(buffers)))
    result = f"buffer out: readwrite {op.output.name} @{len(buffers)}"
    entry = f"entry {{ let i = invocation.x  out[i] = call {op.id}({operands}) }}"
    return parse_program("\n".join(("vyre 1 workgroup 64", *buffers, result, entry)))


def _made() -> Iterator[tuple[str, Program]]:
    for kind, count in _SEEDS.items():
        for seed in range(count):
            yield f"{kind} {seed}", generated(kind, seed, statements=_STATEMENTS[kind])
    for name, program in edge_programs().items():
        yield f"edge {name}", program
    for name, program in engine_programs().items():
        yield f"engine {name}", program
    for op in sorted(default_registry(), key=lambda op: op.id):
        yield f"call {op.id}", _call_of(op)


def main() -> None:
    made = dict(_made())
    for program in made.values():
        check(program, allow_reserved=True)
    text = "".join(f"// {name}\n{print_program(program)}\n" for name, program in made.items())
    ARCHIVE.write_bytes(lzma.compress(text.encode(), preset=9))
    print(f"{ARCHIVE}: {len(made)} programs")


if __name__ == "__main__":
    main()
