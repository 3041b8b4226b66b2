"""What the journal of an earlier run already holds, as far as a run of this plan can have written it.

held = resumed(journal, units, blocks)
held.records, held.groups
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import FAILED, BlockEntry, GroupEntry, OpBlock, SoakEntry
from vyre.conform.records.documents import Field, FieldError
from vyre.conform.suite import fold
from vyre.conform.suite.block_records import misrecorded, read_entry
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.process.provenance import Provenance
    from vyre.conform.records.blocks import StageBlock
    from vyre.conform.records.journal import Journal
    from vyre.conform.suite.fold import Records
    from vyre.conform.suite.units import Block, Unit


@dataclass(frozen=True, slots=True)
class Resumed:
    """Finished blocks by unit and number, finished groups, and the first block of an op that ended badly."""

    records: dict[tuple[int, int], StageBlock | OpBlock]
    groups: dict[str, GroupEntry]
    stopped: dict[str, tuple[int, int]]
    soaked: list[SoakEntry]
    """What was run beyond the plan."""


def resumed(journal: Journal, units: Sequence[Unit], blocks: Sequence[Block]) -> Resumed:
    """Raises `VyreError` where the journal is not of this run, or was changed."""
    places = {(b.unit, b.number): b for b in blocks}
    held = Resumed({}, {}, {}, [])
    groups: dict[str, GroupEntry] = {}
    for number in range(len(journal.entries)):
        match _entry(journal, number, units):
            case GroupEntry() as noted:
                groups[noted.group] = noted
            case BlockEntry() as entry:
                place = _believed(journal, entry, units, places)
                held.records[place] = entry.record
                if isinstance(entry.record, OpBlock) and entry.record.stop is not None:
                    group = units[entry.unit].group
                    held.stopped[group] = min(place, held.stopped.get(group, place))
            case SoakEntry() as piece:
                held.soaked.append(piece)
            case _:
                continue
    # What was noted of a group follows from its blocks; a note that does not fit them is made again.
    held.groups.update({name: g for name, g in groups.items() if _fits(g, units, blocks, held.records)})
    return held


def _entry(
    journal: Journal, number: int, units: Sequence[Unit]
) -> BlockEntry | GroupEntry | SoakEntry | Provenance:
    """A line of the journal may be from another version, or from an editor."""
    try:
        return read_entry(Field(journal.entries[number]), units)
    except FieldError as error:
        raise VyreError(
            f"line {number + 2} of {journal.path} is not of this run: {error}.",
            fix="start anew without --resume.",
        ) from None


def _believed(
    journal: Journal, entry: BlockEntry, units: Sequence[Unit], places: dict[tuple[int, int], Block]
) -> tuple[int, int]:
    """The place of a block, if a run of this plan can have written it."""
    block = places.get((entry.unit, entry.block))
    wrong = "is not in its plan" if block is None else misrecorded(units[entry.unit], block, entry.record)
    if wrong:
        raise VyreError(
            f"the journal {journal.path} was changed: block {entry.block} of unit {entry.unit} {wrong}.",
            fix="start anew, without --resume.",
        )
    return entry.unit, entry.block


def _fits(noted: GroupEntry, units: Sequence[Unit], blocks: Sequence[Block], records: Records) -> bool:
    """Whether a group has all its blocks, and as many failures as they say."""
    mine = [b for b in blocks if units[b.unit].group == noted.group]
    if not mine or any((b.unit, b.number) not in records for b in mine):
        return False
    if units[mine[0].unit].kind is None:
        failed = [o for o in fold.outcomes(mine[0].unit, blocks, records) if o.status == FAILED]
        return len(noted.failures) == len(failed)
    told = fold.tally(noted.group, units, blocks, records)
    return sum(f.kind != "coverage" for f in noted.failures) == told.faults
