"""What a `Break` means to the optimizer: it takes the values of now along, and ends the innermost loop."""

from __future__ import annotations

import pytest

from tests.optimize.test_optimize_statements import program
from vyre.ir.environment import Types
from vyre.ir.walk import statements
from vyre.obligations.check import Checker
from vyre.optimize import optimize
from vyre.optimize.bounds import accesses, proven_accesses
from vyre.optimize.unique import unique_names

CASES = {
    "an assignment before a break is kept": (
        "let x = 0\nfor i in 0..9 {\n  x := i\n  if src[i] {\n    break\n  }\n  x := 7\n}\nout[0] = x",
        None,
    ),
    "one that only the turn itself could see goes": (
        "for i in 0..9 {\n  let x = i\n  x := 6\n  if src[i] {\n    break\n  }\n  x := 7\n  out[i] = 1\n}",
        "for i in 0..9 {\n  if src[i] {\n    break\n  }\n  out[i] = 1\n}",
    ),
    "what decides a break of a loop that is seen is kept": (
        "let x = 0\nfor i in 0..9 {\n  if x > 4 {\n    break\n  }\n  x := x + src[i]\n  out[i] = 1\n}",
        None,
    ),
    "a loop in which only breaks are left goes": (
        "let x = 0\nfor i in 0..9 {\n  x := x + 1\n  if src[i] {\n    break\n  }\n}\nout[0] = 1",
        "out[0] = 1",
    ),
    "a break of an inner loop is not the outer one's": (
        "for i in 0..9 {\n  for j in 0..9 {\n    if src[j] {\n      break\n    }\n  }\n  out[i] = 1\n}",
        "for i in 0..9 {\n  out[i] = 1\n}",
    ),
    "what follows a break is not reached": (
        "for i in 0..9 {\n  out[i] = 1\n  break\n  out[i] = 2\n}",
        "for i in 0..9 {\n  out[i] = 1\n  break\n}",
    ),
    "what follows two branches that leave is not reached": (
        "for i in 0..9 {\n  if i {\n    out[0] = 1\n    break\n  } else {\n    return\n  }\n  out[1] = 2\n}",
        "for i in 0..9 {\n  if i {\n    out[0] = 1\n    break\n  } else {\n    return\n  }\n}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_breaks_in_programs(name: str) -> None:
    before, after = CASES[name]
    assert optimize(program(before)).to_text() == program(before if after is None else after).to_text()


def proven(body: str) -> list[bool]:
    """For each store to `out`, in order, whether it was shown to be in bounds and verified."""
    tried = program(body)
    entry = unique_names(tried.entry)
    found = proven_accesses(entry, tried.buffers, tried.workgroup_size)
    types = Types.of(entry, tried.buffers)
    checker = Checker(entry, tried.buffers, tried.workgroup_size, types.type)
    answers: list[bool] = []
    for number, (_, node) in enumerate(statements(entry)):
        for buffer, index in accesses(node):
            claim = found.proven.get((number, buffer, index))
            if buffer == "cnt":
                answers.append(claim is not None and checker.inside(claim, number, buffer, index))
    return answers


BOUNDS = {
    "behind a break the condition is known": ("for i in 0..99 { if i > 3 { break } cnt[i] = 1 }", [True]),
    "after the loop it is not": (
        "let n = 0 for i in 0..99 { n := i if i > 3 { break } } cnt[n] = 1",
        [False],
    ),
    "nor is what the other turns assigned": (
        "let n = 0 for i in 0..9 { if src[i] { n := 77 break } n := 1 } cnt[n] = 1",
        [False],
    ),
    "a break of an inner loop tells nothing about the outer one": (
        "for i in 0..99 { for j in 0..9 { if i > 3 { break } } cnt[i] = 1 }",
        [False],
    ),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_around_breaks(name: str) -> None:
    body, expected = BOUNDS[name]
    assert proven(body) == expected
