"""Predication: nested Ifs become statements in a row, each under a predicate of its own.

    if a { x; if b { y } else { z } }      p = a;  if p { x; q = b; r = !q }  if q { y }  if r { z }

Predicates are U32 variables, assigned where the conditions stood, so each is evaluated once and only
where it was before, and what was uniform stays uniform. A variable declared under a predicate is
declared as zero outside it. A loop under a predicate gets empty bounds where the predicate is false.
Needs unique names, because the scopes of the Ifs are gone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitBool, Literal, LitI32, LitU32, MakeVec, Var
from vyre.ir.node import Assign, Block, Break, If, Let, Loop, Node, Return
from vyre.ir.types import WIDE_LITERAL_TYPES, DataType
from vyre.lower.names import NameSupply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.lower.prepare import Prepared


class Predicator:
    """Rewrites bodies. `prepared` is the program it was made for, with the variables it adds.

    With `absorb_returns` a Return clears the predicates around it instead of ending the invocation;
    the caller ends it where all of them have met again.
    """

    def __init__(self, prepared: Prepared, *, absorb_returns: bool = False) -> None:
        self.prepared = replace(prepared, types=prepared.types.copy())
        self._supply = NameSupply(prepared.variables)
        self._absorb = absorb_returns

    def rewrite(self, body: Sequence[Node]) -> tuple[Node, ...]:
        """The same statements with no If inside an If."""
        if not self._absorb:
            return self._scope(body, ())
        live = self._name("live")
        return (Let(live, LitU32(1)), *self._scope(body, (live,)))

    def _scope(self, body: Sequence[Node], guards: tuple[str, ...]) -> tuple[Node, ...]:
        scope = _Scope()
        self._body(scope, body, guards)
        scope.flush()
        return tuple(scope.out)

    def _name(self, wanted: str) -> str:
        name = self._supply.fresh(wanted)
        self.prepared.types.declare(name, DataType.U32)
        return name

    def _body(self, scope: _Scope, body: Sequence[Node], guards: tuple[str, ...]) -> None:
        for node in body:
            match node:
                case Block(body=inner):
                    self._body(scope, inner, guards)
                case If():
                    self._branch(scope, node, guards)
                case Loop():
                    self._loop(scope, node, guards)
                case Let(name=name, value=value):
                    self._declare(scope, name, value, guards)
                case Return() if self._absorb:
                    for guard in guards:
                        scope.add(Assign(guard, LitU32(0)), guards)
                    scope.flush()
                case Break():
                    scope.add(node, guards)
                    scope.flush()
                case _:
                    scope.add(node, guards)

    def _declare(self, scope: _Scope, name: str, value: Expr, guards: tuple[str, ...]) -> None:
        if guards:
            scope.out.append(Let(name, zero_of(self.prepared.variables[name])))
            scope.add(Assign(name, value), guards)
        else:
            scope.add(Let(name, value), guards)

    def _branch(self, scope: _Scope, node: If, guards: tuple[str, ...]) -> None:
        then = self._name("then")
        self._declare(scope, then, self._truth(node.condition), guards)
        orelse = self._name("otherwise") if node.orelse else ""
        if orelse:
            self._declare(scope, orelse, Var(then).eq(0), guards)
        self._body(scope, node.then, (*guards, then))
        self._body(scope, node.orelse, (*guards, orelse))

    def _truth(self, condition: Expr) -> Expr:
        if self.prepared.type(condition) is DataType.Bool:
            return condition.cast(DataType.U32)
        return condition.ne(0)

    def _loop(self, scope: _Scope, node: Loop, guards: tuple[str, ...]) -> None:
        start, stop = node.start, node.stop
        if guards:
            names = self._name(f"{node.var}_from"), self._name(f"{node.var}_to")
            for name, bound in zip(names, (start, stop), strict=True):
                self._declare(scope, name, bound, guards)
            start, stop = Var(names[0]), Var(names[1])
        scope.flush()
        scope.out.append(Loop(node.var, start, stop, self._scope(node.body, self._inside(guards))))

    def _inside(self, guards: tuple[str, ...]) -> tuple[str, ...]:
        """The predicates that a loop needs inside: they hold there until an absorbed Return clears them."""
        return guards if self._absorb else ()


class _Scope:
    """Statements in a row; neighbours under one predicate share an If."""

    def __init__(self) -> None:
        self.out: list[Node] = []
        self._pending: list[Node] = []
        self._guard = ""

    def add(self, node: Node, guards: tuple[str, ...]) -> None:
        guard = guards[-1] if guards else ""
        if guard != self._guard:
            self.flush()
            self._guard = guard
        if guard:
            self._pending.append(node)
        else:
            self.out.append(node)

    def flush(self) -> None:
        if self._pending:
            self.out.append(If(Var(self._guard), self._pending))
            self._pending = []


def zero_of(t: DataType) -> Expr:
    """The zero of a variable's type."""
    if t is DataType.I32:
        return LitI32(0)
    if t is DataType.Bool:
        return LitBool(False)
    if t in WIDE_LITERAL_TYPES:
        return Literal(t, 0)
    return MakeVec(t, (LitU32(0),) * t.lanes) if t.lanes > 1 else LitU32(0)
