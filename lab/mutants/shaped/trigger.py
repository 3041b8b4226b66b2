"""When a shaped fault strikes: at most a few tests on what is read from a dispatch.

    when("loop turns >= 1000")
    when("workgroup x odd", "buffer elements mod 4 = 3")
    when("access = Uniform")
    when()                              always

A quantity has every value that occurs in the dispatch (a program has several loops and buffers); a test holds
where one of them fulfils it. All tests of a trigger must hold. `lab.mutants.shaped.quantities.QUANTITIES` has
their names and what they mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Values = Iterable[int | str]

AT_LEAST, EQUAL, ODD, MODULO = ">=", "=", "odd", "mod"
_FORM = re.compile(
    r"(?P<name>.+?) (?:(?P<rel>>=|=) (?P<value>.+)|(?P<odd>odd)|mod (?P<by>\d+) = (?P<rest>\d+))"
)


class Test(NamedTuple):
    """A condition on one quantity: `>= value`, `= value`, odd, or `value` left over by a division by `by`."""

    quantity: str
    relation: str
    value: int | str = 1
    by: int = 2

    def meets(self, value: int | str) -> bool:
        match self.relation, value:
            case ">=", int():
                return isinstance(self.value, int) and value >= self.value
            case "=", _:
                return value == self.value
            case (("odd" | "mod"), int()):
                return value % self.by == self.value
            case _:
                return False

    def __str__(self) -> str:
        match self.relation:
            case "odd":
                return f"{self.quantity} odd"
            case "mod":
                return f"{self.quantity} mod {self.by} = {self.value}"
            case _:
                return f"{self.quantity} {self.relation} {self.value}"


@dataclass(frozen=True, slots=True)
class Trigger:
    tests: tuple[Test, ...] = ()

    def holds(self, values: Callable[[str], Values]) -> bool:
        """`values` gives what occurs of a quantity."""
        return all(any(test.meets(v) for v in values(test.quantity)) for test in self.tests)

    def holds_in(self, found: Mapping[str, Values]) -> bool:
        return self.holds(lambda name: found[name])

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests)) or "always"


def test(text: str) -> Test:
    """Reads one test; numbers are plain, or `0x10000`, or `65_536`."""
    from lab.mutants.shaped.quantities import QUANTITIES

    found = _FORM.fullmatch(text)
    if found is None or found["name"] not in QUANTITIES:
        raise ValueError(f"{text!r} is not a test; write NAME >= N, NAME = X, NAME odd or NAME mod N = R")
    if found["odd"]:
        return Test(found["name"], ODD)
    if found["by"]:
        return Test(found["name"], MODULO, int(found["rest"]), int(found["by"]))
    try:
        value: int | str = int(found["value"], 0)
    except ValueError:
        value = found["value"]
    return Test(found["name"], found["rel"], value)


def when(*tests: str) -> Trigger:
    return Trigger(tuple(map(test, tests)))
