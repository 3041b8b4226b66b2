"""Checks that were left out, put back as witnesses against the analysis.

A watched kernel has all its checks. Those that the analysis had removed leave a byte each in the table
`@vyre_watch`: that they ran, that an index was the last one in bounds, and that one was out of bounds or a
decided comparison came out otherwise. Such an access is not made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.lower.guards import Guards
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.lower.llvm.text import FunctionText
    from vyre.lower.prepare import Prepared

TABLE = "vyre_watch"
RAN, LAST, ESCAPED = 4, 1, 2


@dataclass(slots=True)
class Watch:
    """`sites` counts the checks of a kernel that had been left out."""

    sites: int = 0

    def access(self, text: FunctionText, at: str, length: str) -> str:
        """Records an access; the i1 that says it is in bounds."""
        inside = text.let("ok", f"icmp ult i64 {at}, {length}")
        last = text.let("t", f"sub i64 {length}, 1")
        edge = text.let("c", f"icmp eq i64 {at}, {last}")
        fine = text.let("t", f"select i1 {edge}, i8 {RAN | LAST}, i8 {RAN}")
        self._record(text, text.let("t", f"select i1 {inside}, i8 {fine}, i8 {ESCAPED}"))
        return inside

    def decision(self, text: FunctionText, condition: str, outcome: bool) -> None:
        """Records whether a comparison came out as it was decided."""
        right = text.let("c", f"xor i1 {condition}, {'false' if outcome else 'true'}")
        self._record(text, text.let("t", f"select i1 {right}, i8 {RAN}, i8 {ESCAPED}"))

    def _record(self, text: FunctionText, bits: str) -> None:
        place = text.let("p", f"getelementptr inbounds i8, ptr @{TABLE}, i64 {self.sites}")
        self.sites += 1
        seen = text.let("t", f"load i8, ptr {place}, align 1")
        text.do(f"store i8 {text.let('t', f'or i8 {seen}, {bits}')}, ptr {place}, align 1")

    def table(self) -> str:
        return f"@{TABLE} = global [{max(self.sites, 1)} x i8] zeroinitializer\n"


class WatchedGuards(Guards):
    """The guards of a program; with a `watch`, the emitter keeps an eye on what it leaves out."""

    def __init__(self, prepared: Prepared, watch: Watch | None) -> None:
        super().__init__(prepared)
        self.watch = watch
