"""What is recorded of a finished block, of a case of a stage, and of a group of blocks.

    encode(OpBlock(cases=16))                     the record as the journal and a shard's certificate hold it
    decode(OpBlock, record)                       the same value back

A row inside a record, such as the failing cases of a check, is a list in JSON. Which values a record may have
depends on the unit it is of, and `conform/suite/block_records.py` sees to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from vyre.conform.records.documents import Omitted
from vyre.conform.records.results import Failure, SubjectCount  # noqa: TC001 - read back by annotations

PASSED, FAILED, REFUSED = "passed", "failed", "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case; the texts are empty unless it failed or was refused."""

    case: str
    subject: str
    status: str
    kind: str = ""
    inputs: tuple[str, ...] = ()
    expected: str = ""
    actual: str = ""
    note: str = ""
    program: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class StageBlock:
    """The cases of a block of a stage, in order."""

    outcomes: tuple[Outcome, ...]


class FailCount(NamedTuple):
    """A check that failed: its number, on how many cases, and the first of them."""

    check: int
    failed: int
    first: int


class CaseRange(NamedTuple):
    """Cases `first` to `last`, of which `failed` did."""

    first: int
    last: int
    failed: int


class FailRanges(NamedTuple):
    """Where all failing cases of a check are."""

    check: int
    ranges: tuple[CaseRange, ...]


class WrongInput(NamedTuple):
    """The first input that a backend made wrong: a word of a case, as it is and as it should be; and how many
    such `mistakes` there were."""

    case: int
    position: int
    found: int
    wanted: int
    mistakes: int


@dataclass(frozen=True, slots=True)
class Stop:
    """How a block ended badly: at case `case`, or at `cases` of them from there.

    `op` and `in_` are named where another op, or another kind of its cases, was the cause.
    """

    kind: str
    message: str
    case: int
    words: tuple[int, ...]
    at: str
    check: Annotated[str | None, Omitted()] = None
    cases: Annotated[int | None, Omitted()] = None
    op: Annotated[str | None, Omitted()] = None
    in_: Annotated[str | None, Omitted()] = None


@dataclass(frozen=True, slots=True)
class BlockCoverage:
    """Cases in each class of inputs, and which boundary values occurred, by operand word."""

    classes: tuple[int, ...]
    boundaries: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class OpBlock:
    """A block of cases of an op: how many were run, what failed and where, and how it ended."""

    cases: int
    fails: tuple[FailCount, ...] = ()
    refused: tuple[str, ...] = ()
    """Checks that the backend refused."""
    stop: Stop | None = None
    refusal: Annotated[str | None, Omitted()] = None
    """Why the backend refused the op."""
    coverage: Annotated[BlockCoverage | None, Omitted()] = None
    failing: Annotated[tuple[FailRanges, ...] | None, Omitted()] = None
    made: Annotated[WrongInput | None, Omitted()] = None


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """A finished block of a shard, as the journal has it; what `vyre merge` adds up."""

    unit: str
    number: int
    record: StageBlock | OpBlock


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """A line of the journal: a finished block of unit number `unit`."""

    unit: int
    block: int
    record: StageBlock | OpBlock


@dataclass(frozen=True, slots=True)
class GroupFacts:
    """How an op was lowered, and whether its instruction was seen; nothing of a stage."""

    lowering: Annotated[str | None, Omitted()] = None
    instruction: Annotated[str | None, Omitted()] = None


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A line of the journal: what was noted when all blocks of an op or stage were finished."""

    group: str
    facts: GroupFacts
    failures: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class SoakEntry:
    """A line of the journal: the `soak`-th piece of what is run beyond the plan, and the milliseconds that
    all of it had taken when this piece was finished."""

    soak: int
    seed: int
    stage: str
    until_ms: int
    subjects: tuple[SubjectCount, ...]
    failures: tuple[Failure, ...]
