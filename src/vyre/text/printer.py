"""Programs and ops to text: one statement a line, always the same lines for the same program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.errors import PrintError
from vyre.ir import node as n
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES
from vyre.ir.op import Category, Op
from vyre.ir.types import DataType
from vyre.ir.walk import statements
from vyre.text.expressions import expression_text
from vyre.text.tables import table_text
from vyre.text.vocabulary import ACCESS_WORDS, VERSION, name_text, quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.expr import Expr
    from vyre.ir.program import Program

_INDENT: Final = "  "


def print_program(program: Program) -> str:
    """The text form of a program, valid or not. `PrintError` beyond the limits of the language."""
    _check_size(program.entry, (), "entry")
    size = " ".join(_number(x, "workgroup_size") for x in program.workgroup_size)
    lines = [f"vyre {VERSION}", f"workgroup {size}"]
    lines += [_buffer(b, f"buffers[{i}]") for i, b in enumerate(program.buffers)]
    lines.append("entry {")
    lines += _body_lines(program.entry, "entry")
    return "\n".join([*lines, "}", ""])


def print_expr(expr: Expr) -> str:
    """The expression on one line."""
    if expr.size > MAX_NODES:
        raise _too_large(expr.size)
    _check_depth(expr)
    return expression_text(expr)


def print_op(op: Op) -> str:
    """The text form of an op: its parameters, statements and result."""
    _check_size(op.body, () if op.result is None else (op.result,), "body")
    params = ", ".join(
        f"{_name(p.name, f'params[{i}]')}: {_type(p.type, f'params[{i}]')}" for i, p in enumerate(op.params)
    )
    lines = [f"op {op.id}({params}) -> {_type(op.output, 'output')} {{"]
    if op.category is not Category.A:
        lines.append(f"{_INDENT}category {op.category.value}")
    lines += _hardware(op)
    if op.doc:
        quoted = [quote(line, '"') for line in op.doc.splitlines(keepends=True)]
        lines.append(f"{_INDENT}doc {quoted[0]}")
        lines += [f"{_INDENT * 3}{line}" for line in quoted[1:]]
    lines += _body_lines(op.body, "body")
    if op.result is not None:
        _check_depth(op.result, "result")
        lines.append(f"{_INDENT}=> {expression_text(op.result)}")
    return "\n".join([*lines, "}", ""])


def _hardware(op: Op) -> list[str]:
    availability = op.backend_availability
    if availability is None:
        return []
    hardware, where, *names = (
        quote(text, '"') for text in (op.hardware, availability.guarantee, *availability.backends)
    )
    lines = [f"{_INDENT}hardware {hardware} lanes {op.lanes}"]
    lines.append(f"{_INDENT * 3}{' '.join(['backends', *names])}")
    return [*lines, f"{_INDENT * 3}where {where}"] if availability.guarantee else lines


def _check_size(body: Sequence[n.Node], exprs: tuple[Expr, ...], root: str) -> None:
    for i, node in enumerate(body):
        if not isinstance(node, n.Node):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise PrintError(
                f"{node!r} is not a statement.",
                fix="pass Let, Assign, Store, If, Loop, Break, Return, Block or Barrier nodes.",
                place=f"{root}[{i}]",
            )
    total = sum(x.size for x in body) + sum(x.size for x in exprs)
    if total > MAX_NODES:
        raise _too_large(total)
    nesting = max((x.nesting for x in body), default=0)
    if nesting > MAX_NESTING:
        raise PrintError(
            f"V018: {nesting} levels of If, Loop and Block; the limit is {MAX_NESTING}.",
            fix="move inner blocks into ops, or join their conditions.",
        )


def _too_large(total: int) -> PrintError:
    return PrintError(
        f"V019: {total} nodes as a tree; the limit is {MAX_NODES}.",
        fix="bind shared values with Let, or split the program.",
    )


def _check_depth(expr: Expr, place: str | None = None) -> None:
    if expr.depth > MAX_EXPR_DEPTH:
        raise PrintError(
            f"V034: an expression of {expr.depth} levels; the limit is {MAX_EXPR_DEPTH}.",
            fix="bind parts of it with Let.",
            place=place,
        )


def _number(value: object, place: str) -> str:
    if not isinstance(value, int):
        raise PrintError(f"{value!r} is not a number.", fix="use an int.", place=place)
    # Python refuses to write very long decimal numbers, and nobody could read them.
    return f"{value:d}" if value.bit_length() <= 64 else hex(value)


def _name(value: object, place: str | None = None) -> str:
    if not isinstance(value, str):
        raise PrintError(f"{value!r} is not a name.", fix="use a str.", place=place)
    return name_text(value)


def _type(value: object, place: str) -> str:
    if not isinstance(value, DataType):
        raise PrintError(f"{value!r} is not a DataType.", fix="use a member of DataType.", place=place)
    return value.value


def _buffer(buffer: BufferDecl, place: str) -> str:
    if not isinstance(buffer, BufferDecl):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PrintError(f"{buffer!r} is not a buffer.", fix="use a BufferDecl.", place=place)
    if not isinstance(buffer.access, BufferAccess):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise PrintError(
            f"{buffer.access!r} is not a BufferAccess.", fix="use a member of BufferAccess.", place=place
        )
    head = f"buffer {_name(buffer.name, place)}: {ACCESS_WORDS[buffer.access]} {_type(buffer.element, place)}"
    binding = "" if buffer.binding is None else f" @{_number(buffer.binding, place)}"
    if buffer.access is BufferAccess.Constant:
        return f"{head}{binding} {{\n{table_text(buffer.element, buffer.data)}}}"
    count = "" if buffer.count == 0 else f"[{_number(buffer.count, place)}]"
    return f"{head}{count}{binding}"


def _body_lines(nodes: Sequence[n.Node], root: str) -> list[str]:
    body = _Body()
    try:
        return body.lines(nodes)
    except PrintError as error:
        # Paths cost more than the text, so the place is looked up only when there is something to say.
        path = next(path for path, node in statements(nodes, root) if node is body.current)
        raise PrintError(error.message, fix=error.fix, place=path) from None


class _Body:
    """Prints statements with a stack of lines and nodes still to come."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.stack: list[tuple[str, str | n.Node]] = []
        self.current: n.Node | None = None

    def lines(self, body: Sequence[n.Node]) -> list[str]:
        self.push(body, _INDENT)
        while self.stack:
            indent, item = self.stack.pop()
            if isinstance(item, str):
                self.out.append(indent + item)
                continue
            self.current = item
            if isinstance(item, n.If):
                self.branches(indent, item)
            else:
                self.statement(indent, item)
        return self.out

    def push(self, body: Sequence[n.Node], indent: str) -> None:
        self.stack.extend((indent, node) for node in reversed(body))

    def statement(self, indent: str, node: n.Node) -> None:
        match node:
            case n.Let(name=name, value=value):
                text = f"let {_name(name)} = {self.expr(value)}"
            case n.Assign(name=name, value=value):
                text = f"{_name(name)} := {self.expr(value)}"
            case n.Store(buffer=buffer, index=index, value=value):
                text = f"{_name(buffer)}[{self.expr(index)}] = {self.expr(value)}"
            case n.Barrier():
                text = "barrier"
            case n.Break():
                text = "break"
            case n.Return():
                text = "return"
            case n.Loop(var=var, start=start, stop=stop, body=body):
                head = f"for {_name(var)} in {self.expr(start)}..{self.expr(stop)}"
                return self.block(indent, head, body)
            case n.Block(body=body):
                return self.block(indent, "block", body)
            case _:
                raise PrintError(
                    f"{type(node).__name__} is not a statement of the language.",
                    fix="build programs from the statements in vyre.ir.",
                )
        self.out.append(indent + text)
        return None

    def block(self, indent: str, head: str, body: Sequence[n.Node]) -> None:
        self.out.append(f"{indent}{head} {{")
        self.stack.append((indent, "}"))
        self.push(body, indent + _INDENT)

    def branches(self, indent: str, node: n.If) -> None:
        """An If that is all there is in an else branch continues the chain as `else if`."""
        head = f"if {self.expr(node.condition)} {{"
        if self.out and self.out[-1] == f"{indent}}} else":
            self.out[-1] += f" {head}"
        else:
            self.out.append(indent + head)
        match node.orelse:
            case ():
                self.stack.append((indent, "}"))
            case (n.If() as only,):
                self.stack += ((indent, only), (indent, "} else"))
            case orelse:
                self.stack.append((indent, "}"))
                self.push(orelse, indent + _INDENT)
                self.stack.append((indent, "} else {"))
        self.push(node.then, indent + _INDENT)

    def expr(self, expr: Expr) -> str:
        _check_depth(expr)
        return expression_text(expr)
