"""What came of replaying a row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.conform.oracle.golden.rows import Row
    from vyre.ir.types import DataType


class Status(Enum):
    """A refusal is a backend saying that it cannot do an operation exactly; it is not a failure."""

    Passed = "passed"
    Failed = "failed"
    Refused = "refused"


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """One row on one backend: the first case that differs, or how many cases agreed.

    `program` is the text of the program that was run; it is empty for rows that run nothing. `error` is what
    a backend raised in place of a result.
    """

    row: Row
    status: Status
    cases: int
    inputs: str = ""
    expected: str = ""
    actual: str = ""
    program: str = ""
    error: Exception | None = None

    @property
    def ok(self) -> bool:
        return self.status is Status.Passed


def compared(
    row: Row, expected: object, actual: object, *, program: str = "", inputs: str = ""
) -> RowOutcome:
    """The outcome of one comparison; both sides are kept as text when they differ."""
    if expected == actual:
        return RowOutcome(row, Status.Passed, 1)
    return RowOutcome(row, Status.Failed, 1, inputs, str(expected), str(actual), program)


def show(bits: int, of: DataType) -> str:
    """A value by its bits, as wide as its type."""
    return f"0x{bits:0{of.bits // 4}X}"
