"""Elementary series in fixed point, each with a proved bound on its error.

An integer `v` at scale `w` stands for `v / 2**w`; an error of `e` means that the true value lies within
`e / 2**w` of it. Functions return `(value, error)`. The three series share one argument: every product
and quotient is rounded down, so one step adds at most 3 units to the error of the sum, and what follows
the first term that vanishes is worth at most 2; hence `3 * steps + 2`. The inequalities are in
`docs/reference-floats.md`.
"""

from __future__ import annotations

from math import isqrt


def arctan_series(numerator: int, denominator: int, w: int, *, hyperbolic: bool) -> tuple[int, int]:
    """Arctangent, or its hyperbolic twin, of a ratio between 0 and 1/2."""
    power = (numerator << w) // denominator
    square = power * power >> w
    total = power
    steps = 0
    while power:
        steps += 1
        power = power * square >> w
        term = power // (2 * steps + 1)
        total += term if hyperbolic or not steps & 1 else -term
    return total, 3 * steps + 2


def exponential(t: int, w: int) -> tuple[int, int]:
    """`e**t` for `0 <= t < 1`: Taylor's series at `t / 2**halvings`, then as many squarings."""
    halvings = max(4, isqrt(w) // 2)
    guard = halvings + 16
    wide = w + guard
    r = t << (guard - halvings)
    total = term = 1 << wide
    steps = 0
    while term:
        steps += 1
        term = (term * r >> wide) // steps
        total += term
    for _ in range(halvings):
        total = total * total >> wide
    # A squaring doubles the relative error and adds one unit; the value stays below 4.
    error = (3 * steps + 4) << (halvings + 3)
    return total >> guard, (error >> guard) + 2


def sine_cosine(r: int, w: int) -> tuple[int, int, int]:
    """`(sin r, cos r, error of each)` for `|r|` up to 0.79."""
    a = abs(r)
    square = a * a >> w
    sine, sine_steps = _alternating(a, square, w, first=2)
    cosine, cosine_steps = _alternating(1 << w, square, w, first=1)
    return (-sine if r < 0 else sine), cosine, 3 * max(sine_steps, cosine_steps) + 2


def _alternating(term: int, square: int, w: int, *, first: int) -> tuple[int, int]:
    """Sums `term`, `-term * square / (first * (first + 1))`, … and counts the terms."""
    total = 0
    steps = 0
    while term:
        total += -term if steps & 1 else term
        divisor = (first + 2 * steps) * (first + 2 * steps + 1)
        term = (term * square >> w) // divisor
        steps += 1
    return total, steps
