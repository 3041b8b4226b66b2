"""The envelope of a certificate: which pairs of levels of the features of shape ran and passed.

    inside(envelope, [Condition("turns", ">=", 100), Condition("workgroup x", "=", 33)])
    envelope.ran("turns", 129, "access", "Uniform")
    envelope.largest("turns")                       the last level that ran, with anything

A fault is inside the envelope if its trigger is at most two conditions, each "feature >= v" or "feature = v"
for a listed level v, and some row that passed has both: such a fault would have been met. Of whatever lies
outside the certificate claims nothing. The record stands for itself: it needs no table but its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, NamedTuple

from vyre.conform.records.documents import Among, Omitted, Rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

COSTLY = "too costly"
BEYOND = "beyond the declared limit"
REFUSED = "refused"
FAILED = "failed"
NOT_RUN = "not run"
REASONS = (FAILED, REFUSED, NOT_RUN, BEYOND, COSTLY)
"""Why a pair did not run and pass, the gravest first."""

AT_LEAST, EQUAL = ">=", "="


@dataclass(frozen=True, slots=True)
class EnvelopeFeature:
    """A feature of shape with its levels, lowest first, as text.

    The first `stated` of them are tried with every level of the other features; the rest are tried alone.
    """

    name: str
    unit: str
    levels: tuple[str, ...]
    counted: bool
    """Whether the levels are numbers, so that one can be at least another."""
    stated: int
    limit: Annotated[int | None, Omitted()] = None
    """The largest that the backend declares to accept, of what `bound` names."""
    bound: Annotated[str | None, Omitted()] = None

    def value(self, place: int) -> int | str:
        return int(self.levels[place]) if self.counted else self.levels[place]


@dataclass(frozen=True, slots=True)
class MissingPairs:
    """Pairs that did not run and pass: one level of a feature with some of another, and why."""

    first: str
    level: str
    second: str
    levels: tuple[str, ...]
    reason: Annotated[str, Among(*REASONS)]


class Lacking(NamedTuple):
    """A level of a row that the device lacks, and the one that the row was run with instead."""

    row: int
    feature: str
    level: str
    instead: str


Hex = Annotated[str, Rule("hexadecimal digits", lambda s: all(c in "0123456789abcdef" for c in s))]


@dataclass(frozen=True, slots=True)
class Envelope:
    """What ran, pair by pair; `missing` are the stated pairs that did not, those of one reason together.

    `pairs` has a word for every two features, in the order of `combinations`: bit `a * levels_b + b` is set
    where level `a` of the first ran with level `b` of the second.
    """

    features: tuple[EnvelopeFeature, ...]
    rows: int
    """Rows that were asked for; `failed` and `refused` are the numbers of those that did not pass."""
    failed: tuple[int, ...]
    refused: tuple[int, ...]
    lacking: tuple[Lacking, ...]
    pairs: tuple[Hex, ...]
    missing: tuple[MissingPairs, ...]

    def place(self, feature: str) -> int:
        """Raises `KeyError` for a feature that the envelope does not have."""
        for place, known in enumerate(self.features):
            if known.name == feature:
                return place
        raise KeyError(feature)

    def ran(self, first: str, level: int | str, second: str, other: int | str) -> bool:
        """Whether two listed levels passed together."""
        a, b = self.place(first), self.place(second)
        if a > b:
            a, b, level, other = b, a, other, level
        one, two = self.features[a], self.features[b]
        if str(level) not in one.levels or str(other) not in two.levels:
            return False
        bit = one.levels.index(str(level)) * len(two.levels) + two.levels.index(str(other))
        return bool(self._word(a, b) >> bit & 1)

    def levels_ran(self, feature: str) -> list[int | str]:
        """The levels that passed with anything, lowest first."""
        a = self.place(feature)
        b = 1 if a == 0 else 0
        found = self.features[a]
        low, high = min(a, b), max(a, b)
        word, width = self._word(low, high), len(self.features[high].levels)
        kept: list[int | str] = []
        for place in range(len(found.levels)):
            if a == low:
                met = word >> place * width & (1 << width) - 1
            else:
                met = sum(word >> row * width + place & 1 for row in range(len(self.features[low].levels)))
            kept += [found.value(place)] if met else []
        return kept

    def largest(self, feature: str) -> int | str | None:
        found = self.levels_ran(feature)
        return found[-1] if found else None

    @property
    def count(self) -> int:
        """Pairs that ran and passed."""
        return sum(int(word or "0", 16).bit_count() for word in self.pairs)

    @property
    def missed(self) -> dict[str, int]:
        """Stated pairs that did not, by reason."""
        found = {reason: sum(len(m.levels) for m in self.missing if m.reason == reason) for reason in REASONS}
        return {reason: number for reason, number in found.items() if number}

    def missing_of(self, feature: str) -> dict[str, int]:
        """Stated pairs with a level of this feature that did not, by reason."""
        mine = [m for m in self.missing if feature in (m.first, m.second)]
        found = {reason: sum(len(m.levels) for m in mine if m.reason == reason) for reason in REASONS}
        return {reason: number for reason, number in found.items() if number}

    def _word(self, a: int, b: int) -> int:
        n = len(self.features)
        return int(self.pairs[a * n - a * (a + 1) // 2 + b - a - 1] or "0", 16)


def packed(
    features: Sequence[EnvelopeFeature], ran: Collection[tuple[int, int, int, int]]
) -> tuple[str, ...]:
    """The words of `Envelope.pairs`; `ran` are places of (feature, level, feature, level), in their order."""
    words = dict.fromkeys(combinations(range(len(features)), 2), 0)
    for a, level, b, other in ran:
        words[a, b] |= 1 << level * len(features[b].levels) + other
    return tuple(f"{word:x}" for word in words.values())


@dataclass(frozen=True, slots=True)
class Condition:
    """`turns >= 100`, or `access = Uniform`."""

    feature: str
    relation: Annotated[str, Among(AT_LEAST, EQUAL)]
    level: int | str

    def __str__(self) -> str:
        return f"{self.feature} {self.relation} {self.level}"


def inside(envelope: Envelope, trigger: Sequence[Condition]) -> bool:
    """Whether a fault with this trigger would have been met.

    The conditions hold together: a fault with none is always met, one with more than two is not claimed, and
    neither is one about a feature or, with `=`, a level that the envelope does not have.
    """
    known = {f.name: f for f in envelope.features}
    if len(trigger) > 2 or any(c.feature not in known for c in trigger):
        return False
    if not trigger:
        return envelope.count > 0
    met = [set(_meeting(envelope, known[c.feature], c)) for c in trigger]
    if len(met) == 2 and trigger[0].feature == trigger[1].feature:
        return bool(met[0] & met[1])
    if len(met) == 1:
        return bool(met[0])
    first, second = (c.feature for c in trigger)
    return any(envelope.ran(first, a, second, b) for a in met[0] for b in met[1])


def _meeting(envelope: Envelope, feature: EnvelopeFeature, condition: Condition) -> Iterator[int | str]:
    """The levels that ran and fulfil a condition."""
    for level in envelope.levels_ran(feature.name):
        if condition.relation == EQUAL:
            if level == condition.level:
                yield level
        elif isinstance(level, int) and isinstance(condition.level, int) and level >= condition.level:
            yield level
