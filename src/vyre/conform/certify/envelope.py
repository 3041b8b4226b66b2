"""The envelope held against what a level asks for, and shown to people: one small table.

shape_reasons(results)          why the shapes that ran are not enough, none where they are
table(envelope)                 a row for each feature: what ran, what is declared, what is missing
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.process.provenance import declared_limits
from vyre.conform.records.envelope import FAILED, NOT_RUN, REFUSED
from vyre.conform.shapes.lacking import DOUBLES, MAY_LACK
from vyre.conform.spec.levels import LEAST_LIMITS, SHAPES
from vyre.conform.spec.track import has_doubles
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vyre.conform.records.envelope import Envelope, EnvelopeFeature, MissingPairs
    from vyre.conform.records.results import Results

_NAMED = 3
"""Pairs that a reason names."""


def shape_reasons(results: Results) -> list[str]:
    """Stated pairs that did not pass, and limits below WebGPU's defaults."""
    found = _low_limits(results)
    envelope = results.envelope
    if envelope is None:
        ran = any(stage.stage == SHAPES for stage in results.stages)
        return found if ran else [*found, f"the stage {SHAPES} was not run"]
    if envelope.failed:  # whatever the payload of a row is, its shape is of both tracks
        rows = "row" if len(envelope.failed) == 1 else "rows"
        found.append(f"the stage {SHAPES} failed in {len(envelope.failed):,} {rows} of {envelope.rows:,}")
    lacking = _lawfully_lacking(results, envelope)
    for reason, what in ((FAILED, "failed"), (REFUSED, "were refused"), (NOT_RUN, "were not run")):
        mine = [m for m in envelope.missing if m.reason == reason and not _of(m, lacking)]
        if mine:
            number = sum(len(m.levels) for m in mine)
            pairs = "pair" if number == 1 else "pairs"
            verb = what.replace("were", "was") if number == 1 else what
            found.append(f"{number:,} {pairs} of shapes {verb}: {_named(mine)}")
    return found


def _low_limits(results: Results) -> list[str]:
    limits = declared_limits(results.backend)
    declared = {name: getattr(limits, name) for name in LEAST_LIMITS}
    return [
        f"the backend declares {name} {declared[name]:,}, less than WebGPU's default of {least:,}"
        for name, least in LEAST_LIMITS.items()
        if declared[name] is not None and declared[name] < least
    ]


def _lawfully_lacking(results: Results, envelope: Envelope) -> set[tuple[str, str]]:
    """Levels that a device may lack and that this one has nowhere: F64, and ways in that it has not."""
    doubles = has_doubles({op.id for op in results.ops if op.status == "refused"})
    return {
        (one.feature, one.level)
        for one in envelope.lacking
        if one.level in MAY_LACK.get(one.feature, ())
        and one.level not in envelope.levels_ran(one.feature)
        and not (doubles and one.level == DOUBLES)
    }


def _of(missing: MissingPairs, lacking: Collection[tuple[str, str]]) -> bool:
    """Whether pairs are missing for a level that is lacking lawfully."""
    if missing.reason != REFUSED:
        return False
    others = all((missing.second, level) in lacking for level in missing.levels)
    return others or (missing.first, missing.level) in lacking


def _named(missing: Sequence[MissingPairs]) -> str:
    shown = [f"{m.first} {m.level} with {m.second} {_levels(m.levels)}" for m in missing[:_NAMED]]
    return "; ".join([*shown, *(["…"] if len(missing) > _NAMED else [])])


def _levels(levels: Sequence[str]) -> str:
    return ", ".join(levels[:_NAMED]) + (", …" if len(levels) > _NAMED else "")


@dataclass(frozen=True, slots=True)
class ShapeRow:
    """A feature as it is shown: the largest level that ran, the declared limit, and what is missing."""

    feature: str
    unit: str
    ran: str
    limit: str
    missing: str
    tone: str
    """`bad` where a pair failed, `open` where one was refused or not run, else `good`."""


def table(envelope: Envelope) -> list[ShapeRow]:
    return [_row(envelope, feature) for feature in envelope.features]


def _row(envelope: Envelope, feature: EnvelopeFeature) -> ShapeRow:
    levels = envelope.levels_ran(feature.name)
    if feature.counted:
        ran = f"{levels[-1]:,}" if levels else "none"
    else:
        absent = [level for level in feature.levels if level not in levels]
        ran = f"all but {', '.join(absent)}" if absent and levels else "all" if levels else "none"
    missing = envelope.missing_of(feature.name)
    tone = "bad" if FAILED in missing else "open" if {REFUSED, NOT_RUN} & missing.keys() else "good"
    text = ", ".join(f"{number:,} {reason}" for reason, number in missing.items())
    limit = "" if feature.limit in (None, U32_MAX) else f"{feature.limit:,}"
    limit += " bytes" if limit and feature.bound == "buffer_bytes" else ""
    return ShapeRow(feature.name, feature.unit, ran, limit, text, tone)


def heading(envelope: Envelope) -> str:
    """`23,424 pairs of shapes passed; not claimed: 36 too costly`."""
    missed = ", ".join(f"{number:,} {reason}" for reason, number in envelope.missed.items())
    return f"{envelope.count:,} pairs of shapes passed" + (f"; not claimed: {missed}" if missed else "")


def missing_features(envelope: Envelope, reason: str) -> str:
    """Between which features the pairs that are missing for a reason lie, the most frequent first."""
    found: Counter[str] = Counter()
    for one in envelope.missing:
        if one.reason == reason:
            found[f"{one.first} with {one.second}"] += len(one.levels)
    shown = [name for name, _ in found.most_common(_NAMED)]
    return "; ".join([*shown, *([f"and {len(found) - _NAMED} more"] if len(found) > _NAMED else [])])
