"""From an expression to tables: what can still match, told from the right; and the choices, from the left.

An expression becomes steps: bytes to take, choices with an order, anchors. A *state from the right* at a
place is the set of steps that can take the byte there and still lead to a match, and what kind of symbol it
is. With it in hand the steps from left to right need never go back: of the choices that a backtracking
matcher would try in order, the first one that the state allows is the one that it ends with.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.library.matching.syntax import WORD, At, Branches, Bytes, Often, Sequence
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from vyre.library.matching.syntax import Syntax

    Words = NDArray[np.uint32]

END, LAST_NEWLINE = 256, 257
"""Symbols beside the bytes: behind the last byte, and a newline that is the last byte."""
SYMBOLS = 258
ENDS, EMPTY, BEGINS = 1 << 31, 1 << 30, 1 << 29
"""Before its symbol: a match ends, an empty one stands, one begins."""
STATE = BEGINS - 1
MOST_STEPS = 4096
MOST_STATES = 4096
MOST_WORDS = 1 << 22
_ACCEPT = -1


@dataclass(frozen=True, slots=True)
class Walk:
    """`table[state * width + symbol]` is the next state with its marks; a walk begins in state 0."""

    table: Words
    width: int

    @property
    def states(self) -> int:
        return self.table.size // self.width


class Steps:
    """The steps of an expression, and the classes of symbols that it can tell apart."""

    def __init__(self, syntax: Syntax) -> None:
        self.masks: dict[int, int] = {}
        self._follow: dict[int, tuple[int, ...]] = {}
        self._anchors: dict[int, str] = {}
        self._numbers = count()
        self.start = self._made(syntax, _ACCEPT)
        kinds = set(self._anchors.values())
        signs = [(*(m >> _byte(s) & 1 for m in self.masks.values()), _kind(s, kinds)) for s in range(SYMBOLS)]
        order = {sign: number for number, sign in enumerate(dict.fromkeys(signs))}
        self.classes = np.array([order[sign] for sign in signs], np.uint32)
        self.symbols = [signs.index(sign) for sign in order]
        """One symbol of each class."""
        self.kinds = [_kind(s, kinds) for s in self.symbols]
        self.behind = [_left_of(kind) for kind in self.kinds]
        self.before = "start" if kinds & {"text start", "line start", "no edge"} else "other"
        self.reach = cache(self._reach)

    def following(self, step: int) -> int:
        return self._follow[step][0]

    def takes(self, step: int, symbol: int) -> bool:
        return symbol != END and bool(self.masks[step] >> _byte(symbol) & 1)

    def _new(self, *follow: int) -> int:
        number = next(self._numbers)
        if number >= MOST_STEPS:
            raise VyreError(
                f"the expression has more than {MOST_STEPS} steps.", fix="repeat less, or search in parts."
            )
        self._follow[number] = follow
        return number

    def _made(self, syntax: Syntax, then: int) -> int:
        match syntax:
            case Bytes(mask):
                step = self._new(then)
                self.masks[step] = mask
                return step
            case At(kind):
                step = self._new(then)
                self._anchors[step] = kind
                return step
            case Sequence(parts):
                for part in reversed(parts):
                    then = self._made(part, then)
                return then
            case Branches(parts):
                return self._new(*(self._made(part, then) for part in parts))
            case Often(part, least, most, greedy):
                return self._repeated(part, least, most, greedy, then)

    def _repeated(self, part: Syntax, least: int, most: int | None, greedy: bool, then: int) -> int:
        if most is None:
            loop = self._new()
            body = self._made(part, loop)
            self._follow[loop] = (body, then) if greedy else (then, body)
            then = loop
        else:
            after = then
            for _ in range(most - least):
                body = self._made(part, then)
                then = self._new(body, after) if greedy else self._new(after, body)
        for _ in range(least):
            then = self._made(part, then)
        return then

    def _reach(self, step: int, left: str, right: str) -> tuple[int, ...]:
        """The steps that take a byte next, and the end of a match, in their order, between two symbols."""
        found: dict[int, None] = {}
        seen: set[int] = set()
        stack = [step]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            if here == _ACCEPT or here in self.masks:
                found[here] = None
            elif here not in self._anchors or _holds(self._anchors[here], left, right):
                stack += reversed(self._follow[here])
        return tuple(found)


def _byte(symbol: int) -> int:
    return 10 if symbol == LAST_NEWLINE else symbol


def _kind(symbol: int, kinds: set[str]) -> str:
    """What anchors see of a symbol; only what these ones look at."""
    edges = bool(kinds & {"edge", "no edge"})
    lines = bool(kinds & {"line start", "line end"})
    if symbol == END:
        return "end"
    if symbol == LAST_NEWLINE and "last line end" in kinds:
        return "last newline"
    if lines and _byte(symbol) == 10:
        return "newline"
    return "word" if edges and WORD >> _byte(symbol) & 1 else "other"


def _left_of(kind: str) -> str:
    return "newline" if kind == "last newline" else kind


def _holds(anchor: str, left: str, right: str) -> bool:
    match anchor:
        case "text start":
            return left == "start"
        case "line start":
            return left in ("start", "newline")
        case "text end":
            return right == "end"
        case "last line end":
            return right in ("end", "last newline")
        case "line end":
            return right in ("end", "newline")
        case "edge":
            return (left == "word") != (right == "word")
        case _:
            return (left == "word") == (right == "word") and (left, right) != ("start", "end")


def spans(steps: Steps) -> tuple[Walk, Walk]:
    """Two walks for matches as `re.finditer` finds them: one from the right, over classes of symbols, and one
    from the left over the states of the first."""
    states, right = _from_right(steps)
    left = _from_left(steps, states)
    _, left = smallest(left, left & ~np.uint32(STATE))
    same, right = smallest(right, np.ascontiguousarray(left.T))
    _, first = np.unique(same, return_index=True)
    left = np.ascontiguousarray(left[:, first])
    return Walk(right.reshape(-1), right.shape[1]), Walk(left.reshape(-1), left.shape[1])


def ends(steps: Steps) -> Walk:
    """A walk from the left, over classes of symbols, that marks every place where some match ends."""

    @cache
    def led(root: int, left: str, number: int) -> tuple[frozenset[int], bool]:
        found, symbol = steps.reach(root, left, steps.kinds[number]), steps.symbols[number]
        taken = (s for s in found if s != _ACCEPT and steps.takes(s, symbol))
        return frozenset(map(steps.following, taken)), _ACCEPT in found

    def moved(state: tuple[Any, ...], number: int) -> tuple[tuple[Any, ...], int]:
        roots, left = state
        met = [led(root, left, number) for root in (*roots, steps.start)]
        taken = frozenset[int]().union(*(after for after, _ in met))
        return (tuple(sorted(taken)), steps.behind[number]), ENDS if any(end for _, end in met) else 0

    _, table = explored(((), steps.before), len(steps.symbols), moved)
    _, table = smallest(table, table & ~np.uint32(STATE))
    return Walk(table.reshape(-1), table.shape[1])


def _from_right(steps: Steps) -> tuple[list[tuple[Any, ...]], Words]:
    """States are sets of steps, as bits, and the kind of the symbol; the first has seen nothing."""
    takers = [sum(1 << step for step in steps.masks if steps.takes(step, s)) for s in steps.symbols]

    @cache
    def before(left: str, right: str) -> dict[int, int]:
        """For each step, and the end of a match, the steps that it comes after between two symbols."""
        found: dict[int, int] = {}
        for step in steps.masks:
            for after in steps.reach(steps.following(step), left, right):
                found[after] = found.get(after, 0) | 1 << step
        return found

    @lru_cache(maxsize=8)
    def leading(alive: int, left: str, right: str) -> int:
        """The steps after which there is one that is alive, or the end of a match."""
        earlier = before(left, right)
        found = earlier.get(_ACCEPT, 0)
        while alive:
            lowest = alive & -alive
            found |= earlier.get(lowest.bit_length() - 1, 0)
            alive ^= lowest
        return found

    def moved(state: tuple[Any, ...], number: int) -> tuple[tuple[Any, ...], int]:
        alive, right = state
        found = leading(alive, steps.behind[number], right) & takers[number] if right else 0
        return (found, steps.kinds[number]), 0

    return explored((0, ""), len(steps.symbols), moved)


def _from_left(steps: Steps, states: list[tuple[Any, ...]]) -> Words:
    """States are the step that was last taken, or None between matches, and what lies to the left."""

    def led(root: int, left: str, number: int) -> Iterator[int]:
        alive, right = states[number]
        return (s for s in steps.reach(root, left, right) if s == _ACCEPT or alive >> s & 1)

    @cache
    def begun(left: str, number: int) -> tuple[int | None, int]:
        """The first step of a match that begins here, if one does, and the marks."""
        found, marks = led(steps.start, left, number), 0
        first = next(found, None)
        if first == _ACCEPT:
            first, marks = next(found, None), EMPTY
        return first, marks if first is None else marks | BEGINS

    def moved(state: tuple[Any, ...], number: int) -> tuple[tuple[Any, ...], int]:
        step, left = state
        behind, ends = _left_of(states[number][1]), 0
        if step is not None:
            after = next(led(steps.following(step), left, number), _ACCEPT)
            if after != _ACCEPT:
                return (after, behind), 0
            ends = ENDS
        first, marks = begun(left, number)
        return (first, behind), marks | ends

    return explored((None, steps.before), len(states), moved)[1]


def explored(
    first: tuple[Any, ...],
    width: int,
    moved: Callable[[tuple[Any, ...], int], tuple[tuple[Any, ...], int]],
) -> tuple[list[tuple[Any, ...]], Words]:
    """All states that the first one leads to, and the table of their moves."""
    numbers, states, rows = {first: 0}, [first], list[list[int]]()
    for state in states:
        row: list[int] = []
        for symbol in range(width):
            target, marks = moved(state, symbol)
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
            row.append(numbers[target] | marks)
        rows.append(row)
        if len(states) > MOST_STATES or len(states) * width > MOST_WORDS:
            raise VyreError(
                f"the automaton of the expression has more than {MOST_STATES} states, or its table more than "
                f"{MOST_WORDS} entries.",
                fix="use smaller counts in {m,n}, search for parts of it, or use Words for words.",
            )
    return states, np.array(rows, np.uint32)


def smallest(table: Words, told: Words) -> tuple[Words, Words]:
    """The state that each one becomes when those that nothing tells apart are one, and their table.

    `told` has a row a state of what is seen at once. The first state stays the first.
    """
    group = _groups(told)
    marks, to = table & ~np.uint32(STATE), table & np.uint32(STATE)
    while True:
        finer = _groups(np.column_stack([group, group[to]]))
        if finer.max() == group.max():
            break
        group = finer
    _, place = np.unique(group, return_index=True)
    return group, (group[to] | marks)[place]


def _groups(rows: Words) -> Words:
    """Equal rows get equal numbers, in the order in which they come first."""
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.uint32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.uint32)
    return rank[which.reshape(-1)]
