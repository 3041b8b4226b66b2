"""Two digests of a program: of its bytes, and of its meaning with the names stripped (decision 21).

The meaning digest is for caches and proofs. A variable counts as the number of the `Let` or `Loop`
that binds it, a buffer as its place among the declarations; bindings, accesses, element types, counts
and op ids stay, and so do names that nothing declares. Whether a program is valid is not part of its
meaning: names that collide or are malformed are stripped like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.ir.node import Assign, Let, Loop, Store
from vyre.sha import sha256
from vyre.wire.layout import NAME, TAG, VARIADIC, append_varint
from vyre.wire.writer import (
    append_number,
    buffer_fields,
    check_depth,
    check_limits,
    encode,
    expr_layout,
    name_bytes,
    node_layout,
    u32,
)

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.node import Node
    from vyre.ir.program import Program

_PREFIX: Final = b"vyre meaning 1\n"


def byte_digest(program: Program) -> str:
    """SHA-256 of the wire form, in hex: the same for equal programs, and for no others."""
    return sha256(encode(program)).hexdigest()


def meaning_digest(program: Program) -> str:
    """A hex digest that programs share exactly when they differ in the names they declare at most."""
    check_limits(program)
    writer = _MeaningWriter()
    writer.program(program)
    return sha256(writer.out).hexdigest()


_Block = tuple[tuple["Node", ...], str | None]
"""The statements of a block, and the variable that a loop binds for it."""


class _MeaningWriter:
    """Writes the tree of a program in prefix order, which the layouts make unambiguous."""

    def __init__(self) -> None:
        self.out = bytearray(_PREFIX)
        self.buffers: dict[str, int] = {}
        self.variables: dict[str, int] = {}
        self.shadowed: list[dict[str, int | None]] = []
        self.bindings = 0

    def program(self, program: Program) -> None:
        for axis, size in enumerate(program.workgroup_size):
            append_varint(self.out, u32(size, f"workgroup_size[{axis}]"))
        append_varint(self.out, len(program.buffers))
        for position, buffer in enumerate(program.buffers):
            for number in buffer_fields(buffer, f"buffers[{position}]"):
                append_varint(self.out, number)
            self.out += buffer.data
            self.buffers.setdefault(buffer.name, position)
        self.block(program.entry)

    def block(self, entry: tuple[Node, ...]) -> None:
        """Writes a block and all blocks inside it; None on the stack is the end of a scope."""
        stack: list[Node | _Block | None] = [(entry, None)]
        while stack:
            item = stack.pop()
            if item is None:
                self.leave()
            elif isinstance(item, tuple):
                body, variable = item
                append_varint(self.out, len(body))
                self.shadowed.append({})
                if variable is not None:
                    self.bind(variable)
                stack.append(None)
                stack += reversed(body)
            else:
                self.statement(item)
                variable = item.var if isinstance(item, Loop) else None
                stack += [(body, variable) for body in reversed(item.bodies)]

    def statement(self, node: Node) -> None:
        """One statement without its bodies. A `Let` binds after its value, which cannot see it."""
        self.out.append(node_layout(node).tag)
        if isinstance(node, Assign):
            self.use(node.name, self.variables)
        elif isinstance(node, Store):
            self.use(node.buffer, self.buffers)
        for root in node.exprs:
            check_depth(root)
            self.expression(root)
        if isinstance(node, Let):
            self.bind(node.name)

    def expression(self, root: Expr) -> None:
        out = self.out
        stack = [root]
        while stack:
            expr = stack.pop()
            layout = expr_layout(expr)
            out.append(layout.tag)
            for field in layout.fields:
                value = getattr(expr, field.attribute)
                if field.kind == TAG:
                    out.append(field.numbers[value])
                elif field.kind == NAME:
                    self.use(value, self.scope_of(field.attribute))
                else:
                    append_number(out, field, expr, value)
            if layout.operands == VARIADIC:
                append_varint(out, len(expr.children))
            stack += reversed(expr.children)

    def scope_of(self, attribute: str) -> dict[str, int]:
        """Where a field's name is declared; an op id is declared nowhere in a program."""
        return {"name": self.variables, "buffer": self.buffers}.get(attribute, {})

    def bind(self, name: str) -> None:
        name_bytes(name)
        self.shadowed[-1].setdefault(name, self.variables.get(name))
        self.variables[name] = self.bindings
        self.bindings += 1

    def leave(self) -> None:
        for name, outer in self.shadowed.pop().items():
            if outer is None:
                del self.variables[name]
            else:
                self.variables[name] = outer

    def use(self, name: str, declared: dict[str, int]) -> None:
        number = declared.get(name)
        if number is not None:
            append_varint(self.out, number + 1)
            return
        data = name_bytes(name)
        self.out.append(0)
        append_varint(self.out, len(data))
        self.out += data
