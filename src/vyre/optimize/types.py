"""Types and effects of expressions in a program whose variables have names of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Atomic, Call, Expr
from vyre.ir.node import Let, Loop, Node
from vyre.ir.types import DataType
from vyre.ir.typing import type_of
from vyre.ir.walk import statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.signature import OpSignature

    Signatures = Callable[[str], OpSignature | None]


class Types:
    """Answers for every expression of a valid program; each node is looked at once.

    `signatures` knows the ops of the calls, where there are any.
    """

    def __init__(self, buffers: Iterable[BufferDecl], *, signatures: Signatures | None = None) -> None:
        self._signatures = signatures
        self._elements: dict[str, DataType] = {}
        for decl in buffers:
            self._elements.setdefault(decl.name, decl.element)
        self._variables: dict[str, DataType] = {}
        self._types: dict[Expr, DataType] = {}
        self._atomic: dict[Expr, bool] = {}

    @classmethod
    def of(
        cls, entry: tuple[Node, ...], buffers: Iterable[BufferDecl], *, signatures: Signatures | None = None
    ) -> Types:
        """The types of a whole program, its variables included."""
        types = cls(buffers, signatures=signatures)
        for _, node in statements(entry):
            if isinstance(node, Let):
                types.declare(node.name, types.type(node.value))
            elif isinstance(node, Loop):
                types.declare(node.var, DataType.U32)
        return types

    def declare(self, name: str, t: DataType) -> None:
        self._variables[name] = t

    def variable(self, name: str) -> DataType | None:
        return self._variables.get(name)

    def element(self, buffer: str) -> DataType | None:
        return self._elements.get(buffer)

    def signature(self, op_id: str) -> OpSignature | None:
        return self._signatures(op_id) if self._signatures else None

    def type(self, root: Expr) -> DataType:
        self._look(root)
        return self._types[root]

    def has_atomic(self, root: Expr) -> bool:
        """True when evaluating the expression changes memory, or is a matter of several invocations: a
        call that inlining has left is a hardware instruction's."""
        self._look(root)
        return self._atomic[root]

    def _look(self, root: Expr) -> None:
        if root in self._types:
            return
        stack = [root]
        while stack:
            expr = stack[-1]
            missing = [child for child in expr.children if child not in self._types]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if expr in self._types:
                continue
            found = type_of(expr, tuple(self._types[child] for child in expr.children), self)
            assert found is not None, f"the optimiser got an invalid program: {expr!r}"
            self._types[expr] = found
            own = isinstance(expr, Atomic | Call)
            self._atomic[expr] = own or any(self._atomic[c] for c in expr.children)
