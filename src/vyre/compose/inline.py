"""Inlining: every `Call` is replaced by the op's own statements and expression; what is left to call is
hardware: instructions of Category C, which every backend emits or refuses.

Arguments are evaluated once, in order, in the caller's scope; the callee's statements are hoisted in front
of the statement that calls, in the same block, under fresh names such as `__call17_temp` whose numbers
count per program in the order of use (decision 19). `expand.py` keeps the order of memory accesses.
Inlining a call of an expression-only op gives exactly its expression.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.calls import Resolver, raise_faults, too_large
from vyre.compose.expand import Expander
from vyre.compose.registry import Registry, default_registry
from vyre.compose.scan import scan
from vyre.compose.template import Template, make_template
from vyre.errors import Diagnostic, ValidationError
from vyre.ir import expr as e
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.limits import MAX_EXPANSION, MAX_NODES
from vyre.ir.op import Op
from vyre.ir.program import Program, require_program
from vyre.ir.walk import statements, with_parts
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.errors import SourceLocation
    from vyre.ir.node import Node


def inline(program: Program, registry: Registry | None = None) -> Program:
    """The same program without calls but those of hardware instructions; `ValidationError` with every call
    that cannot be inlined.

    Statements keep their source locations at their new paths; hoisted ones get their caller's. A program that
    came from here, or was found to need nothing, is given back as it is.
    """
    if program.inlined:
        return program
    require_program(program)
    found = scan(program.entry)
    if not found.calls:
        return program.mark_inlined()
    if program.size > MAX_NODES:
        message = f"the program has {program.size} nodes, and {MAX_NODES} are allowed."
        fix = "split the program, or bind repeated subexpressions with Let."
        raise ValidationError([Diagnostic("V019", message, fix, "entry")])
    registry = default_registry() if registry is None else registry
    resolver = Resolver(registry.get, registry.templates)
    faults = {call: fault for call in found.calls if (fault := resolver.fault(call)) is not None}
    raise_faults(program, faults)
    if resolver.expansion(found.calls) > MAX_EXPANSION:
        raise ValidationError([Diagnostic(*too_large("the program"), "entry")])
    _make_templates(resolver, registry.templates)
    expander = Expander(registry.templates, found)
    moved: dict[str, SourceLocation] = {}
    entry = _Body(expander, found.carriers, program.locations, moved).expand(program.entry)
    return Program(program.buffers, program.workgroup_size, entry, locations=moved).mark_inlined()


def inline_op(op: Op, registry: Registry | None = None) -> Op:
    """The same op without calls but those of hardware instructions, of which it may be one. The op itself
    need not be registered."""
    if op.hardware:
        return op
    registry = default_registry() if registry is None else registry
    # An op still being defined may bear an id that the registry gives another meaning.
    templates = registry.templates if registry.get(op.id) == op else {}
    resolver = Resolver(lambda op_id: op if op_id == op.id else registry.get(op_id), templates)
    fault = resolver.fault(e.Call(op.id, (e.LitU32(0),) * len(op.params)))
    if fault is not None:
        raise ValidationError([Diagnostic(*fault, op.id)])
    _make_templates(resolver, templates)
    made = templates[op.id]
    return Op(op.id, op.params, op.output, made.result, made.body, op.category, op.doc)


def _make_templates(resolver: Resolver, templates: dict[str, Template]) -> None:
    for op in resolver.callees_first:
        if op.id in templates or op.result is None:
            continue
        found = resolver.scans[op.id]
        expander = Expander(templates, found)
        body = list(_Body(expander, found.carriers, {}, {}).expand(op.body))
        (result,) = expander.operands((op.result,), body)
        templates[op.id] = make_template(op, body, result, resolver.measure(op.id))


@dataclass(slots=True)
class _Block:
    """Where a block was and where it is now, and how many of its old statements have been entered."""

    old: str
    new: str
    position: int = 0


class _Body:
    """Expands the statements of one body, nested blocks in place, and moves their source locations."""

    def __init__(
        self,
        expander: Expander,
        carriers: frozenset[e.Expr | Node],
        locations: Mapping[str, SourceLocation],
        moved: dict[str, SourceLocation],
    ) -> None:
        self._expander = expander
        self._carriers = carriers
        self._locations = locations
        self._moved = moved

    def expand(self, entry: tuple[Node, ...]) -> tuple[Node, ...]:
        return rewrite_blocks(entry, self._statement, _Block("entry", "entry"), body=self._nested)

    def _nested(self, statement: _Block, name: str) -> _Block:
        if not self._locations:
            return statement
        return _Block(f"{statement.old}.{name}", f"{statement.new}.{name}")

    def _statement(self, node: Node, block: _Block, out: list[Node]) -> tuple[Node, _Block] | None:
        """Expands the statement's own expressions; without locations, only where there is a call in it."""
        if node not in self._carriers and not self._locations:
            out.append(node)
            return None
        first = len(out)
        exprs = self._expander.operands(node.exprs, out)
        expanded = with_parts(node, exprs, node.bodies)
        if not self._locations:
            return expanded, block
        statement = _Block(f"{block.old}[{block.position}]", f"{block.new}[{len(out)}]")
        block.position += 1
        location = self._locations.get(statement.old)
        if location is not None:
            self._moved[statement.new] = location
            for index in range(first, len(out)):
                for path, _ in statements((out[index],), ""):
                    self._moved[f"{block.new}[{index}]{path.removeprefix('[0]')}"] = location
        return expanded, statement
