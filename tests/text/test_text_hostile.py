"""Five megabytes of nonsense are refused in little time and memory, wherever they stand."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from time import process_time
from typing import TYPE_CHECKING

import pytest

from vyre.errors import ParseError
from vyre.ir.limits import MAX_NODES
from vyre.text import parse_expr, parse_op, parse_program

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 5_000_000
BODY = "vyre 1\nworkgroup 64\nentry {\n"
NONSENSE = {
    "braces": "{" * SIZE,
    "parentheses": "(" * SIZE,
    "digits": "1" * SIZE,
    "hexadecimal": "0x" + "f" * SIZE,
    "an identifier": "a" * SIZE,
    "newlines": "\n" * SIZE,
    "a comment": "//" + "x" * SIZE,
    "an open comment": "/*" + "*" * SIZE,
    "comments": "/**/" * (SIZE // 4),
    "a string": '"' + "x" * SIZE + '"',
    "an open string": '"' + "x" * SIZE,
    "escapes": '"' + "\\\\" * (SIZE // 20) + '"',
    "quoted escapes": "`" + "\\u{41}" * (SIZE // 60) + "`",
    "semicolons": ";" * SIZE,
    "signs": "-" * SIZE,
    "calls": "f(" * (SIZE // 2),
    "statements": "let x = 1\n" * (SIZE // 10),
    "dots": "." * SIZE,
    "decimals": "1.5 " * (SIZE // 4),
    "letters of others": "é" * SIZE,
}
MEMORY = 64 << 20
"""Bytes beyond the text itself, which takes five million."""


@pytest.mark.parametrize(
    "head", ["", BODY, BODY + "let y = "], ids=["alone", "in a body", "in an expression"]
)
@pytest.mark.parametrize("what", NONSENSE)
def test_it_is_refused_in_little_memory(what: str, head: str) -> None:
    text = head + NONSENSE[what]
    started = process_time()
    tracemalloc.start()
    try:
        with pytest.raises(ParseError) as caught:
            parse_program(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MEMORY
    assert process_time() - started < 60
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("parse", [parse_expr, parse_op])
def test_expressions_and_ops_are_refused_as_early(parse: Callable[[str], object]) -> None:
    text = NONSENSE["braces"]
    tracemalloc.start()
    try:
        with pytest.raises(ParseError):
            parse(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_a_process_takes_no_more_either() -> None:
    """What tracemalloc does not see: the stack of the regular expressions."""
    code = (
        "import resource, sys\nfrom vyre.errors import ParseError\nfrom vyre.text import parse_program\n"
        f"text = sys.argv[1] * ({SIZE} // len(sys.argv[1]))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    parse_program('`' + text + '`')\nexcept ParseError:\n    pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    for piece in ("{", "\\`", "\\\\x"):
        run = subprocess.run([sys.executable, "-c", code, piece], capture_output=True, text=True, check=True)
        assert int(run.stdout) < 100_000, piece  # kilobytes


def test_semicolons_between_all_statements_are_fine() -> None:
    many = MAX_NODES // 4
    program = parse_program(f"{BODY}{'let x = 1;;' * many}\n}}")
    assert len(program.entry) == many


def test_tokens_far_behind_the_first_chunk_are_read() -> None:
    body = "\n".join(f"let x{k} = {k} + `a b`" for k in range(5_000))
    program = parse_program(f"{BODY}{body}\n}}")
    assert parse_program(program.to_text()) == program
    with pytest.raises(ParseError, match=r":5004:1: .*expected a statement"):
        parse_program(f"{BODY}{body}\n)")
