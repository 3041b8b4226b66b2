"""Ops that are one of several results of an instruction: calls in a row are one execution of it.

The helper of such an instruction takes a place for each result before its operands. It is called for the
first of the calls, and the others only name their result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from vyre.ir.expr import Call, Expr
from vyre.ir.node import Let, Node
from vyre.lower.prepare import function_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESULTS = 4


class CallDialect(Protocol):
    """What is asked of a dialect; `elements` has the helper of each such op, and which result it is."""

    @property
    def elements(self) -> Mapping[str, tuple[str, int]]: ...

    def call(self, function: str, *operands: str) -> str: ...

    def declare(self, name: str, kind: str, value: str) -> str: ...


class JoinedCalls:
    """Prints such calls; asked for every statement, because any other one ends a row."""

    def __init__(self, dialect: CallDialect, value: Callable[[Expr], str]) -> None:
        self._dialect = dialect
        self._value = value
        self._open: tuple[str, tuple[Expr, ...], str] | None = None

    def close(self) -> None:
        """Ends a row, as the end of a block does."""
        self._open = None

    def lines(self, node: Node, kind: str) -> list[str]:
        """The statement in the target language, with a variable of the type `kind`; nothing where it is not
        such a call."""
        call = self._call(node.value) if isinstance(node, Let) else None
        if not isinstance(node, Let) or call is None:
            self.close()
            return []
        d, name = self._dialect, node.name
        helper, number = d.elements[call.op_id]
        lines: list[str] = []
        if self._open is None or self._open[:2] != (helper, call.args):
            self._open = helper, call.args, name
            results = [f"r{i}_{name}" for i in range(RESULTS)]
            lines = [f"{kind} {', '.join(results)};"]
            lines.append(d.call(helper, *results, *map(self._value, call.args)) + ";")
        text = f"r{number}_{self._open[2]}"
        if call is not node.value and isinstance(node.value, Call):
            text = d.call(function_name(node.value.op_id), text)
        return [*lines, d.declare(f"v_{name}", kind, text)]

    def _call(self, value: Expr) -> Call | None:
        """The call of a result, alone or as the operand of one that makes it canonical."""
        while isinstance(value, Call):
            if value.op_id in self._dialect.elements:
                return value
            if len(value.args) != 1:
                break
            value = value.args[0]
        return None
