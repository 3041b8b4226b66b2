"""`vyre certify BACKEND --exhaustive NAME`: all 2^32 inputs of float functions, against their digests.

run_exhaustive(backend, names, target=…, state=…, …)   -> exit code
"""

from __future__ import annotations

import json
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vyre.cli.progress import Bar
from vyre.errors import VyreError
from vyre.files import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.oracle.truth.check import Checked
    from vyre.conform.process.provenance import Provenance

INPUTS = 1 << 32


def run_exhaustive(
    backend: Backend,
    names: Sequence[str],
    *,
    target: str,
    state: str,
    resume: bool = False,
    range_text: str | None = None,
    results: str | None = None,
    as_json: bool = False,
    truth: Path | None = None,
) -> int:
    """Checks the functions and prints what was shown; 1 where a result is wrong, else 0.

    `range_text` is `LO:HI` or one input. Finished chunks are kept under `state`, and `resume` goes on from
    there. The record is written there as well, and to the file `results`. `truth` holds the digests.
    """
    from vyre.conform.oracle.truth.functions import chosen
    from vyre.conform.oracle.truth.record import record, render
    from vyre.conform.oracle.truth.runner import Runner
    from vyre.conform.process.provenance import device_changed, moved, provenance
    from vyre.conform.records.journal import write_durably

    functions = chosen(names)
    lo, hi = parse_range(range_text)
    folder = Path(state) / "exhaustive" / _safe(backend.name)
    runner = Runner(backend)
    verdicts: list[Checked] = []
    seconds: dict[str, float] = {}
    try:
        runner.require_digests()
        for function in functions:
            began = time.monotonic()
            place = provenance(backend, target)
            verdicts.append(
                _checked(runner, function, lo, hi, folder, truth, place, resume=resume, quiet=as_json)
            )
            if changed := moved(backend, place):
                raise device_changed(changed)
            seconds[function.name] = time.monotonic() - began
            if not as_json:
                click.echo(render(verdicts[-1:], target, seconds))
    finally:
        runner.close()
    found = record(verdicts, backend.describe(), target)
    data = json.dumps(found, indent=2).encode() + b"\n"
    file = folder / ("record.json" if len(functions) > 1 else f"{functions[0].name}.json")
    write_durably(file, data)
    times = {name: round(value, 3) for name, value in seconds.items()}
    write_durably(file.with_suffix(".times.json"), json.dumps(times, indent=2).encode() + b"\n")
    if results:
        write_bytes(results, data)
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        click.echo(f"\nrecord    {file}")
    return 1 if any(v.status == "failed" for v in verdicts) else 0


def parse_range(text: str | None) -> tuple[int, int]:
    """`LO:HI`, half open, in any base that Python writes; one number is one input; None is everything."""
    if text is None:
        return 0, INPUTS
    first, colon, second = text.partition(":")
    try:
        lo = int(first, 0)
        hi = int(second, 0) if colon else lo + 1
    except ValueError:
        lo, hi = 0, 0
    if not 0 <= lo < hi <= INPUTS:
        raise VyreError(
            f"{text!r} is not a range of inputs.",
            fix="write LO:HI or one input, such as 0x3f800000:0x40000000.",
        )
    return lo, hi


def _checked(
    runner: Any,
    function: Any,
    lo: int,
    hi: int,
    state: Path,
    truth: Path | None,
    place: Provenance,
    *,
    resume: bool,
    quiet: bool,
) -> Checked:
    from dataclasses import asdict
    from hashlib import sha256

    from vyre.conform.oracle.truth.check import check
    from vyre.conform.oracle.truth.store import index
    from vyre.conform.records.documents import canonical
    from vyre.conform.records.journal import Journal

    head = {
        "provenance": asdict(place),
        "function": function.name,
        "truth": index(truth).get(function.name, {}).get("sha256", ""),
        "range": [lo, hi],
        "batch": runner.batch,
    }
    key = sha256(canonical(head)).hexdigest()[:16]
    journal = Journal(state / f"{function.name}-{key}.jsonl", head, resume=resume)
    marks = deque[tuple[int, float]](maxlen=8)
    with Bar(function.name, hi - lo, unit="inputs", quiet=quiet) as bar:

        def told(done: int, failing: int) -> None:
            wrong = f"{failing} chunks differ" if failing else ""
            marks.append((done, time.monotonic()))
            bar.update(done, failing=wrong, left=_left(marks, hi - lo))

        try:
            return check(runner, function, lo=lo, hi=hi, journal=journal, folder=truth, progress=told)
        finally:
            journal.close()


def _left(marks: Sequence[tuple[int, float]], total: int) -> tuple[tuple[float, str], ...]:
    """The time that is left, by the last few chunks: all cost the same, but those that an earlier run has
    finished cost nothing."""
    (before, then), (done, now) = marks[0], marks[-1]
    return (((total - done) * (now - then) / (done - before), "left"),) if done > before else ()


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
