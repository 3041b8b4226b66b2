"""The records of finished blocks, as the journal and the certificate of a shard hold them.

Whoever reads one from disk checks it here first, against the unit it is of: a count that is negative, a check
or class that the op does not have, a missing field are a `FieldError` that names the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.conform.process.provenance import ENTRY, Provenance
from vyre.conform.records.documents import Field, FieldError, decode
from vyre.conform.records.results import Failure
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.cases import Kind

_WORD = (1 << 32) - 1
_STOP = ("kind", "message", "case", "words", "at")
_STOP_MORE = ("check", "cases", "op", "in")


def check_record(record: Field, unit: Unit) -> None:
    """Raises `FieldError` where this is no record of a block of that unit."""
    if unit.kind is None:
        record.only(("outcomes",))
        for outcome in record.field("outcomes").items():
            decode(Outcome, outcome.value, outcome.path)
            outcome.field("status").text((PASSED, FAILED, REFUSED))
    else:
        _check_op(record, unit.kind, unit.block)


def check_entry(entry: Field, units: Sequence[Unit]) -> None:
    """The same for a line of the journal: a finished block, or what was noted when a group was finished.

    The first line says where the run was begun (`conform/process/provenance.py`).
    """
    if ENTRY in entry.record():
        entry.only((ENTRY,))
        decode(Provenance, entry.field(ENTRY).value, ENTRY)
        return
    if "group" not in entry.record():
        entry.only(("unit", "block", "record"))
        unit = units[entry.field("unit").integer(high=len(units) - 1)]
        entry.field("block").integer(high=max(0, -(-unit.count // unit.block) - 1))
        check_record(entry.field("record"), unit)
        return
    entry.only(("group", "facts", "failures"))
    entry.field("group").text({u.group for u in units})
    for name in entry.field("facts").record():
        entry.field("facts").field(name).text()
    for failure in entry.field("failures").items():
        decode(Failure, failure.value, failure.path)


def _check_op(record: Field, kind: Kind, most: int) -> None:
    """`most` are the cases of a block: a law that was compared on the device is counted beyond a stop too."""
    graph = kind.graph
    record.only(("cases", "fails", "refused", "stop"), ("refusal", "coverage", "failing", "made"))
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
    for refusal in record.maybe("refusal"):
        refusal.text()
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
    stop.only(_STOP, _STOP_MORE)
    for name in ("kind", "message", "at"):
        stop.field(name).text()
    for name in ("check", "op", "in"):
        for field in stop.maybe(name):
            field.text()
    stop.field("case").integer()
    for cases in stop.maybe("cases"):
        cases.integer(low=1)
    for word in stop.field("words").items():
        word.integer(high=_WORD)


def _check_coverage(coverage: Field, kind: Kind) -> None:
    spec = kind.graph.spec
    coverage.only(("classes", "boundaries"))
    for count in coverage.field("classes").items(len(spec.classes)):
        count.integer()
    found = coverage.field("boundaries").items(len(spec.boundaries))
    for met, values in zip(found, spec.boundaries, strict=True):
        for number in met.items():
            number.integer(high=len(values) - 1)


__all__ = ["FieldError", "check_entry", "check_record"]


def misrecorded(unit: Unit, block: Block, record: Any) -> str:
    """What is wrong with the record of a block, which a journal or a shard holds; empty where nothing is."""
    size = block.hi - block.lo
    try:
        if unit.kind is None:
            outcomes = record["outcomes"]
            return "" if len(outcomes) == size else f"has {len(outcomes)} outcomes of {size} cases"
        cases, ended = record["cases"], record["stop"] is not None or bool(record.get("refusal"))
        if type(cases) is not int or not 0 <= cases <= size:
            return f"has {cases} of {size} cases"
        if cases < size and not ended and (cases or record["fails"]):
            return f"has {cases} of {size} cases and does not say why"
        for check, count, first, *_ in record["fails"]:
            if not 0 <= check < len(unit.kind.graph.checks) or not 0 < count <= size:
                return "counts failures that it cannot have"
            if not block.lo <= first < block.hi:
                return "names a failing case of another block"
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return f"is no record of a run ({type(error).__name__})"
    return ""
