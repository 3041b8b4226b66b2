"""Programs in, programs out: what the passes over statements leave out, and what they must keep."""

from __future__ import annotations

import pytest

from vyre.ir import Program
from vyre.optimize import optimize

HEAD = """vyre 1
workgroup 4 1 1
buffer src: readonly U32 @0
buffer out: readwrite U32 @1
buffer cnt: readwrite U32[4] @2
"""


def program(body: str) -> Program:
    lines = "".join(f"  {line}\n" for line in body.strip("\n").splitlines())
    return Program.from_text(f"{HEAD}entry {{\n{lines}}}\n")


def check(before: str, after: str) -> None:
    assert optimize(program(before)).to_text() == program(after).to_text()


CASES = {
    "literals are folded and carried forward": (
        "let a = 3\nlet b = a * 4 + 1\nout[0] = b",
        "out[0] = 13",
    ),
    "copies are carried forward": (
        "let a = src[0]\nlet b = a\nlet c = b\nout[0] = c + c",
        "let a = src[0]\nout[0] = a + a",
    ),
    "a variable that is assigned is not carried": (
        "let a = 3\nif src[0] {\n  a := 4\n}\nout[0] = a",
        "let a = 3\nif src[0] {\n  a := 4\n}\nout[0] = a",
    ),
    "a copy of a variable that is assigned later keeps the old value": (
        "let a = src[0]\nlet b = a\na := src[1]\nout[0] = b\nout[1] = a",
        "let a = src[0]\nlet b = a\na := src[1]\nout[0] = b\nout[1] = a",
    ),
    "an unused load goes with its chain": (
        "let a = src[0]\nlet b = a + src[1]\nlet c = b * b\nout[0] = 1",
        "out[0] = 1",
    ),
    "a sum that nobody reads goes, loop and all": (
        "let sum = 0\nfor i in 0..len(src) {\n  sum := sum + src[i]\n}\nout[0] = 1",
        "out[0] = 1",
    ),
    "a decided branch is taken": (
        "if 1 < 2 {\n  out[0] = 1\n} else {\n  out[0] = 2\n}",
        "out[0] = 1",
    ),
    "a branch decided against leaves its else": (
        "if len(cnt) != len(cnt) {\n  out[0] = 1\n} else {\n  out[0] = 2\n}",
        "out[0] = 2",
    ),
    "an empty then-branch turns the condition round": (
        "if src[0] < 5 {\n} else {\n  out[0] = 2\n}",
        "if src[0] >= 5 {\n  out[0] = 2\n}",
    ),
    "an empty if vanishes with the loads of its condition": (
        "if src[0] {\n  let a = 1\n}\nout[0] = 2",
        "out[0] = 2",
    ),
    "a loop over nothing vanishes": (
        "for i in 5..3 {\n  out[i] = 1\n}\nfor j in len(src)..len(src) {\n  out[j] = 1\n}\nout[0] = 2",
        "out[0] = 2",
    ),
    "nothing follows a return": (
        "if src[0] {\n  out[0] = 1\n  return\n  out[0] = 2\n}\nout[1] = 3\nreturn\nout[2] = 4",
        "if src[0] {\n  out[0] = 1\n  return\n}\nout[1] = 3",
    ),
    "nothing follows an if that returns on both sides": (
        "if src[0] {\n  return\n} else {\n  out[0] = 1\n  return\n}\nout[1] = 3",
        "if src[0] {\n  return\n} else {\n  out[0] = 1\n  return\n}",
    ),
    "blocks are opened and their names kept apart": (
        "block {\n  let a = src[0]\n  out[0] = a\n}\nblock {\n  let a = src[1]\n  out[1] = a\n}",
        "let a = src[0]\nout[0] = a\nlet a_1 = src[1]\nout[1] = a_1",
    ),
    "an assignment that is overwritten goes": (
        "let a = src[0]\na := src[1]\na := src[2]\nout[0] = a",
        "let a = src[0]\na := src[2]\nout[0] = a",
    ),
    "an assignment that is read before it is overwritten stays": (
        "let a = src[0]\na := src[1]\na := a + src[2]\nout[0] = a",
        "let a = src[0]\na := src[1]\na := a + src[2]\nout[0] = a",
    ),
    "an assignment before an early return goes": (
        "let a = 5\nfor i in 0..4 {\n  out[i] = a\n  if i {\n    a := 1\n    return\n  }\n  a := a + 1\n}",
        "let a = 5\nfor i in 0..4 {\n  out[i] = a\n  if i {\n    return\n  }\n  a := a + 1\n}",
    ),
    "an assignment carried to the next round stays": (
        "let a = 0\nfor i in 0..4 {\n  out[i] = a\n  a := src[i]\n}",
        "let a = 0\nfor i in 0..4 {\n  out[i] = a\n  a := src[i]\n}",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_statements(name: str) -> None:
    check(*CASES[name])


KEPT = {
    "an unused atomic": "let old = atomic_add(cnt[0], 1)",
    "an atomic times zero": "out[0] = atomic_add(cnt[0], 1) * 0",
    "an atomic minus itself, which happens twice": "out[0] = atomic_add(cnt[0], 1) - atomic_add(cnt[0], 1)",
    "an atomic in the arm that is not chosen": "out[0] = select(1, src[0], atomic_add(cnt[0], 1))",
    "an atomic in the condition of an empty if": "if atomic_add(cnt[0], 1) {\n}",
    "an atomic in the bound of an empty loop": "for i in 0..atomic_add(cnt[0], 1) {\n}",
    "equal bounds that count": "for i in atomic_add(cnt[0], 1)..atomic_add(cnt[0], 1) {\n  out[i] = 1\n}",
    "an assignment whose value is an atomic": "let a = 0\na := atomic_add(cnt[0], 1)",
    "operands that would change places": "out[0] = -atomic_add(cnt[0], 1) + cnt[0]",
    "a choice whose arms would change places": "out[0] = select(!src[0], atomic_add(cnt[0], 1), cnt[0])",
    "an atomic in a lane that is not taken": ("out[0] = make<Vec2U32>(src[0], atomic_add(cnt[0], 1)).0"),
    "a store of what is there already": "out[0] = out[0]",
    "two stores to one place": "out[0] = 1\nout[0] = 2",
    "a load before a store from being merged with one behind it": (
        "let a = out[0]\nout[0] = 1\nlet b = out[0]\nout[1] = a - b"
    ),
    "a barrier": "barrier",
    "a float sum with zero, which may change a NaN": (
        "out[0] = cast<U32>(fadd(cast<F32>(src[0]), f32(0x00000000)))"
    ),
    "a float product with one": "out[0] = cast<U32>(fmul(cast<F32>(src[0]), f32(0x3F800000)))",
}


@pytest.mark.parametrize("name", KEPT)
def test_kept_as_it_is(name: str) -> None:
    check(KEPT[name], KEPT[name])


def test_an_effect_in_order_may_still_be_simplified() -> None:
    check(
        "out[0] = (atomic_add(cnt[0], 1 + 1) + 0) * 1 + 3 + 4",
        "out[0] = atomic_add(cnt[0], 2) + 7",
    )


def test_calls_are_inlined_first() -> None:
    check("out[0] = call integer.min(3, 5)", "out[0] = 3")


def test_conditions_after_inlining_leave_one_comparison() -> None:
    before = "if !(call primitive.compare.lt(src[0], 7) == 0) {\n  out[0] = 1\n}"
    check(before, "if src[0] < 7 {\n  out[0] = 1\n}")
