"""The example and the near miss of every rule: programs with the ops they call, or graphs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import ValidationError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, LitU32, Load, Var
from vyre.ir.limits import MAX_BUFFERS, MAX_CONSTANT_BYTES, MAX_EXPR_DEPTH, MAX_NESTING
from vyre.ir.node import Block, Let, Node, Store
from vyre.ir.op import Op, Param
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.validate.checker import validate, validate_op
from vyre.validate.codes import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.errors import Diagnostic
    from vyre.graph import Graph
    from vyre.validate.codes import Rule

_SECTION = re.compile(r"^(?=op |vyre )", re.MULTILINE)
_OUT = BufferDecl.read_write("out", 0, DataType.U32)


@dataclass(frozen=True, slots=True)
class Example:
    """A program and the ops that belong to it."""

    program: Program
    ops: tuple[Op, ...] = ()

    def diagnostics(self) -> list[Diagnostic]:
        """What validation says, with the ops added to the default registry; uncalled ops count too."""
        from vyre.compose.registry import default_registry

        registry = default_registry().extend(self.ops)
        found = validate(self.program, registry=registry)
        for op in self.ops:
            found += validate_op(op, registry=registry)
        unique: dict[tuple[str, str], Diagnostic] = {}
        for diagnostic in found:
            unique.setdefault((diagnostic.code, diagnostic.path), diagnostic)
        return list(unique.values())


@dataclass(frozen=True, slots=True)
class GraphExample:
    """A graph, whose types are its validation."""

    graph: Graph

    def diagnostics(self) -> list[Diagnostic]:
        try:
            _ = self.graph.types
        except ValidationError as error:
            return list(error.diagnostics)
        return []


def example(code: str) -> Example | GraphExample:
    """The program or graph that breaks the rule and no other."""
    rule = CODES[code]
    return _GENERATED[code](1) if rule.generated else _parse(rule, rule.example)


def near_miss(code: str) -> Example | GraphExample:
    """The program or graph that differs little and breaks no rule."""
    rule = CODES[code]
    return _GENERATED[code](0) if rule.generated else _parse(rule, rule.near_miss)


def _parse(rule: Rule, text: str) -> Example | GraphExample:
    from vyre.text import parse_graph, parse_op, parse_program

    if rule.is_about_graphs:
        return GraphExample(parse_graph(text, file=f"{rule.code} example"))
    *ops, program = [part for part in _SECTION.split(text) if part.strip()]
    file = f"{rule.code} example"
    return Example(parse_program(program, file=file), tuple(parse_op(op) for op in ops))


def _nested_blocks(excess: int) -> Example:
    body: tuple[Node, ...] = ()
    for _ in range(MAX_NESTING + excess):
        body = (Block(body),)
    return Example(Program([_OUT], (64, 1, 1), body))


def _doubled(excess: int) -> Example:
    value: Expr = LitU32(1)
    for _ in range(15 + 2 * excess):
        value = value + value
    return Example(Program([_OUT], (64, 1, 1), [Store("out", LitU32(0), value)]))


def _deep(excess: int) -> Example:
    value: Expr = Load("out", LitU32(0))
    while value.depth < MAX_EXPR_DEPTH + excess:
        value = value + 1
    return Example(Program([_OUT], (64, 1, 1), [Store("out", LitU32(0), value)]))


def _many_buffers(excess: int) -> Example:
    buffers = [BufferDecl.read(f"b{i}", i, DataType.U32) for i in range(MAX_BUFFERS + excess)]
    return Example(Program(buffers, (64, 1, 1), []))


def _doubling_ops(excess: int) -> Example:
    level = "acme.double.l{}".format
    params = (Param("x", DataType.U32),)
    ops = [Op(level(0), params, DataType.U32, Var("x") + 1)]
    for i in range(1, 17):
        below = Call(level(i - 1), (Var("x"),))
        ops.append(Op(level(i), params, DataType.U32, below + below))
    last = Call(level(16), (LitU32(7),))
    entry = (
        [Store("out", LitU32(0), last + last)]
        if excess
        else [Let("y", last), Store("out", LitU32(0), Var("y") + Var("y"))]
    )
    return Example(Program([_OUT], (64, 1, 1), entry), tuple(ops))


def _large_table(excess: int) -> Example:
    steps = BufferDecl.constant("steps", DataType.U32, bytes(MAX_CONSTANT_BYTES + 4 * excess))
    return Example(Program([steps, _OUT], (64, 1, 1), [Store("out", LitU32(0), Load("steps", LitU32(0)))]))


_GENERATED: dict[str, Callable[[int], Example]] = {
    "V018": _nested_blocks,
    "V019": _doubled,
    "V034": _deep,
    "V040": _many_buffers,
    "V043": _doubling_ops,
    "V050": _large_table,
}
