"""The expressions of one statement without calls, and the statements that must run before it.

The statements of a callee touch no memory, so they may run early; its arguments may touch it. An argument
that does (a load, an atomic, a reduction) stays in place where it is evaluated once and in its turn.
Where it cannot stay it is bound by a `Let`, after everything that the same statement has read or changed
before it, so that the order of accesses never changes (decision 1). Variables need no such care: between
the operands of one statement nothing is assigned but a callee's own, freshly named variables.

Calls of hardware instructions stay calls. They are kept in order and evaluated once like accesses to memory,
and an op's own never leave the block that calls it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.compose.template import MANY
from vyre.ir import expr as e
from vyre.ir.limits import MAX_EXPR_DEPTH
from vyre.ir.node import Let
from vyre.ir.walk import rebuild

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.compose.scan import Scanned
    from vyre.compose.template import Local, Template
    from vyre.ir.node import Node

_MEMORY_NODES = (e.Load, e.Atomic, e.FReduce, e.FReduceApprox, e.Call)
"""What may not be moved, repeated or left out; a call that is still there is a hardware instruction's."""


class _Frame:
    """An expression whose operands are being expanded; without `expr`, the statement itself."""

    __slots__ = ("children", "expr", "values")

    def __init__(self, expr: e.Expr | None, children: tuple[e.Expr, ...]) -> None:
        self.expr = expr
        self.children = children
        self.values: list[e.Expr] = []


class _Slot(NamedTuple):
    """A finished operand that touches memory and stands in an unfinished expression."""

    frame: _Frame
    operand: int


class Expander:
    """Expands the calls of one body; numbers for fresh names are used up in the order of use."""

    def __init__(self, templates: Mapping[str, Template], found: Scanned) -> None:
        self._templates = templates
        self._carriers = found.carriers
        self._next_number = found.first_number
        self._memory: dict[e.Expr, bool] = {}

    def operands(self, exprs: tuple[e.Expr, ...], out: list[Node]) -> tuple[e.Expr, ...]:
        """The expressions of one statement, in order; what must run first is appended to `out`."""
        stack = [_Frame(None, exprs)]
        pending: list[_Slot] = []
        while True:
            frame = stack[-1]
            if len(frame.values) < len(frame.children):
                value = frame.children[len(frame.values)]
                if value in self._carriers:
                    stack.append(_Frame(value, value.children))
                    continue
            elif frame.expr is None:
                return tuple(frame.values)
            else:
                value = self._finish(frame.expr, frame, pending, out)
                stack.pop()
                while pending and pending[-1].frame is frame:
                    pending.pop()
                frame = stack[-1]
                if value.depth >= MAX_EXPR_DEPTH and frame.expr is not None:
                    value = self._set_apart(value, pending, out)
            frame.values.append(value)
            if self._touches_memory(value):
                pending.append(_Slot(frame, len(frame.values) - 1))

    def _finish(self, expr: e.Expr, frame: _Frame, pending: list[_Slot], out: list[Node]) -> e.Expr:
        template = self._templates.get(expr.op_id) if isinstance(expr, e.Call) else None
        if template is None:
            return rebuild(expr, tuple(frame.values))
        names = _Names(self)
        values = self._bind_arguments(template, frame, pending, out, names)
        for local in template.locals:
            names.add(local)
        arguments = {param.name: value for param, value in zip(template.params, values, strict=True)}
        body, result = template.plan.copy(arguments, names.known)
        out.extend(body)
        return result

    def _bind_arguments(
        self, template: Template, frame: _Frame, pending: list[_Slot], out: list[Node], names: _Names
    ) -> list[e.Expr]:
        values = frame.values
        too_deep = template.depth + max((v.depth for v in values), default=0) > MAX_EXPR_DEPTH
        last = self._last_bound(template, values, too_deep)
        bound: set[int] = set()
        if last >= 0:
            while pending[-1].operand > last and pending[-1].frame is frame:
                pending.pop()
            own = {slot: template.params[slot.operand] for slot in pending if slot.frame is frame}
            bound = {slot.operand for slot in own}
            self._bind(pending, out, lambda slot: names.add(own[slot]) if slot in own else None)
        for i, use in enumerate(template.uses):
            value = values[i]
            if i in bound or self._touches_memory(value):
                continue
            repeated = bool(value.children) and (use.times >= MANY or (too_deep and use.times > 0))
            if use.assigned or repeated:
                values[i] = _let(names.add(template.params[i]), value, out)
        return values

    def _last_bound(self, template: Template, values: list[e.Expr], too_deep: bool) -> int:
        """The last argument that touches memory and cannot stay in place, or -1."""
        next_position: int | None = None
        for i in reversed(range(len(values))):
            if not self._touches_memory(values[i]):
                continue
            use = template.uses[i]
            if too_deep or use.assigned or use.position is None:
                return i
            if next_position is not None and use.position > next_position:
                return i
            next_position = use.position
        return -1

    def _bind(self, pending: list[_Slot], out: list[Node], own_name: Callable[[_Slot], str | None]) -> None:
        """Binds every pending operand in order, under its own name where it has one."""
        for slot in pending:
            values = slot.frame.values
            name = own_name(slot) or self.fresh("operand")
            values[slot.operand] = _let(name, values[slot.operand], out)
        pending.clear()

    def _set_apart(self, value: e.Expr, pending: list[_Slot], out: list[Node]) -> e.Expr:
        """Binds a value, so that the expression around it stays within the depth limit."""
        if self._touches_memory(value):
            self._bind(pending, out, lambda _: None)
        return _let(self.fresh("operand"), value, out)

    def fresh(self, stem: str) -> str:
        return fresh_name(self.number(), stem)

    def number(self) -> int:
        self._next_number += 1
        return self._next_number - 1

    def _touches_memory(self, root: e.Expr) -> bool:
        known = self._memory
        stack = [root]
        while stack:
            expr = stack[-1]
            missing = [child for child in expr.children if child not in known]
            if expr not in known and missing:
                stack.extend(missing)
                continue
            stack.pop()
            known[expr] = isinstance(expr, _MEMORY_NODES) or any(known[child] for child in expr.children)
        return known[root]


class _Names:
    """The fresh names of one call, and of the calls that were expanded into its op before."""

    def __init__(self, expander: Expander) -> None:
        self._expander = expander
        self._numbers: dict[int | None, int] = {}
        self.known: dict[str, str] = {}

    def add(self, local: Local) -> str:
        if local.group not in self._numbers:
            self._numbers[local.group] = self._expander.number()
        name = self.known[local.name] = fresh_name(self._numbers[local.group], local.stem)
        return name


def fresh_name(number: int, stem: str) -> str:
    return f"__call{number}_{stem}"


def _let(name: str, value: e.Expr, out: list[Node]) -> e.Var:
    out.append(Let(name, value))
    return e.Var(name)
