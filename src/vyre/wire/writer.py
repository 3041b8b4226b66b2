"""From programs to bytes. A program beyond the shared limits has no wire form and is a `WireError`.

Tables are written in first-use order: a statement after the statements of its bodies, then the
expressions in the order in which the statement table uses them, operands first. The order depends on
nothing but the program, which makes the bytes canonical (decision 21).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from vyre.errors import WireError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, Literal
from vyre.ir.limits import MAX_BUFFERS, MAX_CONSTANT_BYTES, MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES, U32_MAX
from vyre.ir.node import Node
from vyre.ir.program import Program
from vyre.wire.frame import framed
from vyre.wire.layout import (
    BITS,
    EXPR_LAYOUTS,
    LITERAL_BYTES,
    MAGIC,
    MAX_STRING_BYTES,
    NAME,
    NODE_LAYOUTS,
    SIGNED,
    TAG,
    VARIADIC,
    ExprLayout,
    Field,
    NodeLayout,
    append_signed,
    append_varint,
)
from vyre.wire.tags import ACCESSES, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable


def encode(program: Program) -> bytes:
    """The one wire form of a program; `WireError` when it is beyond the limits."""
    return framed(MAGIC, _payload(program))


def _payload(program: Program) -> bytearray:
    check_limits(program)
    names: dict[str, int] = {}
    head = bytearray()
    for axis, size in enumerate(program.workgroup_size):
        append_varint(head, u32(size, f"workgroup_size[{axis}]"))
    append_varint(head, len(program.buffers))
    for position, buffer in enumerate(program.buffers):
        _write_buffer(head, buffer, f"buffers[{position}]", names)

    order = statement_order(program.entry)
    exprs = expression_order(root for node in order for root in node.exprs)
    append_varint(head, len(exprs))
    write_exprs(head, exprs, names)
    append_varint(head, len(order))
    _write_nodes(head, order, exprs, names)
    append_varint(head, len(program.entry))
    for node in program.entry:
        append_varint(head, order[node])

    return string_table(names) + head


def string_table(names: Iterable[str]) -> bytearray:
    out = bytearray()
    strings = [name_bytes(name) for name in names]
    append_varint(out, len(strings))
    for data in strings:
        append_varint(out, len(data))
        out += data
    return out


def check_limits(program: Program) -> None:
    """Raises the `WireError` of the first shared limit that a program breaks (decision 22).

    Afterwards the tree of the program is small enough to be walked.
    """
    if not isinstance(program, Program):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WireError(f"{_short(program)} is not a Program.", fix="pass a vyre.Program.")
    if len(program.buffers) > MAX_BUFFERS:
        _beyond("V040", f"{len(program.buffers)} buffers", MAX_BUFFERS, "merge buffers")
    tables = sum(len(b.data) for b in program.buffers if isinstance(b, BufferDecl))  # pyright: ignore[reportUnnecessaryIsInstance]
    if tables > MAX_CONSTANT_BYTES:
        _beyond("V050", f"{tables} bytes of constant tables", MAX_CONSTANT_BYTES, "pass a table as a buffer")
    size = 0
    for position, node in enumerate(program.entry):
        place = f"entry[{position}]"
        if not isinstance(node, Node):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise WireError(f"{_short(node)} is not a statement.", fix="pass a Node.", place=place)
        if node.nesting > MAX_NESTING:
            _beyond("V018", f"{node.nesting} nested blocks", MAX_NESTING, "flatten the blocks", place)
        size += node.size
    if size > MAX_NODES:
        _beyond("V019", f"{size} nodes", MAX_NODES, "split the program, or bind repeated parts with Let")


def check_depth(root: Expr) -> None:
    if root.depth > MAX_EXPR_DEPTH:
        what = f"an expression {root.depth} levels deep"
        _beyond("V034", what, MAX_EXPR_DEPTH, "bind parts of it with Let")


def _beyond(code: str, what: str, limit: int, fix: str, place: str | None = None) -> NoReturn:
    raise WireError(f"{code}: {what}, where the limit is {limit}.", fix=f"{fix}.", place=place)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def u32(value: object, place: str) -> int:
    """A number of a declaration, which no constructor has checked."""
    if not isinstance(value, int) or not 0 <= value <= U32_MAX:
        raise WireError(
            f"V042: {_short(value)} is not a u32.", fix="use an int from 0 to 4294967295.", place=place
        )
    return int(value)


def name_bytes(name: str) -> bytes:
    """The UTF-8 form of a name or op id."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WireError(f"{_short(name)} is used as a name.", fix="use a str.")
    try:
        data = name.encode()
    except UnicodeEncodeError:
        raise WireError(f"the name {_short(name)} is not Unicode text.", fix="rename it.") from None
    if len(data) > MAX_STRING_BYTES:
        raise WireError(
            f"V032: the name {_short(name)} takes {len(data)} bytes of UTF-8, where the limit is "
            f"{MAX_STRING_BYTES}.",
            fix="choose a shorter name.",
        )
    return data


