"""Ranges: what is said of a result holds for the numbers that the operation really gives."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from vyre.ir import BinOp, BufLen, DataType, LitU32, UnaryOp, UnOp, Var
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import INTEGER_COMPARE_OPS
from vyre.optimize import ranges
from vyre.optimize.ranges import ANY, Range, Transfer, compared, exactly
from vyre.reference.integers import BINARY, UNARY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.ir import Expr

A, B = Var("a"), Var("b")
BINARY_OPS = tuple(ranges._BINARY)
UNARY_OPS = (UnaryOp.BitNot, UnaryOp.Popcount, UnaryOp.Clz, UnaryOp.Ctz)
EDGES = (0, 1, 2, 3, 7, 8, 31, 32, 255, 256, 1024, 1 << 16, 1 << 31)


@dataclass(frozen=True, slots=True)
class World:
    """The lengths of the buffers; that of `few` is declared."""

    lengths: dict[str, int]

    @property
    def transfer(self) -> Transfer:
        return Transfer({"few": self.lengths["few"], "p": 0, "q": 0}, (8, 1, 1))

    def holds(self, said: Range, value: int) -> bool:
        fits = all(value + room <= self.lengths[name] for name, room in said.rooms)
        return said.lo <= value <= said.hi and fits and list(said.rooms) == sorted(said.rooms)


def number(rng: Random) -> int:
    kind, edge = rng.randrange(6), rng.choice(EDGES)
    if kind == 0:
        return rng.getrandbits(32)
    return edge if kind < 4 else U32_MAX - edge


def world(rng: Random) -> World:
    return World({"few": rng.randrange(1, 9), "p": number(rng), "q": rng.randrange(12)})


def around(rng: Random, here: World, value: int) -> Range:
    """Something true of a number: as much as can be said, or less."""
    lo = rng.choice((0, value, max(value - rng.choice(EDGES), 0)))
    hi = rng.choice((U32_MAX, value, min(value + rng.choice(EDGES), U32_MAX)))
    rooms = [
        (name, rng.choice((length - value, rng.randint(0, length - value))))
        for name, length in sorted(here.lengths.items())
        if length >= value and rng.randrange(3)
    ]
    return here.transfer.tighten(Range(lo, hi, tuple(rooms)))


def of_operations(rng: Random) -> Iterator[bool]:
    """Each operation on two numbers, one of which often is near the length of a buffer."""
    here = world(rng)
    near = max(rng.choice(list(here.lengths.values())) - rng.randrange(4), 0)
    a, b = rng.choice((near, number(rng))), number(rng)
    x, y = around(rng, here, a), around(rng, here, b)
    words = (DataType.U32, DataType.U32)
    for op in BINARY_OPS:
        said = here.transfer.of(BinOp(op, A, B), (x, y), words)
        yield here.holds(said, BINARY[op](a, b))
    for unary in UNARY_OPS:
        yield here.holds(here.transfer.of(UnOp(unary, A), (x,), words[:1]), UNARY[unary](a))
    yield here.holds(x.meet(around(rng, here, a)), a)
    yield here.holds(x.join(y), a) and here.holds(x.join(y), b)
    yield a == 0 or here.holds(x.below(), rng.randrange(a))
    yield a < b or here.holds(x.less(b), a - b)


def of_comparisons(rng: Random) -> Iterator[bool]:
    here = world(rng)
    a = number(rng)
    b = rng.choice((a, number(rng), *here.lengths.values()))
    x, y = around(rng, here, a), around(rng, here, b)
    for op in INTEGER_COMPARE_OPS:
        left, right = compared(op, bool(BINARY[op](a, b)), x, y)
        yield here.holds(left, a) and here.holds(right, b)


def of_lengths(rng: Random) -> Iterator[bool]:
    """Differences from a length, and the length itself."""
    here = world(rng)
    name = rng.choice(list(here.lengths))
    length = here.lengths[name]
    y = max(length - rng.randrange(5), 0) if rng.randrange(2) else number(rng)
    known, taken = around(rng, here, y), rng.randrange(4)
    whole = here.transfer.of(BufLen(name), (), ())
    yield here.holds(whole, length)
    rest = (length - taken) & U32_MAX
    sides: list[tuple[Expr, Range, int]] = [
        (BufLen(name), whole, length),
        (BufLen(name) - LitU32(taken), around(rng, here, rest), rest),
    ]
    for left, said, value in sides:
        result = here.transfer.of(left - A, (said, known), (DataType.U32, DataType.U32))
        yield here.holds(result, (value - y) & U32_MAX)


SIDES = (of_operations, of_comparisons, of_lengths)


def sound(seeds: int) -> bool:
    return all(ok for seed in range(seeds) for side in SIDES for ok in side(Random(f"ranges {seed}")))


def test_what_is_said_holds() -> None:
    assert sound(4000)


def test_something_is_said() -> None:
    """Room carries over; the most that can be said is said."""
    transfer = Transfer({}, (8, 1, 1))
    words = (DataType.U32, DataType.U32)
    x = Range(0, 900, (("p", 768),))
    assert transfer.of(A + 256, (x, exactly(256)), words) == Range(256, 1156, (("p", 512),))
    assert transfer.of(A - B, (Range(768, 900, (("p", 0),)), exactly(768)), words).room("p") == 768
    assert transfer.of(A * 1024, (ANY, exactly(1024)), words) == Range(0, U32_MAX - 1023)
    assert transfer.of(A << 10, (ANY, exactly(10)), words) == Range(0, U32_MAX - 1023)
    assert transfer.of(A * B, (exactly(1 << 31), exactly(1 << 31)), words) == exactly(0)
    assert transfer.tighten(Range(0, U32_MAX, (("p", 768),))).hi == U32_MAX - 768
    assert x.room("q") == -1


def _sum_without_care(a: Range, b: Range) -> Range:
    return Range((a.lo + b.lo) & U32_MAX, min(a.hi + b.hi, U32_MAX))


def _room_without_care(a: Range, b: Range) -> Range:
    return ANY if a.hi + b.hi > U32_MAX else Range(a.lo + b.lo, a.hi + b.hi, ranges._moved(a.rooms, -b.lo))


FAULTS: dict[str, tuple[str, Callable[[Any, Any], Any] | Callable[[Any], Any]]] = {
    "a sum that wraps": ("_add", _sum_without_care),
    "a sum that takes the least room": ("_add", _room_without_care),
    "a difference that wraps": ("_sub", lambda a, b: Range(0, a.hi, a.rooms)),
    "a difference that gains too much": (
        "_sub",
        lambda a, b: Range(0, U32_MAX, ranges._moved(a.rooms, b.hi)) if a.lo >= b.hi else ANY,
    ),
    "a remainder by zero": ("_mod", lambda a, b: b.below()),
    "a factor too many": ("_multiple", lambda factor: Range(0, max(U32_MAX + 1 - 2 * factor, 0))),
    "a factor of what is not exact": ("_factor", lambda a: max(a.lo & -a.lo, 1)),
    "bits above both": ("_or", lambda a, b: Range(max(a.lo, b.lo), max(a.hi, b.hi))),
    "a comparison off by one": ("_less_or_equal", lambda a, b: (a.meet(b.below()), b)),
    "a length that may be exceeded": (
        "_from_length",
        lambda left, y: Range(0, U32_MAX, tuple((name, y.lo) for name, _ in y.rooms)),
    ),
    "room that is never lost": ("_moved", lambda rooms, by: tuple((n, max(r + by, 0)) for n, r in rooms)),
    "one of two taken for both": ("_smaller", lambda a, b: ranges._larger(a, b)),
    "room that adds up": ("_larger", lambda a, b: tuple((n, r + 1) for n, r in a) or b),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_meaning_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, wrong = FAULTS[fault]
    monkeypatch.setattr(ranges, name, wrong)
    for op, plain in list(ranges._BINARY.items()):
        if plain.__name__ == name:
            monkeypatch.setitem(ranges._BINARY, op, wrong)
    assert not sound(4000)
