"""Text to graphs; every mistake is a `ParseError` with line and column."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

from vyre.errors import VyreError
from vyre.graph.fields import FIELDS, MAX_LISTED, MAX_NUMBER, OPERANDS, FieldKind
from vyre.graph.graph import Graph
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType
from vyre.ir.limits import (
    MAX_GRAPH_CONSTANT_BYTES,
    MAX_GRAPH_VALUES,
    MAX_NODES,
    MAX_SIZE_DEGREE,
    MAX_SIZE_TERMS,
)
from vyre.ir.types import DataType
from vyre.text.climbing import expression
from vyre.text.functions import member
from vyre.text.graph_printer import WORDS
from vyre.text.reading import expect_end, expect_header, reading, take_word
from vyre.text.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.graph.fields import NodeField
    from vyre.graph.nodes import GraphNode
    from vyre.ir.expr import Expr
    from vyre.text.lexer import Cursor

_NODES: Final = {word: cls for cls, word in WORDS.items()}


def parse_graph(text: str, *, file: str = "<text>") -> Graph:
    """The graph of a text, which is read for its grammar and the limits alone; `Graph.types` says whether it
    is valid."""
    with reading(text, file) as c:
        expect_header(c, "vyre graph", "Program.from_text reads programs")
        values: list[tuple[str, GraphNode]] = []
        nodes = 0
        while not _at_outputs(c):
            start = c.at
            name = c.name("the name of a value, or `output`")
            c.expect(
                "=", context="after the name", fix="write a value as in y = copy(x), outputs as in output y."
            )
            node = _node(c)
            nodes += sum(
                getattr(node, f.name).size for f in FIELDS[type(node)] if f.kind is FieldKind.Expression
            )
            values.append((name, node))
            if len(values) > MAX_GRAPH_VALUES or nodes > MAX_NODES:
                what = (
                    f"{MAX_GRAPH_VALUES} values"
                    if nodes <= MAX_NODES
                    else f"{MAX_NODES} nodes of expressions"
                )
                raise c.error(f"V060: more than {what}.", fix="split it into several graphs.", at=start)
        return Graph(values, _outputs(c))


def _at_outputs(c: Cursor) -> bool:
    return c.kind == "name" and c.value == "output" and c.kinds[c.at + 1] != "="


def _outputs(c: Cursor) -> list[str]:
    c.at += 1
    outputs: list[str] = []
    while c.kind != "end":
        outputs.append(c.name("the name of an output"))
        if len(outputs) > MAX_GRAPH_VALUES:
            raise c.error(f"V060: more than {MAX_GRAPH_VALUES} outputs.", fix="split it into several graphs.")
        if not c.take(","):
            break
    expect_end(c, "`,` or the end of the graph")
    return outputs


def _node(c: Cursor) -> GraphNode:
    cls = _NODES.get(c.value) if c.kind == "name" else None
    if cls is None:
        near = difflib.get_close_matches(c.value[:40], _NODES, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise c.error(f"expected a node, found {c.describe()}.", fix=f"{hint}use one of {', '.join(_NODES)}.")
    c.at += 1
    known = FIELDS[cls]
    found: dict[str, Any] = {f.name: _type(c) for f in known if f.kind is FieldKind.Type}
    if any(field.kind in OPERANDS for field in known):
        found |= _operands(c, cls)
    for field in known:
        read = _ATTRIBUTES.get(field.kind)
        if read is not None and _takes_word(c, field, cls):
            found[field.name] = read(c, field)
    for field in known:
        if field.kind is FieldKind.Data:
            found[field.name] = _elements(c, found["type"])
        elif field.kind is FieldKind.Expression:
            found[field.name] = _expression(c, cls)
    return cls(**found)


def usage(cls: type[GraphNode]) -> str:
    """A node as it may be written, for the fix of a mistake in it."""
    parts = [WORDS[cls]]
    names = ["x" if f.kind is FieldKind.Operands else f.name for f in FIELDS[cls] if f.kind in OPERANDS]
    if names:
        parts[0] += f"({', '.join(names)})"
    for field in FIELDS[cls]:
        parts += (
            _EXAMPLES.get(field.kind, "").format(field.name, int(field.name not in ("axis", "axes"))).split()
        )
        if field.members:
            parts += [field.name, "F32" if field.members is DataType else next(iter(field.members)).name]
    return " ".join(
        [*parts, *(["=> x0"] if any(f.kind is FieldKind.Expression for f in FIELDS[cls]) else [])]
    )


def _operands(c: Cursor, cls: type[GraphNode]) -> dict[str, Any]:
    fields = [field for field in FIELDS[cls] if field.kind in OPERANDS]
    start = c.at
    c.expect("(", context=f"after `{WORDS[cls]}`", fix=f"write {usage(cls)}.")
    names: list[str] = []
    while c.kind != ")":
        names.append(c.name("the name of an operand"))
        if not c.take(","):
            break
    c.expect(")", context="after the operands", fix=f"write {usage(cls)}.")
    if fields[0].kind is FieldKind.Operands:
        return {fields[0].name: tuple(names)}
    least = sum(field.kind is FieldKind.Operand for field in fields)
    if not least <= len(names) <= len(fields):
        wanted = f"{least} to {len(fields)}" if least < len(fields) else f"{least}"
        raise c.error(
            f"`{WORDS[cls]}` takes {wanted} operand{'' if wanted == '1' else 's'}, not {len(names)}.",
            fix=f"write {usage(cls)}.",
            at=start,
        )
    return {field.name: name for field, name in zip(fields, names, strict=False)}


def _takes_word(c: Cursor, field: NodeField, cls: type[GraphNode]) -> bool:
    """Whether the field is said here. Before `=` its word is the name of the next value."""
    if c.kinds[c.at + 1 : c.at + 2] != ["="] and take_word(c, field.name):
        return True
    if field.is_required:
        raise c.error(f"expected `{field.name}`, found {c.describe()}.", fix=f"write {usage(cls)}.")
    return False


def _type(c: Cursor) -> ValueType:
    start = c.at
    element, shape = member(c, DataType, "a type"), _shape(c)
    try:
        return ValueType(element, shape)
    except VyreError as error:
        raise c.error(error.message, fix=error.fix, at=start) from None


def _list(c: Cursor, entry: Callable[[Cursor], Any]) -> tuple[Any, ...]:
    fix = "write a list as in [0, 1]."
    c.expect("[", context="before a list", fix=fix)
    found: list[Any] = []
    while c.kind != "]":
        found.append(entry(c))
        if len(found) > MAX_LISTED:
            raise c.error(f"V060: a list of more than {MAX_LISTED} entries.", fix="use fewer axes.")
        if not c.take(","):
            break
    c.expect("]", context="after the list", fix=fix)
    return tuple(found)


def _shape(c: Cursor) -> tuple[Size, ...]:
    return _list(c, _size)


def _size(c: Cursor) -> Size:
    """`8*seq + 1`: a sum of numbers, names and their products, in any order."""
    start = c.at
    terms = [_term(c, -1 if c.take("-") else 1)]
    while c.kind in ("+", "-"):
        sign = -1 if c.kind == "-" else 1
        c.at += 1
        terms.append(_term(c, sign))
        if len(terms) > MAX_SIZE_TERMS:
            raise c.error(
                f"V060: a size of more than {MAX_SIZE_TERMS} terms.", fix="write a shorter sum.", at=start
            )
    return Size.of(terms)


def _term(c: Cursor, sign: int) -> tuple[tuple[str, ...], int]:
    start = c.at
    factor = sign
    names: list[str] = []
    if c.kind == "int":
        factor *= _number(c)
    else:
        names += Size(c.name("a size")).names
    while c.take("*"):
        names += Size(c.name("the name of a dimension")).names
        if len(names) > MAX_SIZE_DEGREE:
            raise c.error(
                f"V060: more than {MAX_SIZE_DEGREE} dimensions multiplied.",
                fix="use fewer of them.",
                at=start,
            )
    return tuple(names), factor


def _number(c: Cursor) -> int:
    return c.integer("a number", high=MAX_NUMBER, fix="write a whole number of at most 63 bits, as in 2.")


def _bits(c: Cursor) -> int:
    return c.integer("the bits of an element", low=0, high=(1 << 64) - 1, fix="write bits as in 0x3f800000.")


def _member(c: Cursor, field: NodeField) -> Any:
    assert field.members is not None
    return member(c, field.members, f"the {field.name}")


_ATTRIBUTES: Final[Mapping[FieldKind, Callable[[Cursor, NodeField], Any]]] = {
    FieldKind.Number: lambda c, _: _number(c),
    FieldKind.Numbers: lambda c, _: _list(c, _number),
    FieldKind.Sizes: lambda c, _: _shape(c),
    FieldKind.Bits: lambda c, _: _bits(c),
    FieldKind.Flag: lambda c, _: True,
    FieldKind.Member: _member,
}
_EXAMPLES: Final[Mapping[FieldKind, str]] = {
    FieldKind.Type: "U32[1]",
    FieldKind.Number: "{} {}",
    FieldKind.Numbers: "{} [{}]",
    FieldKind.Sizes: "{} [1]",
    FieldKind.Bits: "{} 0x0",
    FieldKind.Data: "{{ 0x1 }}",
}


def _elements(c: Cursor, of: ValueType) -> bytes:
    return table(c, of.element, code="V060", limit=MAX_GRAPH_CONSTANT_BYTES, instead="make it an input.")


def _expression(c: Cursor, cls: type[GraphNode]) -> Expr:
    c.expect("=>", context="before the expression", fix=f"write {usage(cls)}.")
    return expression(c)
