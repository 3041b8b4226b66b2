"""Buffers that need no clearing: what they held before shows in no result."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import vyre
from vyre import Program
from vyre.obligations.written import fully_written

HEAD = """vyre 1
workgroup 4 1 1
buffer a: readonly U32 @0
buffer out: readwrite U32 @1
buffer log: readwrite U32 @2
"""


def program(body: str) -> Program:
    return Program.from_text(f"{HEAD}entry {{\n{body}\n}}")


WRITTEN = [
    "out[invocation.x] = 1",
    "let i = invocation.x\nlet j = i\nlog[0] = 3\nout[j] = a[j]",
    "let i = invocation.x\nif i < len(out) { out[i] = 1 }",
    "let i = invocation.x\nif len(out) > i { out[i] = 1 }",
    "let i = invocation.x\nif i >= len(out) { return }\nout[i] = 1",
    "let i = invocation.x\nif len(out) <= i { return }\nout[i] = 1",
    "let i = invocation.x\nif a[i] == 0 { out[i] = 1 } else { out[i] = 2 }",
    "let i = invocation.x\nfor k in 0..3 { log[k] = k }\nblock { out[i] = 1 }",
]
NOT_WRITTEN = [
    "log[0] = 1",
    "out[invocation.x + 1] = 1",
    "out[invocation.y] = 1",
    "out[local.x] = 1",
    "let i = invocation.x\nif i < len(a) { out[i] = 1 }",
    "let i = invocation.x\nif i <= len(out) { out[0] = 1 } else { out[i] = 1 }",
    "let i = invocation.x\nif i >= len(a) { return }\nout[i] = 1",
    "let i = invocation.x\nif a[i] == 0 { out[i] = 1 }",
    "let i = invocation.x\nif a[i] == 0 { return }\nout[i] = 1",
    "let i = invocation.x\nfor k in 0..a[0] { out[i] = k }",
    "let i = invocation.x\nfor k in 0..2 { if a[k] == 1 { return } }\nout[i] = 1",
    "let i = invocation.x\ni := i + 1\nout[i] = 1",
    "let i = invocation.x\nout[i] = 1\nlog[i] = out[i]",
    "let i = invocation.x\nlog[i] = out[i + 1]\nout[i] = 1",
    "let i = invocation.x\nlet old = atomic_add(out[i], 1)\nout[i] = 1",
    "let i = invocation.x\nblock { if a[i] == 0 { return } }\nout[i] = 1",
]


@pytest.mark.parametrize("body", WRITTEN)
def test_a_buffer_that_is_written_from_end_to_end_is_named(body: str) -> None:
    assert "out" in fully_written(program(body))


@pytest.mark.parametrize("body", NOT_WRITTEN)
def test_what_may_keep_an_element_is_not_named(body: str) -> None:
    assert "out" not in fully_written(program(body))


def statements(rng: Random, depth: int, variable: int = 0) -> str:
    """A block over `i`, the first id, that may store, branch, loop, read and leave."""
    lines: list[str] = []
    for _ in range(rng.randint(1, 3)):
        variable += 1
        match rng.randrange(9 if depth else 4):
            case 0 | 1:
                lines.append(f"out[{rng.choice(['i', 'i', 'i', 'i + 1', 'a[i] & 7'])}] = i + {variable}")
            case 2:
                lines.append(f"log[i] = {rng.choice(['a[i]', 'a[i]', 'out[i]', 'len(out)'])}")
            case 3:
                lines.append(rng.choice(["return", "log[0] = 2", "log[0] = 3"]))
                if lines[-1] == "return":
                    break
            case 4 | 5 | 6:
                sides = [("i", "len(out)"), ("len(out)", "i"), ("i", "len(a)"), ("a[i]", "3")]
                left, right = rng.choice(sides)
                test = f"{left} {rng.choice(['<', '>', '>=', '<='])} {right}"
                then, other = (statements(rng, depth - 1, 10 * variable + k) for k in range(2))
                orelse = f" else {{\n{other}\n}}" if rng.random() < 0.6 else ""
                lines.append(f"if {test} {{\n{then}\n}}{orelse}")
            case 7:
                inner = statements(rng, depth - 1, 10 * variable)
                name = f"k{depth}_{variable}"
                lines.append(f"for {name} in 0..{rng.choice(['2', 'a[0]'])} {{\n{inner}\n}}")
            case _:
                lines.append(f"block {{\n{statements(rng, depth - 1, 10 * variable)}\n}}")
    return "\n".join(lines)


def test_what_a_named_buffer_held_shows_nowhere() -> None:
    """Random programs, run on two different contents: alike wherever the claim is made, and not always."""
    rng, named, seen = Random(5), 0, 0
    for _ in range(300):
        found = program(f"let i = invocation.x\n{statements(rng, 2)}")
        a = np.array([rng.randrange(8) for _ in range(rng.choice([2, 6]))], np.uint32)
        size = rng.choice([1, 4, 7])
        results = [
            vyre.dispatch(
                found,
                {"a": a, "out": np.full(size, fill, np.uint32), "log": np.zeros(9, np.uint32)},
                backend="reference",
                workgroups=2,
            )
            for fill in (0, 0xDEAD)
        ]
        alike = all(np.array_equal(results[0][name], results[1][name]) for name in ("out", "log"))
        seen += not alike
        if "out" in fully_written(found):
            named += 1
            assert alike, str(found)
    assert named > 30
    assert seen > 30, "the control: contents that matter are seen"
