"""Python code run on symbols, so that a solver can say what holds for all numbers.

`Paths.explore` calls a function as often as it takes different branches. A symbol is an integer of z3, or a
wide bit-vector that behaves like one as long as nothing comes near its width; comparisons of symbols fork.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

z3: Any = pytest.importorskip("z3", reason="z3-solver is not installed")

WIDTH = 72


class Paths:
    """The branches taken so far, and the condition under which they are taken."""

    def __init__(self, *, bits: bool) -> None:
        self.bits = bits
        self.assumed: list[Any] = []
        self._prefix: list[bool] = []
        self._open: list[list[bool]] = []
        self._taken: list[Any] = []

    def symbol(self, name: str) -> Symbol:
        return Symbol(z3.BitVec(name, WIDTH) if self.bits else z3.Int(name), self)

    def assume(self, *facts: Truth) -> None:
        self.assumed += [fact.term for fact in facts]

    def explore(self, run: Callable[[], Any]) -> Iterator[tuple[Any, list[Any]]]:
        """Each result with its path condition."""
        self._open = [[]]
        while self._open:
            self._prefix, self._taken = self._open.pop(), []
            yield run(), [*self.assumed, *self._taken]

    def fork(self, condition: Any) -> bool:
        place = len(self._taken)
        if place < len(self._prefix):
            choice = self._prefix[place]
        else:
            choice = self._possible(condition)
            if choice and self._possible(z3.Not(condition)):
                self._open.append([*self._prefix, False])
            self._prefix = [*self._prefix, choice]
        self._taken.append(condition if choice else z3.Not(condition))
        return choice

    def _possible(self, condition: Any) -> bool:
        solver = z3.Solver()
        solver.set("timeout", 2000)
        solver.add(*self.assumed, *self._taken, condition)
        return solver.check() != z3.unsat


class Truth:
    """A comparison of symbols."""

    def __init__(self, term: Any, paths: Paths) -> None:
        self.term = term
        self.paths = paths

    def __bool__(self) -> bool:
        return self.paths.fork(self.term)

    def __int__(self) -> int:
        return int(bool(self))


class Symbol:
    """An integer that is any integer."""

    __hash__ = None  # type: ignore[assignment] # nothing may look it up

    def __init__(self, term: Any, paths: Paths) -> None:
        self.term = term
        self.paths = paths

    def _of(self, other: Any) -> Any:
        if isinstance(other, Symbol):
            return other.term
        if isinstance(other, Truth):
            return self._of(int(bool(other)))
        return z3.BitVecVal(other, WIDTH) if self.paths.bits else z3.IntVal(other)

    def _new(self, term: Any) -> Symbol:
        return Symbol(term, self.paths)

    def __bool__(self) -> bool:
        return self.paths.fork(self.term != 0)

    def __add__(self, other: Any) -> Symbol:
        return self._new(self.term + self._of(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Symbol:
        return self._new(self.term - self._of(other))

    def __rsub__(self, other: Any) -> Symbol:
        return self._new(self._of(other) - self.term)

    def __mul__(self, other: Any) -> Symbol:
        return self._new(self.term * self._of(other))

    __rmul__ = __mul__

    def __neg__(self) -> Symbol:
        return self._new(-self.term)

    def __floordiv__(self, other: Any) -> Symbol:
        divide = z3.UDiv(self.term, self._of(other)) if self.paths.bits else self.term / self._of(other)
        return self._new(divide)

    def __mod__(self, other: Any) -> Symbol:
        rest = z3.URem(self.term, self._of(other)) if self.paths.bits else self.term % self._of(other)
        return self._new(rest)

    def __and__(self, other: Any) -> Symbol:
        return self._new(self.term & self._of(other))

    __rand__ = __and__

    def __or__(self, other: Any) -> Symbol:
        return self._new(self.term | self._of(other))

    def __xor__(self, other: Any) -> Symbol:
        return self._new(self.term ^ self._of(other))

    def __lshift__(self, other: Any) -> Symbol:
        return self._new(self.term << self._of(other))

    def __rlshift__(self, other: int) -> Symbol:
        return self._new(self._of(other) << self.term)

    def __rshift__(self, other: Any) -> Symbol:
        if not self.paths.bits:
            assert isinstance(other, int)
            return self._new(self.term / z3.IntVal(1 << other))
        return self._new(self.term >> self._of(other))

    def bit_length(self) -> Symbol:
        found = self._of(40)
        for bits in range(39, -1, -1):
            found = z3.If(self.term < self._of(1 << bits), self._of(bits), found)
        return self._new(found)

    def __lt__(self, other: Any) -> Truth:
        return Truth(self.term < self._of(other), self.paths)

    def __le__(self, other: Any) -> Truth:
        return Truth(self.term <= self._of(other), self.paths)

    def __gt__(self, other: Any) -> Truth:
        return Truth(self.term > self._of(other), self.paths)

    def __ge__(self, other: Any) -> Truth:
        return Truth(self.term >= self._of(other), self.paths)

    def __eq__(self, other: object) -> Truth:  # type: ignore[override] # a symbol is equal under a condition
        return Truth(self.term == self._of(other), self.paths)

    def __ne__(self, other: object) -> Truth:  # type: ignore[override] # as above
        return Truth(self.term != self._of(other), self.paths)
