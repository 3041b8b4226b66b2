"""The records of finished blocks, read from a journal or the certificate of a shard.

Whoever reads one checks it here first, against the unit it is of: a count that is negative, a check or class
that the op does not have, a missing field are a `FieldError` that names the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.process.provenance import ENTRY, Provenance
from vyre.conform.records.blocks import (
    FAILED,
    PASSED,
    REFUSED,
    BlockEntry,
    GroupEntry,
    OpBlock,
    SoakEntry,
    StageBlock,
)
from vyre.conform.records.documents import Field, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.cases import Kind

_WORD = (1 << 32) - 1


def read_record(record: Field, unit: Unit) -> StageBlock | OpBlock:
    """The record of a block of that unit. Raises `FieldError` where it is none."""
    if unit.kind is None:
        stage = decode(StageBlock, record.value, record.path)
        for outcome in record.field("outcomes").items():
            outcome.field("status").text((PASSED, FAILED, REFUSED))
        return stage
    found = decode(OpBlock, record.value, record.path)
    _check_op(record, unit.kind, unit.block)
    return found


def read_entry(entry: Field, units: Sequence[Unit]) -> BlockEntry | GroupEntry | SoakEntry | Provenance:
    """The same for a line of the journal: a finished block, what was noted when a group was finished, or a
    piece of what was run beyond the plan.

    The first line says where the run was begun (`conform/process/provenance.py`).
    """
    if ENTRY in entry.record():
        entry.only((ENTRY,))
        return decode(Provenance, entry.field(ENTRY).value, ENTRY)
    if "soak" in entry.record():
        return decode(SoakEntry, entry.value)
    if "group" in entry.record():
        noted = decode(GroupEntry, entry.value)
        entry.field("group").text({u.group for u in units})
        return noted
    entry.only(("unit", "block", "record"))
    number = entry.field("unit").integer(high=len(units) - 1)
    unit = units[number]
    block = entry.field("block").integer(high=max(0, -(-unit.count // unit.block) - 1))
    return BlockEntry(number, block, read_record(entry.field("record"), unit))


def _check_op(record: Field, kind: Kind, most: int) -> None:
    """`most` are the cases of a block: a law that was compared on the device is counted beyond a stop too."""
    graph = kind.graph
    record.field("cases").integer(high=min(most, kind.count))
    for fail in record.field("fails").items():
        check, count, first = fail.items(3)
        check.integer(high=len(graph.checks) - 1)
        count.integer(low=1, high=most)
        first.integer(high=max(0, kind.count - 1))
    for failing in record.maybe("failing"):
        for row in failing.items():
            _check_failing(row, kind, most)
    for made in record.maybe("made"):
        case, position, found, wanted, count = made.items(5)
        case.integer(high=max(0, kind.count - 1))
        position.integer(high=max(0, kind.stream.words - 1))
        for word in (found, wanted):
            word.integer(high=_WORD)
        count.integer(low=1)
    names = {c.name for c in graph.checks}
    for name in record.field("refused").items():
        name.text(names)
    if record.field("stop").value is not None:
        _check_stop(record.field("stop"))
    for coverage in record.maybe("coverage"):
        _check_coverage(coverage, kind)


def _check_failing(row: Field, kind: Kind, most: int) -> None:
    """The ranges in which the failing cases of a check are, with how many of each failed."""
    check, ranges = row.items(2)
    check.integer(high=len(kind.graph.checks) - 1)
    for one in ranges.items():
        first, last, count = one.items(3)
        first.integer(high=max(0, kind.count - 1))
        last.integer(low=first.value, high=max(0, kind.count - 1))
        count.integer(low=1, high=min(most, last.value + 1 - first.value))


def _check_stop(stop: Field) -> None:
    for cases in stop.maybe("cases"):
        cases.integer(low=1)
    for word in stop.field("words").items():
        word.integer(high=_WORD)


def _check_coverage(coverage: Field, kind: Kind) -> None:
    spec = kind.graph.spec
    for count in coverage.field("classes").items(len(spec.classes)):
        count.integer()
    found = coverage.field("boundaries").items(len(spec.boundaries))
    for met, values in zip(found, spec.boundaries, strict=True):
        for number in met.items():
            number.integer(high=len(values) - 1)


def misrecorded(unit: Unit, block: Block, record: StageBlock | OpBlock) -> str:
    """What is wrong with the record of a block, which a journal or a shard holds; empty where nothing is."""
    size = block.hi - block.lo
    if isinstance(record, StageBlock) != (unit.kind is None):
        return "is not a record of a run"
    if isinstance(record, StageBlock):
        found = len(record.outcomes)
        return "" if found == size else f"has {found} outcomes of {size} cases"
    assert unit.kind is not None
    ended = record.stop is not None or bool(record.refusal)
    if record.cases > size:
        return f"has {record.cases} of {size} cases"
    if record.cases < size and not ended and (record.cases or record.fails):
        return f"has {record.cases} of {size} cases and does not say why"
    for check, count, first in record.fails:
        if check >= len(unit.kind.graph.checks) or not 0 < count <= size:
            return "counts failures that it cannot have"
        if not block.lo <= first < block.hi:
            return "names a failing case of another block"
    return ""
