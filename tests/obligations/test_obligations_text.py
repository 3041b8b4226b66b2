"""What LLVM is told without a check: each kind of promise stands only where its reason stands beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from lab.bulk.guard_programs import guard_case
from vyre.conform.diff.differential import INTEGER_PROGRAMS
from vyre.conform.generate.programs import generate_program
from vyre.ir import Atomic
from vyre.ir.walk import expressions
from vyre.lower.languages import lower
from vyre.lower.prepare import prepare

if TYPE_CHECKING:
    from vyre.ir import Program

_COUNTER = re.compile(r"%(\S+?)(\.next)? = add nuw (i32|i64) %(\S+), 1$")
_PROMISES = re.compile(
    r"\b(nsw|exact|disjoint|nneg|samesign|inrange|fast|nnan|ninf|nsz|arcp|contract|reassoc|afn|dereferenceable"
    r"|nonnull|noundef|assume|unreachable|invariant|range|speculatable|mustprogress)\b"
)


def programs() -> list[Program]:
    made = [guard_case(seed).program for seed in range(25)]
    return made + [generate_program(seed, INTEGER_PROGRAMS).program for seed in range(25)]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [lower(program, "llvm").text for program in programs()]


def test_nothing_else_is_promised(texts: list[str]) -> None:
    for text in texts:
        found = [line for line in text.splitlines() if _PROMISES.search(line)]
        assert found == []


def test_a_counter_is_below_its_end_where_it_is_counted_up(texts: list[str]) -> None:
    """`add nuw` stands behind `icmp ult counter, end` alone: what is below something is not the greatest."""
    counted = 0
    for text in texts:
        for function in text.split("\ndefine ")[1:]:
            for line in function.splitlines():
                if " nuw " not in line:
                    continue
                match = _COUNTER.search(line.strip())
                assert match, line
                following = line.strip().split(" ", 1)[0]
                assert re.search(rf"icmp ult {match[3]} {re.escape(following)}, ", function), line
                counted += 1
    assert counted > 100


def test_buffers_are_said_to_be_apart_only_as_parameters(texts: list[str]) -> None:
    """The host refuses bindings that overlap; what is changed by atomics, other threads change too."""
    shared = 0
    for program, text in zip(programs(), texts, strict=True):
        for line in text.splitlines():
            assert "noalias" not in line or line.startswith("define internal void"), line
        atomic = {x.buffer for x in expressions(prepare(program).entry) if isinstance(x, Atomic)}
        for name in atomic & {b.name for b in program.buffers if not b.access.shared}:
            assert f"noalias %b_{name}," not in text
            shared += f"%b_{name}," in text
    assert shared


@pytest.mark.parametrize("language", ["cuda", "opencl"])
def test_only_what_nobody_writes_is_restrict(language: str) -> None:
    seen = 0
    for program in programs()[:20]:
        for line in lower(program, language).text.splitlines():
            if "restrict" in line:
                seen += 1
                assert "const" in line, line
    assert seen
