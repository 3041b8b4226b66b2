"""The console shows one failure of each op, and counts the others beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.made_up import ADD, NOT, failure, perfect
from vyre.conform.certify.summary import summary


def test_one_of_each_op_and_the_count_of_the_rest() -> None:
    many = [replace(failure(ADD), case=f"{ADD}/inputs/{k:#x}") for k in range(9)]
    others = [failure(f"primitive.made_up.op{k}") for k in range(8)]
    results = replace(perfect(ADD, NOT), failures=(*many, failure(NOT), *others))
    lines = summary(results, [], width=200)
    text = "\n".join("".join(part for part, _ in line) for line in lines)
    assert text.count("\n✗ primitive") == 6
    assert f"… and 8 more of {ADD}" in text
    assert f"more of {NOT}" not in text
    assert "… and of 4 more: primitive.made_up.op4 (1), " in text
    assert "The certificate has every one of them." in text


def test_failures_of_a_stage_are_grouped_by_what_they_try() -> None:
    rows = [replace(failure(""), case=f"golden/primitive.bitwise.shr/golden/{k}") for k in (3, 7)]
    programs = [replace(failure(""), case=f"programs/{k}") for k in (1, 2, 3)]
    lines = summary(replace(perfect(ADD), failures=(*rows, *programs)), [], width=200)
    text = "\n".join("".join(part for part, _ in line) for line in lines)
    assert "… and 1 more of golden/primitive.bitwise.shr" in text
    assert "… and 2 more of programs" in text
