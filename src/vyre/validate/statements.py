"""Rules for statements: scopes, assignments, stores, conditions, bounds, nesting.

A binding is visible until the end of its block; then its name is free again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.limits import MAX_NESTING
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.types import DataType
from vyre.ir.typing import is_condition
from vyre.ir.walk import BODY_NAMES
from vyre.validate.context import Binding
from vyre.validate.expressions import ExpressionChecker
from vyre.validate.mismatch import conversion_hint
from vyre.validate.names import name_problem
from vyre.validate.oversized import TOO_DEEP_NESTING
from vyre.validate.paths import Body

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.validate.context import Context
    from vyre.validate.gathered import Report

_SCALAR_FIX = "expose the required value as an argument or compose at Program level."


class _Scope(Body):
    """A body under check: how far it is, and the bindings that come back when it ends."""

    __slots__ = ("hidden", "in_loop", "next")

    def __init__(
        self, nodes: tuple[Node, ...], name: str, parent: Body | None = None, parent_position: int = 0
    ) -> None:
        super().__init__(nodes, name, parent, parent_position)
        self.next = 0
        self.hidden: list[tuple[str, Binding | None]] = []
        self.in_loop = False


class StatementChecker:
    """Walks a body in program order and reports every broken rule."""

    def __init__(self, context: Context, report: Report, *, allow_reserved: bool = False) -> None:
        self.context = context
        self.report = report
        self.expressions = ExpressionChecker(context, report)
        self._allow_reserved = allow_reserved
        self._stack: list[_Scope] = []

    def run(self, nodes: tuple[Node, ...], root: str) -> None:
        """Checks `nodes`; the bindings of the outermost body stay, for the result of an op."""
        stack = self._stack = [_Scope(nodes, root)]
        handlers = _HANDLERS
        expressions = self.expressions
        while stack:
            scope = stack[-1]
            position = scope.next
            if position == len(scope.nodes):
                stack.pop()
                if stack:
                    self._close(scope)
                continue
            scope.next = position + 1
            node = scope.nodes[position]
            expressions.enter(scope, position)
            handlers[type(node)](self, scope, node)

    def fail(self, code: str, message: str, fix: str, part: str = "") -> None:
        if not self.report.full:
            self.report.add(code, message, fix, self.expressions.statement_path() + part)

    def declare(self, scope: _Scope, name: str, binding: Binding) -> None:
        """Makes a name live: V032 for the name itself, V008 where it hides another."""
        variables = self.context.variables
        problem = name_problem(name, allow_reserved=self._allow_reserved)
        if problem:
            self.fail("V032", *problem)
        known = variables.get(name)
        if known is not None:
            self.fail(
                "V008",
                f"the name {name} is still in use here, and a second binding would hide the first.",
                f"choose another name, or change the value of {name} with Assign.",
            )
            binding = Binding(binding.type if binding.type is known.type else None)
        scope.hidden.append((name, known))
        variables[name] = binding

    def let(self, scope: _Scope, node: Let) -> None:
        self.declare(scope, node.name, Binding(self.expressions.type_of(node.value, "value")))

    def assign(self, scope: _Scope, node: Assign) -> None:
        found = self.expressions.type_of(node.value, "value")
        binding = self.context.variables.get(node.name)
        if binding is None:
            close = self.report.suggest(node.name, self.context.variables)
            self.fail(
                "V006",
                f"the variable {node.name} is assigned but not declared here.{close}",
                f"declare {node.name} with Let before this place, in this block or one around it.",
            )
        elif binding.is_loop:
            self.fail(
                "V011",
                f"{node.name} is the variable of a loop, which alone moves it.",
                "bind a variable of your own with Let and assign that.",
            )
        elif found is not None and binding.type is not None and found is not binding.type:
            self.fail(
                "V036",
                f"{node.name} is {binding.type.value}, and the assigned value is {found.value}.",
                f"{conversion_hint(found, binding.type)}.",
                ".value",
            )

    def store(self, scope: _Scope, node: Store) -> None:
        index = self.expressions.type_of(node.index, "index")
        value = self.expressions.type_of(node.value, "value")
        if self.context.op_id is not None:
            self._forbidden("Store")
            return
        if index is not None and index is not DataType.U32:
            self.fail(
                "V026",
                f"the index of a store is {index.value}, not U32.",
                f"{conversion_hint(index, DataType.U32)}.",
                ".index",
            )
        try:
            buffer = self.context.buffers[node.buffer]
        except KeyError:
            close = self.report.suggest(node.buffer, self.context.buffers)
            self.fail(
                "V004",
                f"no buffer is declared as {node.buffer}.{close}",
                f"declare the buffer {node.buffer} in the program.",
            )
            return
        if buffer is None:
            return
        if not buffer.access.writable:
            self.fail(
                "V005",
                f"{buffer.name} is {buffer.access.value} and cannot be stored to.",
                "declare it ReadWrite, or store to another buffer.",
            )
        if value is not None and value not in buffer.element.stored:
            raw = buffer.element is DataType.Bytes
            self.fail(
                "V013" if raw else "V036",
                f"{buffer.name} holds {buffer.element.value}, and the stored value is {value.value}.",
                "store a Bytes buffer word by word, each word a U32."
                if raw
                else f"{conversion_hint(value, buffer.element.loaded)}.",
                ".value",
            )

    def branch(self, scope: _Scope, node: If) -> None:
        found = self.expressions.type_of(node.condition, "condition")
        if found is not None and not is_condition(found):
            self.fail(
                "V022",
                f"the condition of If is {found.value}, neither U32 nor Bool.",
                "compare the value with something, which gives a U32.",
                ".condition",
            )
        self._push(scope, node)

    def loop(self, scope: _Scope, node: Loop) -> None:
        for part, bound in (("start", node.start), ("stop", node.stop)):
            found = self.expressions.type_of(bound, part)
            if found is not None and found is not DataType.U32:
                self.fail(
                    "V015",
                    f"the {part} of the loop over {node.var} is {found.value}, not U32.",
                    f"{conversion_hint(found, DataType.U32)}.",
                    f".{part}",
                )
        body = self._push(scope, node)
        if body is not None:
            self.declare(body, node.var, Binding(DataType.U32, is_loop=True))

    def block(self, scope: _Scope, node: Block) -> None:
        self._push(scope, node)

    def end_loop(self, scope: _Scope, node: Break) -> None:
        if not scope.in_loop:
            self.fail(
                "V046",
                "Break is not inside a loop.",
                "move it into the body of a Loop, or end the invocation with Return.",
            )

    def leave(self, scope: _Scope, node: Return) -> None:
        if self.context.op_id is not None:
            self._forbidden("Return")

    def barrier(self, scope: _Scope, node: Barrier) -> None:
        if self.context.op_id is not None:
            self._forbidden("Barrier")
        self.context.has_barrier = True

    def _forbidden(self, kind: str) -> None:
        self.fail("V038", f"{kind} has no place in {self.context.op_id}, which is an op.", _SCALAR_FIX)

    def _push(self, scope: _Scope, node: Node) -> _Scope | None:
        """Opens the bodies of `node` and gives the first; None (V018) where they nest too deep."""
        if scope.depth >= MAX_NESTING:
            self.fail("V018", *TOO_DEEP_NESTING)
            return None
        names = BODY_NAMES[type(node)]
        position = scope.next - 1
        for name, nodes in reversed(list(zip(names, node.bodies, strict=True))):
            self._stack.append(_Scope(nodes, name, scope, position))
            self._stack[-1].in_loop = scope.in_loop or isinstance(node, Loop)
        return self._stack[-1]

    def _close(self, scope: _Scope) -> None:
        variables = self.context.variables
        for name, known in reversed(scope.hidden):
            if known is None:
                del variables[name]
            else:
                variables[name] = known


_HANDLERS: dict[type[Node], Callable[[StatementChecker, _Scope, Any], None]] = {
    Let: StatementChecker.let,
    Assign: StatementChecker.assign,
    Store: StatementChecker.store,
    If: StatementChecker.branch,
    Loop: StatementChecker.loop,
    Block: StatementChecker.block,
    Break: StatementChecker.end_loop,
    Return: StatementChecker.leave,
    Barrier: StatementChecker.barrier,
}
