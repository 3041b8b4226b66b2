"""The two values that a failure shows, each with its name, in the order in which they are shown.

A definition says what is right: one value is expected, the other is actual. A law compares two results of the
backend, and either may be the wrong one: they are its left side and its right side, and neither is expected.
"""

from __future__ import annotations

import re

Sides = tuple[tuple[str, str], tuple[str, str]]

LAW = "law"
EITHER = "either side may be the wrong one: wrong values of an op that the law names say which."

_WORDS = re.compile(r"(?:at most |below )?(0x[0-9A-F]+(?:, 0x[0-9A-F]+)*|nothing)")


def sides(expected: str, actual: str, *, law: bool) -> Sides:
    """Both values by name. A law's record has its right side as the expected value, its relation before it;
    where the record holds words instead, such as those of a crash, they keep their names."""
    right = _WORDS.fullmatch(expected)
    if law and right is not None and _WORDS.fullmatch(actual):
        return (("left side", actual), ("right side", right.group(1)))
    return (("expected", expected), ("actual", actual))


def order(kind: str) -> bool:
    """A key to sort kinds of failures by: what is known to be wrong comes before laws, which do not say."""
    return kind == LAW
