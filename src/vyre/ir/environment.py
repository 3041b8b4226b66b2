"""The environment of `type_of` for programs known to be valid: what their names mean, and the types and
effects of their expressions.

Three have an environment of their own. The validator must say what is wrong, and go on. The interpreter's
compiler and the evaluator of `semantics` keep the type of a variable with its register or its words, and an
expression is evaluated where it is typed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Atomic, Call, Expr
from vyre.ir.node import Let, Loop, Node
from vyre.ir.types import DataType
from vyre.ir.typing import type_of
from vyre.ir.walk import every_node, postorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.signature import OpSignature

    Signatures = Callable[[str], OpSignature | None]


class Types:
    """Answers for every expression whose variables have been declared; each node is looked at once.

    `signatures` knows the ops of the calls, where there are any.
    """

    __slots__ = ("_atomic", "_elements", "_signatures", "_types", "_variables")

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
        """The types of a whole program, its variables included, which have names of their own."""
        types = cls(buffers, signatures=signatures)
        types.learn(entry)
        return types

    def learn(self, entry: Iterable[Node]) -> None:
        """Declares every variable of the statements."""
        for node in every_node(entry):
            self.enter(node)

    def enter(self, node: Node) -> None:
        """Declares the variable of one statement; they come in program order."""
        match node:
            case Let(name=name, value=value):
                self.declare(name, self.type(value))
            case Loop(var=var):
                self.declare(var, DataType.U32)
            case _:
                pass

    def declare(self, name: str, t: DataType) -> None:
        """A variable, or another meaning for a name whose scope has ended."""
        if self._variables.get(name, t) is not t:
            self._types.clear()
        self._variables[name] = t

    def copy(self) -> Types:
        """The same knowledge, to which more variables can be added apart."""
        made = Types((), signatures=self._signatures)
        made._elements = self._elements
        made._variables = dict(self._variables)
        made._types = dict(self._types)
        made._atomic = dict(self._atomic)
        return made

    @property
    def variables(self) -> Mapping[str, DataType]:
        """The type of every variable, in the order of their declarations."""
        return self._variables

    def variable(self, name: str) -> DataType | None:
        return self._variables.get(name)

    def element(self, buffer: str) -> DataType | None:
        return self._elements.get(buffer)

    def signature(self, op_id: str) -> OpSignature | None:
        return self._signatures(op_id) if self._signatures else None

    def type(self, root: Expr) -> DataType:
        types = self._types
        known = types.get(root)
        if known is not None:
            return known
        for expr in postorder(root, types):
            found = type_of(expr, tuple([types[child] for child in expr.children]), self)
            assert found is not None, f"not a valid program: {expr!r}"
            types[expr] = found
        return types[root]

    def has_atomic(self, root: Expr) -> bool:
        """True when evaluating the expression changes memory, or is a matter of several invocations: a
        call that inlining has left is a hardware instruction's."""
        atomic = self._atomic
        known = atomic.get(root)
        if known is not None:
            return known
        for expr in postorder(root, atomic):
            own = isinstance(expr, Atomic | Call)
            atomic[expr] = own or any(atomic[child] for child in expr.children)
        return atomic[root]
