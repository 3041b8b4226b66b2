"""The records of finished blocks, as the journal and the certificate of a shard hold them.

Whoever reads one from disk checks it here first, against the unit it is of: a count that is negative, a check
or class that the op does not have, a missing field are a `FieldError` that names the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.conform.documents import Field, FieldError, decode
from vyre.conform.results import Failure
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.units import Unit
    from vyre.conform.verify.cases import Kind

_WORD = (1 << 32) - 1
_STOP = ("kind", "message", "case", "words", "at")


def check_record(record: Field, unit: Unit) -> None:
    """Raises `FieldError` where this is no record of a block of that unit."""
    if unit.kind is None:
        record.only(("outcomes",))
        for outcome in record.field("outcomes").items():
            decode(Outcome, outcome.value, outcome.path)
            outcome.field("status").text((PASSED, FAILED, REFUSED))
    else:
        _check_op(record, unit.kind)


def check_entry(entry: Field, units: Sequence[Unit]) -> None:
    """The same for a line of the journal: a finished block, or what was noted when a group was finished."""
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


def _check_op(record: Field, kind: Kind) -> None:
    graph = kind.graph
    record.only(("cases", "fails", "refused", "stop"), ("refusal", "coverage"))
    cases = record.field("cases").integer(high=kind.count)
    for fail in record.field("fails").items():
        check, count, first = fail.items(3)
        check.integer(high=len(graph.checks) - 1)
        count.integer(low=1, high=max(1, cases))
        first.integer(high=max(0, kind.count - 1))
    names = {c.name for c in graph.checks}
    for name in record.field("refused").items():
        name.text(names)
    for refusal in record.maybe("refusal"):
        refusal.text()
    if record.field("stop").value is not None:
        _check_stop(record.field("stop"))
    for coverage in record.maybe("coverage"):
        _check_coverage(coverage, kind)


def _check_stop(stop: Field) -> None:
    stop.only(_STOP)
    for name in ("kind", "message", "at"):
        stop.field(name).text()
    stop.field("case").integer()
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
