"""Polynomials in a fixed-point argument.

A polynomial of N limbs is a list of integers in units of 2^(-32N), lowest degree first, for an argument
between 0 and 1. The coefficients fall off, so the first steps of Horner's rule fit in the lowest limb, the
next in the lowest two, and so on: each step works on the limbs that can be nonzero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32
from vyre.numeric.functions.limbs import chosen, flipped, literal, minus, plus, product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.expr import Expr
    from vyre.numeric.functions.limbs import Words
    from vyre.numeric.functions.script import Script


def rising(s: Script, x: Words, coefficients: Sequence[int], count: int) -> Words:
    """`c0 + c1 x + c2 x^2 + …` for coefficients that are all positive, in `count` limbs."""
    total = _start(coefficients)
    for c, size in _steps(coefficients, count):
        total = plus(s, literal(c, size), _widened(_times(s, x, total), size))
    return total


def alternating(s: Script, x: Words, coefficients: Sequence[int], count: int) -> Words:
    """`c0 - c1 x + c2 x^2 - …` for the sizes of coefficients whose signs alternate."""
    total = _start(coefficients)
    for c, size in _steps(coefficients, count):
        total = minus(s, literal(c, size), _widened(_times(s, x, total), size))
    return total


def alternating_either(
    s: Script, x: Words, condition: Expr, yes: Sequence[int], no: Sequence[int], count: int
) -> Words:
    """`alternating` with one of two lists of coefficients of equal length."""
    both = [max(pair) for pair in zip(yes, no, strict=True)]
    sizes = [_limbs(both[-1]), *(size for _, size in _steps(both, count))]
    total: Words = ()
    for size, first, second in zip(sizes, reversed(yes), reversed(no), strict=True):
        c = chosen(s, condition, literal(first, size), literal(second, size))
        total = minus(s, c, _widened(_times(s, x, total), size)) if total else c
    return total


def signed(s: Script, x: Words, sign: Expr, coefficients: Sequence[int], count: int) -> Words:
    """`c0 - c1 x + c2 x^2 - …`, or with `sign` (1) at `-x`: `c0 + c1 x + c2 x^2 + …`."""
    mask = s.let(sign - 1, "mask")
    total = _start(coefficients)
    for c, size in _steps(coefficients, count):
        term = flipped(s, _times(s, x, total), mask)
        # The complement is one unit less than the negative; so is the sum.
        total = plus(s, literal(c, size), (*(mask,) * (size - len(term)), *term))
    return total


def _start(coefficients: Sequence[int]) -> Words:
    return literal(coefficients[-1], _limbs(coefficients[-1]))


def _limbs(value: int) -> int:
    """The limbs for a number and for what a later term may add to it."""
    return max(1, -(-(value.bit_length() + 1) // 32))


def _steps(coefficients: Sequence[int], count: int) -> list[tuple[int, int]]:
    steps: list[tuple[int, int]] = []
    size = _limbs(coefficients[-1])
    for number in reversed(range(len(coefficients) - 1)):
        c = coefficients[number]
        size = count if number == 0 else max(size, min(count, _limbs(c)))
        steps.append((c, size))
    return steps


def _times(s: Script, x: Words, total: Words) -> Words:
    return product(s, x[: len(total)], total, len(total))


def _widened(a: Words, count: int) -> Words:
    return (*(LitU32(0),) * (count - len(a)), *a)
