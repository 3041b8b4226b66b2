"""A formula with numbered steps, for definitions of hundreds of them, and with one kind of branch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, Operand, Var, lift
from vyre.ir.node import Assign, If
from vyre.numeric.formula import Formula

if TYPE_CHECKING:
    from collections.abc import Generator

    from vyre.ir.node import Node


class Script(Formula):
    """A step whose name is taken gets a number: `root`, `root_2`, `root_3`."""

    def __init__(self, op_id: str, *params: str, doc: str) -> None:
        super().__init__(op_id, *params, doc=doc)
        self._count = dict.fromkeys(params, 1)

    def __call__(self, name: str, value: Operand) -> Var:
        count = self._count[name] = self._count.get(name, 0) + 1
        return super().__call__(name if count == 1 else f"{name}_{count}", value)

    def let(self, value: Operand, name: str = "t") -> Expr:
        """Holds a value in a variable; variables and literals stay what they are."""
        value = lift(value)
        return value if isinstance(value, Var | LitU32) else self(name, value)

    def assign(self, variable: Var, value: Operand) -> None:
        self._body.append(Assign(variable.name, lift(value)))

    @contextmanager
    def when(self, condition: Expr) -> Generator[None]:
        """Steps that run only where the condition holds. They reach the outside through `assign` alone."""
        outer: list[Node] = self._body
        self._body = []
        yield
        outer.append(If(condition, tuple(self._body)))
        self._body = outer
