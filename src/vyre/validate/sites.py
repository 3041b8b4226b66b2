"""Where an expression stands: the statement and the part of it, so that rules can say what is wrong there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.validate.mismatch import conversion_hint
from vyre.validate.paths import ExpressionPaths, operand_name

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.validate.context import Context
    from vyre.validate.gathered import Report
    from vyre.validate.paths import Body


class ExpressionSite:
    """The expression at hand, what it may refer to (`context`), and how an error in it is told (`report`)."""

    def __init__(self, context: Context, report: Report) -> None:
        self.context = context
        self.report = report
        self._types: dict[e.Expr, DataType | None] = {}
        self._statement = ""
        self._body: Body | None = None
        self._position = 0
        self._label = ""
        self._paths: ExpressionPaths | None = None
        self._root: e.Expr = e.LitU32(0)

    def enter(self, body: Body, position: int) -> None:
        """Moves on to another statement; what was typed before no longer counts."""
        self._body = body
        self._position = position
        self._statement = ""
        self._types = {}

    def enter_path(self, path: str) -> None:
        """The same for an expression that belongs to no statement: the result of an op."""
        self._body = None
        self._statement = path
        self._types = {}

    def statement_path(self) -> str:
        if not self._statement and self._body is not None:
            self._statement = self._body.path(self._position)
        return self._statement

    def fail(self, node: e.Expr, code: str, message: str, fix: str, *, operand: int | None = None) -> None:
        """Reports at `node`, or at one of its operands."""
        if self.report.full:
            return
        path = self.path_of(node)
        if operand is not None:
            path = f"{path}.{operand_name(node, operand)}"
        self.report.add(code, message, fix, path)

    def element(self, name: str) -> DataType | None:
        buffer = self.context.buffers.get(name)
        return buffer.element if buffer else None

    def path_of(self, node: e.Expr) -> str:
        if self._paths is None:
            self._paths = ExpressionPaths(self._root)
        dot = "." if self._label else ""
        return f"{self.statement_path()}{dot}{self._label}{self._paths.path(node)}"

    def operand(
        self, node: e.Expr, position: int, found: DataType | None, wanted: DataType, what: str
    ) -> None:
        """V026 unless the operand has the one type that is allowed there."""
        if found is not None and found is not wanted:
            self.fail(
                node,
                "V026",
                f"{what} is {found.value}, not {wanted.value}.",
                f"{conversion_hint(found, wanted)}.",
                operand=position,
            )
