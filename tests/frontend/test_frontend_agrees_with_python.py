"""Random expressions mean in a kernel what they mean in Python, modulo the width of the type."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

MASK = 0xFFFF_FFFF


class Word:
    """A u32 with the language's rules, for Python to compute with."""

    def __init__(self, value: int) -> None:
        self.value = int(value) & MASK

    def __add__(self, o: Any) -> Word:
        return Word(self.value + int(o))

    def __sub__(self, o: Any) -> Word:
        return Word(self.value - int(o))

    def __mul__(self, o: Any) -> Word:
        return Word(self.value * int(o))

    def __floordiv__(self, o: Any) -> Word:
        return Word(self.value // int(o) if int(o) else 0)

    def __mod__(self, o: Any) -> Word:
        return Word(self.value % int(o) if int(o) else 0)

    def __and__(self, o: Any) -> Word:
        return Word(self.value & int(o))

    def __or__(self, o: Any) -> Word:
        return Word(self.value | int(o))

    def __xor__(self, o: Any) -> Word:
        return Word(self.value ^ int(o))

    def __lshift__(self, o: Any) -> Word:
        return Word(self.value << (int(o) & 31))

    def __rshift__(self, o: Any) -> Word:
        return Word(self.value >> (int(o) & 31))

    def __neg__(self) -> Word:
        return Word(-self.value)

    def __invert__(self) -> Word:
        return Word(~self.value)

    def __lt__(self, o: Any) -> bool:
        return self.value < int(o)

    def __le__(self, o: Any) -> bool:
        return self.value <= int(o)

    def __gt__(self, o: Any) -> bool:
        return self.value > int(o)

    def __ge__(self, o: Any) -> bool:
        return self.value >= int(o)

    def __eq__(self, o: object) -> bool:
        return self.value == int(o)  # pyright: ignore[reportArgumentType]

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __int__(self) -> int:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0


def integers(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "z"])
    a, b = (integers(rng, depth - 1) for _ in "ab")
    c, d = (integers(rng, rng.randrange(depth)) for _ in "cd")
    op = rng.choice(["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"])
    small = rng.randrange(1, 40)
    return rng.choice(
        [
            f"({a} {op} {b})",
            f"({a} {op} {small})",
            f"(-{a})",
            f"(~{a})",
            f"({a} if {c} < {d} else {b})",
            f"({a} + ({c} <= {d} != {b}))",
            f"({a} ^ (not {c}))",
            f"({a} if {c} == {d} or {b} > {small} and {c} else {b})",
        ]
    )


def floats(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["x", "y", "z"])
    a, b, c = (floats(rng, depth - 1) for _ in "abc")
    literal = rng.choice(["0.1", "3", "1e-3", "-2.5"])
    op = rng.choice("+-*/")
    return rng.choice(
        [f"({a} {op} {b})", f"({a} {op} {literal})", f"(-{a})", f"({a} if {b} < {c} else f32({literal}))"]
    )


def kernel_text(element: str, lines: list[str]) -> str:
    body = "".join(f"    out[{i}] = {line}\n" for i, line in enumerate(lines))
    head = f"def k(out: Out[{element}], x: {element}, y: {element}, z: {element}):\n"
    return "@vyre.kernel(workgroup_size=1)\n" + head + body


@pytest.mark.parametrize("seed", range(6))
def test_integer_expressions(seed: int, load: Callable[[str], dict[str, Any]]) -> None:
    rng = random.Random(seed)
    lines = [integers(rng, 3) for _ in range(60)]
    kernel = load(kernel_text("u32", lines))["k"]
    for _ in range(3):
        values = [
            rng.choice([rng.getrandbits(32), rng.randrange(40), MASK - rng.randrange(3)]) for _ in "xyz"
        ]
        names = dict(zip("xyz", map(Word, values), strict=True))
        expected = [int(eval(line, {}, names)) for line in lines]
        assert kernel(len(lines), *values, workgroups=1).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_float_expressions(seed: int, load: Callable[[str], dict[str, Any]]) -> None:
    rng = random.Random(seed)
    lines = [floats(rng, 3) for _ in range(40)]
    kernel = load(kernel_text("f32", lines))["k"]
    values = [np.float32(rng.uniform(-9, 9)) for _ in "xyz"]
    names: dict[str, Any] = {**dict(zip("xyz", values, strict=True)), "f32": np.float32}
    with np.errstate(all="ignore"):
        expected = np.array([eval(line, {}, names) for line in lines], np.float32)
    result = kernel(len(lines), *values, workgroups=1)
    same = (result.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(result) & np.isnan(expected))
    assert same.all(), [lines[i] for i in np.flatnonzero(~same)]
