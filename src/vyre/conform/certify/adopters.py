"""Files that adopters bring and take: expected failures in, JUnit XML out."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

from vyre.conform.records import counts
from vyre.conform.records.sides import LAW, sides
from vyre.errors import VyreError

if TYPE_CHECKING:
    from vyre.conform.records.counts import Counts
    from vyre.conform.records.results import Failure, Results


def read_expected(text: str, *, file: str = "<text>") -> list[tuple[str, str]]:
    """Lines `NAME: reason`, where NAME is an op or a case or the start of one; `#` begins a comment."""
    found: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        name, _, reason = stripped.partition(": ")
        if not reason.strip():
            raise VyreError(
                f"{stripped!r} gives no reason.",
                place=f"{file}:{number}",
                fix="write every expected failure as NAME: reason.",
            )
        found.append((name.strip(), reason.strip()))
    return found


def junit(results: Results) -> str:
    """One suite per op and stage; one test per law, kind of parity and subject. No clock, no timing."""
    root = ElementTree.Element("testsuites", name=f"vyre certify {results.plan.backend}")
    for op in results.ops:
        mine = [f for f in results.failures if f.op == op.id]
        suite = _Suite(root, op.id)
        parity = [
            f for f in mine if f.case.count("/") == 2 or f.kind in ("coverage", "crash", "hang", "error")
        ]
        suite.test("parity", parity, results, skipped=op.refusal or _skipped(counts.parity(op)))
        for law in op.laws:
            about = [f for f in mine if f.case.startswith(f"{op.id}/{law.law}/")]
            suite.test(law.law, about, results, skipped=op.refusal or _skipped(counts.law(op, law)))
        suite.close()
    for stage in results.stages:
        suite = _Suite(root, stage.stage)
        for subject in stage.subjects:
            mine = [f for f in results.failures if f.stage == stage.stage and _subject(f) == subject.subject]
            suite.test(subject.subject, mine, results, skipped=_skipped(counts.subject(subject)))
        known = {s.subject for s in stage.subjects}
        rest = [f for f in results.failures if f.stage == stage.stage and _subject(f) not in known]
        if rest:
            suite.test("others", rest, results)
        suite.close()
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _skipped(found: Counts) -> str:
    """Why a test shows nothing: no case of it was run. Empty where one was."""
    return "" if found.run else found.text("case")


def _subject(failure: Failure) -> str:
    parts = failure.case.split("/")
    return parts[1] if len(parts) > 2 else ""


class _Suite:
    def __init__(self, root: ElementTree.Element, name: str) -> None:
        self._element = ElementTree.SubElement(root, "testsuite", name=name)
        self._name = name
        self._counts = {"tests": 0, "failures": 0, "skipped": 0}

    def test(self, name: str, failures: list[Failure], results: Results, *, skipped: str = "") -> None:
        case = ElementTree.SubElement(self._element, "testcase", classname=self._name, name=name)
        self._counts["tests"] += 1
        unexpected = [f for f in failures if f in results.unexpected]
        if unexpected:
            self._counts["failures"] += 1
            first = unexpected[0]
            found = ElementTree.SubElement(case, "failure", type=first.kind, message=_clean(describe(first)))
            found.text = _clean("\n\n".join(_long(f) for f in unexpected))
        elif failures or skipped:
            self._counts["skipped"] += 1
            why = "an expected failure" if failures else skipped
            ElementTree.SubElement(case, "skipped", message=_clean(why))

    def close(self) -> None:
        for key, count in self._counts.items():
            self._element.set(key, str(count))


def describe(failure: Failure) -> str:
    """A failure in one line."""
    inputs = ", ".join(failure.inputs)
    shown = f" on {inputs}" if inputs and len(inputs) < 200 else ""
    name = failure.smallest if failure.op else failure.case
    (first, one), (second, other) = sides(failure.expected, failure.actual, law=failure.kind == LAW)
    return f"{name}{shown}: {first} {one}, {second} {other}"


def _long(failure: Failure) -> str:
    return "\n".join([describe(failure), failure.note, f"replay: {failure.replay}", failure.program])


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return "".join(c for c in text if c in "\t\n\r" or 0x20 <= ord(c) < 0xD800 or 0xE000 <= ord(c) <= 0xFFFD)
