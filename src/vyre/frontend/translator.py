"""What translating any statement needs: the block that grows, the names, and the place in the source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.frontend.coordinates import ElementIndex, touches
from vyre.frontend.exits import assigned_names
from vyre.frontend.expressions import Expressions
from vyre.frontend.printing import Printing
from vyre.frontend.scope import Local
from vyre.frontend.tables import ConstantTable, table_of
from vyre.frontend.values import BeyondOps, Buffer, Refused, Value, Written
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Var
from vyre.ir.limits import MAX_NESTING
from vyre.ir.node import Let
from vyre.slotted import dataclass, field

if TYPE_CHECKING:
    import ast
    from collections.abc import Generator, Mapping, Sequence

    from vyre.errors import SourceLocation
    from vyre.frontend.calls import Linker
    from vyre.frontend.scalars import Scalars
    from vyre.frontend.scope import Scope
    from vyre.frontend.source import Source
    from vyre.frontend.values import Const, Operand, PyObject
    from vyre.ir.node import Node


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the functions of one kernel or op share while it is translated."""

    linker: Linker
    scalars: Scalars | None
    """None in an op, which sees only its arguments."""
    memory: list[BufferDecl] = field(default_factory=list[BufferDecl])
    """What the bodies declare."""
    places: dict[str, SourceLocation] = field(default_factory=dict[str, "SourceLocation"])
    """Where they do, by the names of the buffers."""
    tables: dict[ConstantTable, Buffer] = field(default_factory=dict[ConstantTable, Buffer])
    printing: Printing = field(default_factory=Printing)
    open: list[Any] = field(default_factory=list[Any])
    """The functions that are being written out, outermost first."""


class BodyTranslator(ABC):
    """Translates one function; `Statements` says what each statement is."""

    def __init__(self, source: Source, scope: Scope, names: Mapping[str, Any], context: Surroundings) -> None:
        self.source = source
        self.scope = scope
        self.names = names
        self.context = context
        self._block: list[Written] = []
        self.statement: ast.stmt = source.tree
        """The one that is being translated."""
        buffers = ElementIndex(self._dimension, context.linker.link, self._table)
        self.buffers = buffers
        self._expressions = Expressions(source, scope, names, self.call, buffers)

    @property
    def in_op(self) -> bool:
        return self.context.scalars is None

    def translate(self, body: Sequence[ast.stmt]) -> list[Written]:
        """The statements of a block in the current scope."""
        with self.block() as written:
            self.run(body)
        return written

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Adds the statements to the current block."""
        for node in body:
            self.statement = node
            self._expressions.forget()
            try:
                self.one(node)
            except Refused as refusal:
                self._expressions.fail(node, refusal)

    @contextmanager
    def block(self) -> Generator[list[Written]]:
        """A new block, which collects what is translated meanwhile."""
        outer, self._block = self._block, []
        try:
            yield self._block
        finally:
            self._block = outer

    def own_parameters(self) -> None:
        """Gives each scalar that the body assigns a variable, which is the function's own as in Python."""
        tree = self.source.tree
        assigned = assigned_names(tree.body)
        for arg in (*tree.args.posonlyargs, *tree.args.args):
            local = self.scope.find(arg.arg)
            if arg.arg not in assigned or local is None or local.kind != "scalar":
                continue
            assert isinstance(local.operand, Value)
            self.scope.declare(arg.arg, Local("variable", self.named(arg, arg.arg, local.operand)))

    def value(self, node: ast.expr) -> Operand:
        return self._expressions.translate(node)

    def emit(self, at: ast.AST, node: Node, *bodies: list[Written]) -> None:
        self._block.append(Written(node, self.source.location(at), bodies))

    def declare_result(self, name: str, value: Value) -> None:
        """A variable for what the function gives back; `name` is one that the function does not use."""
        self.emit(self.source.tree, Let(name, value.expr))
        self.scope.declare(name, Local("variable", Value(Var(name), value.type)))

    def declare_memory(self, decl: BufferDecl) -> None:
        """A buffer that the statement at hand brings with it."""
        self.context.memory.append(decl)
        self.context.places[decl.name] = self.source.location(self.statement)

    def add(self, written: Sequence[Written]) -> None:
        """Statements that another translator made for this block."""
        self._block.extend(written)

    def once(self, at: ast.AST, stem: str, value: Value) -> Value:
        """The value under a name, where writing it twice would load or count twice."""
        return self.named(at, stem, value) if touches(value.expr) else value

    def named(self, at: ast.AST, stem: str, value: Value) -> Value:
        """The value under a new name."""
        name = self.scope.fresh(stem)
        self.emit(at, Let(name, value.expr))
        return replace(value, expr=Var(name))

    def inside(
        self,
        at: ast.stmt,
        keyword: str,
        body: Sequence[ast.stmt],
        declared: Mapping[str, Local] | None = None,
    ) -> list[Written]:
        """The statements of a nested block, in which `declared` holds besides."""
        if self.scope.nesting >= MAX_NESTING:
            raise Refused(
                f"blocks are nested more than {MAX_NESTING} levels deep; each `elif` counts as one.",
                "move some of them into functions.",
            )
        self.scope.enter(f"{keyword} at line {self.source.location(at).line}")
        for name, local in (declared or {}).items():
            self.scope.declare(name, local)
        try:
            return self.translate(body)
        finally:
            self.scope.leave()

    def _table(self, values: Any, stem: str) -> Buffer:
        if self.in_op:
            raise BeyondOps
        made = table_of(values)
        if made not in self.context.tables:
            name = self.scope.fresh(stem)
            decl = BufferDecl.constant(name, made.element, made.data)
            self.declare_memory(decl)
            self.context.tables[made] = Buffer(decl, made.shape if len(made.shape) > 1 else ())
        return self.context.tables[made]

    def _dimension(self, dimension: int | str) -> Value | Const:
        assert self.context.scalars is not None  # an op has no buffers
        return self.context.scalars.dimension(dimension)

    @abstractmethod
    def one(self, node: ast.stmt) -> None:
        """Adds one statement to the current block, or raises `Refused`."""

    @abstractmethod
    def call(
        self, function: PyObject, args: list[Operand], keywords: dict[str, Operand], *, whole: bool
    ) -> Operand:
        """What a call stands for; `whole` says that the statement has nothing beside it."""