def buffer_fields(buffer: BufferDecl, place: str) -> tuple[int, int, int, int]:
    """Access tag, element tag, binding + 1 (0 for none) and count of a declaration."""
    if not isinstance(buffer, BufferDecl):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise WireError(f"{_short(buffer)} is not a buffer.", fix="pass a BufferDecl.", place=place)
    try:
        access, element = ACCESSES[buffer.access], TYPES[buffer.element]
    except (KeyError, TypeError):
        raise WireError(
            f"{_short(buffer)} has an unknown access or element type.",
            fix="use members of BufferAccess and DataType.",
            place=place,
        ) from None
    name_bytes(buffer.name)
    binding = 0 if buffer.binding is None else u32(buffer.binding, f"{place}.binding") + 1
    return access, element, binding, u32(buffer.count, f"{place}.count")


def _write_buffer(out: bytearray, buffer: BufferDecl, place: str, names: dict[str, int]) -> None:
    access, element, binding, count = buffer_fields(buffer, place)
    append_varint(out, names.setdefault(buffer.name, len(names)))
    out.append(access)
    out.append(element)
    append_varint(out, binding)
    append_varint(out, count)
    out += buffer.data


def statement_order(entry: Iterable[Node]) -> dict[Node, int]:
    """Each distinct statement and its place in the table: bodies first, in first-use order."""
    order: dict[Node, int] = {}
    for root in entry:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in order:
                stack.pop()
                continue
            waiting = [child for body in node.bodies for child in body if child not in order]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                stack.pop()
                order[node] = len(order)
    return order


def expression_order(roots: Iterable[Expr]) -> dict[Expr, int]:
    """Each distinct expression and its place in the table: operands first, in first-use order."""
    order: dict[Expr, int] = {}
    for root in roots:
        check_depth(root)
        stack = [root]
        while stack:
            expr = stack[-1]
            if expr in order:
                stack.pop()
                continue
            waiting = [child for child in expr.children if child not in order]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                stack.pop()
                order[expr] = len(order)
    return order


def write_exprs(out: bytearray, exprs: dict[Expr, int], names: dict[str, int]) -> None:
    for expr, index in exprs.items():
        layout = expr_layout(expr)
        out.append(layout.tag)
        for field in layout.fields:
            value = getattr(expr, field.attribute)
            if field.kind == TAG:
                out.append(field.numbers[value])
            elif field.kind == NAME:
                append_varint(out, names.setdefault(value, len(names)))
            else:
                append_number(out, field, expr, value)
        if layout.operands == VARIADIC:
            append_varint(out, len(expr.children))
        for child in expr.children:
            back = index - exprs[child]
            if back < 128:
                out.append(back)
            else:
                append_varint(out, back)


def append_number(out: bytearray, field: Field, expr: Expr, value: int) -> None:
    """A field that is neither a tag nor a name."""
    if field.kind == SIGNED:
        append_signed(out, value)
    elif field.kind == BITS:
        assert isinstance(expr, Literal)
        out += value.to_bytes(LITERAL_BYTES[expr.type], "little")
    else:
        append_varint(out, value)


def expr_layout(expr: Expr) -> ExprLayout:
    layout = EXPR_LAYOUTS.get(type(expr))
    if layout is None:
        raise WireError(f"{type(expr).__name__} has no tag.", fix="use the expressions of vyre.ir.")
    return layout


def node_layout(node: Node) -> NodeLayout:
    layout = NODE_LAYOUTS.get(type(node))
    if layout is None:
        raise WireError(f"{type(node).__name__} has no tag.", fix="use the statements of vyre.ir.")
    return layout


def _write_nodes(
    out: bytearray, order: dict[Node, int], exprs: dict[Expr, int], names: dict[str, int]
) -> None:
    for node, index in order.items():
        layout = node_layout(node)
        out.append(layout.tag)
        if layout.name is not None:
            append_varint(out, names.setdefault(getattr(node, layout.name), len(names)))
        for expr in node.exprs:
            append_varint(out, exprs[expr])
        for body in node.bodies:
            append_varint(out, len(body))
            for child in body:
                append_varint(out, index - order[child])
