"""The envelope that a run of the rows has earned, from which of them passed.

    enveloped({0: "passed", 1: "refused", …}, limits)

A row is worth the pairs that it has once it is fitted to the device's limits. Of every stated pair that did
not pass the gravest reason is kept.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import PASSED
from vyre.conform.records.envelope import (
    BEYOND,
    COSTLY,
    FAILED,
    NOT_RUN,
    REFUSED,
    Envelope,
    EnvelopeFeature,
    Lacking,
    MissingPairs,
    packed,
)
from vyre.conform.shapes.features import CHOSEN
from vyre.conform.shapes.rows import ROWS, fitted, pairs_of, too_costly, wanted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vyre.backends.protocol import BackendLimits
    from vyre.conform.shapes.features import Feature, Level
    from vyre.conform.shapes.rows import Pair


def enveloped(
    statuses: Mapping[int, str], limits: BackendLimits, lacking: Collection[Lacking] = ()
) -> Envelope:
    """`statuses` are by the number of a row, from 0 on; the rows behind the last of them were not run."""
    features = tuple(_feature(f, limits) for f in CHOSEN.values())
    tried = {k: fitted(row, limits) for k, row in enumerate(ROWS)}
    absent: set[Pair] = set()
    for one in lacking:
        absent |= {p for p in pairs_of(tried[one.row]) if one[1:3] in ((n, str(v)) for n, v in p)}
    for one in lacking:
        tried[one.row][one.feature] = level_of(one.feature, one.instead)
    pairs = {k: pairs_of(row) for k, row in tried.items()}
    passed: set[Pair] = set()
    refused = absent
    failed: set[Pair] = set()
    left: set[Pair] = set()
    for number, found in pairs.items():
        match statuses.get(number):
            case "passed":
                passed |= found
            case "refused":
                refused |= found
            case None:
                left |= found
            case _:
                failed |= found
    why = ((FAILED, failed), (REFUSED, refused), (NOT_RUN, left))
    reasons = {
        pair: next((reason for reason, pairs_there in why if pair in pairs_there), BEYOND)
        for pair in wanted() - passed
    }
    reasons |= dict.fromkeys(too_costly() - passed, COSTLY)
    return Envelope(
        features,
        len(statuses),
        tuple(k for k, status in sorted(statuses.items()) if status not in (PASSED, REFUSED)),
        tuple(k for k, status in sorted(statuses.items()) if status == REFUSED),
        tuple(sorted(lacking)),
        packed(features, {_placed(pair) for pair in passed}),
        _grouped(reasons),
    )


def _feature(feature: Feature, limits: BackendLimits) -> EnvelopeFeature:
    return EnvelopeFeature(
        feature.name,
        feature.unit,
        tuple(map(str, feature.every)),
        isinstance(feature.levels[0], int),
        len(feature.levels),
        getattr(limits, feature.limit) if feature.limit else None,
        feature.limit or None,
    )


def lacked(number: int, used: Mapping[str, Level], limits: BackendLimits) -> list[Lacking]:
    """In what a row as it was run differs from what the limits leave of it."""
    listed = fitted(ROWS[number], limits)
    return [
        Lacking(number, name, str(level), str(used[name]))
        for name, level in listed.items()
        if name in CHOSEN and used[name] != level
    ]


def level_of(feature: str, text: str) -> Level:
    """A level from its text."""
    return int(text) if isinstance(CHOSEN[feature].levels[0], int) else text


@cache
def _places() -> tuple[dict[str, int], dict[str, dict[Level, int]]]:
    levels = {name: {level: k for k, level in enumerate(f.every)} for name, f in CHOSEN.items()}
    return {name: k for k, name in enumerate(CHOSEN)}, levels


def _placed(pair: Pair) -> tuple[int, int, int, int]:
    order, levels = _places()
    (first, level), (second, other) = pair
    return order[first], levels[first][level], order[second], levels[second][other]


def _grouped(reasons: Mapping[Pair, str]) -> tuple[MissingPairs, ...]:
    """Pairs of one reason that share a level, as one line; in the order of the table."""
    lines: dict[tuple[str, Level, str, str], list[Level]] = {}
    for (first, level), (second, other) in _ordered(reasons):
        line = first, level, second, reasons[(first, level), (second, other)]
        lines.setdefault(line, []).append(other)
    return tuple(
        MissingPairs(first, str(level), second, tuple(map(str, others)), reason)
        for (first, level, second, reason), others in lines.items()
    )


def _ordered(pairs: Collection[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: (_placed(pair)[0], _placed(pair)[2], _placed(pair)))
