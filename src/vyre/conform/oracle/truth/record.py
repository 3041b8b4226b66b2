"""What an exhaustive check has shown, as data and as text.

record(verdicts, info, target)    a JSON-able dict without times, for a certificate or the docs
render(verdicts, target, …)       lines for a terminal, with a command that repeats each wrong input
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vyre.conform.oracle.digest import CHUNK
from vyre.conform.oracle.truth.check import EXHAUSTIVE, FAILED, REFUSED
from vyre.conform.oracle.truth.functions import FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vyre.backends.protocol import BackendInfo
    from vyre.conform.oracle.truth.check import BadChunk, Checked

SCHEMA = "vyre.exhaustive/1"


def record(verdicts: Sequence[Checked], info: BackendInfo, target: str) -> dict[str, Any]:
    """Everything but the clock: equal runs give equal records."""
    return {
        "schema": SCHEMA,
        "backend": {
            "name": info.name,
            "version": info.version,
            "device": info.device,
            "driver": info.driver,
            "toolchain": info.toolchain,
            "target": target,
        },
        "chunk": CHUNK,
        "functions": [{**asdict(v), "inputs": v.inputs} for v in verdicts],
    }


def replay(target: str, function: str, input: int) -> str:
    """The command that compares one input alone with the oracle."""
    return f"vyre certify {target} --exhaustive {function} --range {input:#x}"


def render(verdicts: Sequence[Checked], target: str, seconds: Mapping[str, float]) -> str:
    """A line per function, then what is wrong."""
    lines = [_line(v, seconds.get(v.function)) for v in verdicts]
    for verdict in verdicts:
        for chunk in verdict.chunks:
            lines += ["", *_details(verdict, chunk, target)]
    return "\n".join(lines)


def _line(verdict: Checked, seconds: float | None) -> str:
    name = f"{verdict.function:20}"
    if verdict.status == REFUSED:
        return f"{name} refused      {verdict.note}"
    what = "all 2^32 inputs" if verdict.status == EXHAUSTIVE else f"{verdict.inputs} inputs"
    if verdict.status == FAILED:
        what += f", {verdict.differing} chunks of {CHUNK} differ"
    took = f"  {seconds:.1f} s" if seconds is not None else ""
    note = f"  ({verdict.note})" if verdict.note else ""
    return f"{name} {verdict.status:12} {what}{took}{note}"


def _details(verdict: Checked, chunk: BadChunk, target: str) -> Iterator[str]:
    """Input, expected and actual of the wrong results of a chunk, in bits."""
    digits = FUNCTIONS[verdict.function].width // 4
    yield f"{verdict.function}: {chunk.wrong} wrong from input {chunk.first:#010x}. {chunk.note}".rstrip()
    for wrong in chunk.shown:
        yield (
            f"  input {wrong.input:#010x}  expected 0x{wrong.expected:0{digits}x}  "
            f"actual 0x{wrong.actual:0{digits}x}"
        )
    if chunk.shown:
        yield f"  replay: {replay(target, verdict.function, chunk.shown[0].input)}"
