"""Python statements as nodes, each with the place it was written at."""

from __future__ import annotations

import ast
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from vyre.errors import counted
from vyre.frontend import operators
from vyre.frontend.coordinates import refuse_rows, subscripts, touches
from vyre.frontend.expand import called, nested_function
from vyre.frontend.expressions import has_atomic, is_sequence, wrap
from vyre.frontend.loops import translate_for, translate_while
from vyre.frontend.scope import Local
from vyre.frontend.signature import evaluate, require_name, value_type
from vyre.frontend.stored import element_value, require_value
from vyre.frontend.translator import BodyTranslator
from vyre.frontend.values import (
    Buffer,
    Const,
    Effect,
    Memory,
    Printed,
    PyObject,
    Refused,
    Several,
    Value,
    Written,
    describe,
)
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import BinOp, Expr, LitBool, Literal, LitI32, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Break, If, Let, Return, Store
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import BODY_NAMES, postorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.errors import SourceLocation
    from vyre.frontend.values import Operand

_NUMBERS = (LitU32, LitI32, LitBool, Literal)
_COUNTING = frozenset({BinaryOp.Add, BinaryOp.Sub, BinaryOp.Mul, BinaryOp.FAdd, BinaryOp.FSub, BinaryOp.FMul})
_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Continue: ("`continue` outside a loop", "remove it."),
    ast.Try: ("`try`", "remove it; nothing in a kernel raises."),
    ast.Raise: ("`raise`", "store an error code into a buffer."),
    ast.Assert: ("`assert`", "store a flag into a buffer and check it on the host."),
    ast.With: ("`with`", "remove it."),
    ast.Global: ("`global`", "pass buffers and scalars as parameters."),
    ast.Nonlocal: ("`nonlocal`", "pass buffers and scalars as parameters."),
    ast.Import: ("`import`", "import above the function."),
    ast.ImportFrom: ("`import`", "import above the function."),
    ast.FunctionDef: ("a nested `def`", "define the function above the kernel and call it."),
    ast.AsyncFunctionDef: ("`async def`", "define a plain function above the kernel."),
    ast.ClassDef: ("`class`", "use buffers and scalars."),
    ast.Delete: ("`del`", "remove it; a name ends with its block."),
    ast.Match: ("`match`", "write `if` and `elif`."),
    ast.AsyncFor: ("`async for`", "write a plain `for`."),
    ast.AsyncWith: ("`async with`", "remove it."),
}


class Statements(BodyTranslator):
    """Translates the body of one function."""

    def call(
        self, function: PyObject, args: list[Operand], keywords: dict[str, Operand], *, whole: bool
    ) -> Operand:
        return called(self, function, args, keywords, whole=whole)

    def one(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[ast.Name() | ast.Subscript() | ast.Attribute() as target]):
                self._assign(node, target, self.value(node.value))
            case ast.Assign(targets=[ast.Tuple() | ast.List() as target]):
                self._unpack(node, target.elts, self.value(node.value))
            case ast.Assign():
                self._chained(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.AugAssign():
                self._augmented(node)
            case ast.Expr():
                self._expression(node)
            case ast.If():
                self._if(node)
            case ast.For():
                translate_for(self, node)
            case ast.While():
                translate_while(self, node)
            case ast.Break():
                self.emit(node, Break())
            case ast.FunctionDef():
                self._function(node)
            case ast.Return():
                self._return(node)
            case ast.Pass():
                pass
            case _:
                what, fix = _REFUSED.get(type(node), (f"`{type(node).__name__}`", "use plain statements."))
                raise Refused(f"{what} has no meaning in a kernel.", fix)

    def _assign(self, at: ast.stmt, target: ast.expr, value: Operand) -> None:
        match target:
            case ast.Name(id=name):
                self._bind(at, target, name, value)
            case ast.Subscript():
                if isinstance(value, Value) and any(isinstance(n, ast.Call) for n in ast.walk(target)):
                    value = self.once(at, "stored", value)  # what is called may write
                owner, index = self._target(target)
                self._store(at, owner, index, self._before(at, value, index))
            case _:
                raise Refused("this cannot be assigned.", "assign a name or an element: x = …, out[i] = ….")

    def _chained(self, node: ast.Assign) -> None:
        """`x = y = value`: the value once, then the targets from left to right."""
        if not all(isinstance(target, (ast.Name, ast.Subscript)) for target in node.targets):
            raise Refused("two targets share one assignment.", "write one assignment per line.")
        value = self.value(node.value)
        if isinstance(value, Memory):
            raise Refused(f"{describe(value)} has two names.", "write one assignment per line.")
        if isinstance(value, Value):
            value = self.named(node, "shared", value)
        for target in node.targets:
            self._assign(node, target, value)

    def _unpack(self, at: ast.stmt, targets: Sequence[ast.expr], value: Operand) -> None:
        """`a, b = b, a`: all values first, then the targets from left to right."""
        items: Sequence[Operand]
        if any(isinstance(target, ast.Starred) for target in targets):
            raise Refused("`*` has no meaning in a kernel.", "write a name for each value.")
        match value:
            case Several(items=items):
                pass
            case PyObject(value=sequence) if is_sequence(sequence):
                items = [wrap(item) for item in sequence]
            case _:
                raise Refused(f"{describe(value)} cannot be unpacked.", "write as many values as names.")
        if len(items) != len(targets):
            raise Refused(
                f"{counted(len(items), 'value')} cannot be assigned to {counted(len(targets), 'name')}.",
                "write as many names as values.",
            )
        new = all(isinstance(t, ast.Name) and self.scope.find(t.id) is None for t in targets)
        if not new:
            items = [self.named(at, "before", item) if isinstance(item, Value) else item for item in items]
        for target, item in zip(targets, items, strict=True):
            self._assign(at, target, item)

    def _bind(self, at: ast.stmt, target: ast.AST, name: str, value: Operand) -> None:
        local = self.scope.find(name)
        if local is None:
            require_name(self.source, target, name)
            self._first(at, name, value)
            return
        match local.kind:
            case "loop":
                raise Refused(f"the loop variable {name!r} cannot be assigned.", "use another name.")
            case "buffer":
                raise Refused(
                    f"the buffer {name!r} cannot be assigned.", f"store elements: {name}[i] = value."
                )
            case "scalar" | "function":
                raise Refused(f"the {local.kind} {name!r} cannot be assigned.", "use another name.")
            case "variable":
                assert isinstance(local.operand, Value)
                assert isinstance(local.operand.expr, Var)
                adapted = operators.coerce(value, local.operand.type, f"{name!r}", local.operand)
                if not isinstance(value, Const) and not _is_count(adapted.expr, local.operand.expr):
                    self.scope.settle(name)
                if not adapted.logical:
                    self.scope.doubt(name)
                self.emit(at, Assign(local.operand.expr.name, adapted.expr))

    def _first(self, at: ast.stmt, name: str, value: Operand) -> None:
        if isinstance(value, Memory):
            self._declare(name, value)
            return
        if isinstance(value, Several):
            raise Refused(f"{describe(value)} cannot be given a name.", "use separate variables: x, y = ….")
        if isinstance(value, PyObject) and isinstance(value.value, complex):
            raise Refused(
                f"{describe(value)} is not a value of a kernel.",
                "keep the real and the imaginary part in two floats.",
            )
        if isinstance(value, PyObject) and (value.value is None or isinstance(value.value, str)):
            raise Refused(
                f"{describe(value)} is not a value of a kernel.", "give it a number: x = 0, or x = 0.0."
            )
        if isinstance(value, (Buffer, PyObject, Effect)):
            raise Refused(f"{describe(value)} cannot be given a name.", "use it directly.")
        first = operators.number(value)
        known = self.scope.name_in_program(name)
        self.emit(at, Let(known, first.expr))
        plain = value.value if isinstance(value, Const) else None
        untyped = name if isinstance(value, Const) or _is_choice_of_numbers(first.expr) else ""
        own = replace(first, expr=Var(known), untyped=untyped, plain=plain)
        self.scope.declare(name, Local("variable", own))

    def _declare(self, name: str, memory: Memory) -> None:
        if self.scope.nesting:
            raise Refused(
                f"{describe(memory)} is declared inside a block.",
                "declare it at the top level of the kernel.",
            )
        shape = memory.shape if len(memory.shape) > 1 else ()
        known = self.scope.name_in_program(name)
        decl = BufferDecl(known, None, memory.access, memory.element, prod(memory.shape))
        self.declare_memory(decl)
        self.scope.declare(name, Local("buffer", Buffer(decl, shape)))

    def _function(self, node: ast.FunctionDef) -> None:
        if self.in_op:
            raise Refused("a nested `def` has no meaning in an op.", "define the function above and call it.")
        require_name(self.source, node, node.name)
        inner = nested_function(self, node)
        self.scope.declare(node.name, Local("function", PyObject(inner)))

    def _annotated(self, node: ast.AnnAssign) -> None:
        if not isinstance(node.target, ast.Name) or node.value is None:
            raise Refused("an annotation needs a name and a value.", "write x: u32 = 0.")
        target = value_type(evaluate(self.source, node.annotation, self.names, None))
        if target is None or target is DataType.Bytes:
            self.source.fail(node.annotation, "this is not a value type.", "use a type such as u32 or f32.")
        value = operators.coerce(self.value(node.value), require_value(target), f"{node.target.id!r}")
        self._bind(node, node.target, node.target.id, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        match node.target:
            case ast.Name(id=name):
                before = self.value(ast.copy_location(ast.Name(name, ast.Load()), node.target))
                if not isinstance(before, (Value, Const)):
                    raise Refused(f"{describe(before)} cannot be changed.", "change an element: a[i] += 1.")
                self._bind(node, node.target, name, self._changed(node, before))
            case ast.Subscript():
                owner, index = self._target(node.target)
                index = self.once(node, f"{owner.decl.name}_index", index)
                before = Value(Load(owner.decl.name, index.expr), owner.decl.element.loaded)
                place = len(self._block)
                changed = self.value(node.value)
                if len(self._block) > place:  # a function was written out here, and it may write
                    with self.block() as first:
                        before = self.named(node, "before", before)
                    self._block[place:place] = first
                after = operators.binary(node.op, before, changed, changed=True)
                self._store(node, owner, index, after)
            case _:
                raise Refused("this cannot be changed.", "change a name or an element: x += 1, a[i] += 1.")

    def _changed(self, node: ast.AugAssign, before: Value | Const) -> Operand:
        return operators.binary(node.op, before, self.value(node.value), changed=True)

    def _before(self, at: ast.stmt, value: Operand, index: Value) -> Operand:
        """The stored value, named first where Python's order (value, then index) can be observed."""
        if not isinstance(value, Value):
            return value
        first, second = value.expr, index.expr
        if (has_atomic(first) and touches(second)) or (has_atomic(second) and touches(first)):
            return self.once(at, "stored", value)
        return value

    def _target(self, target: ast.Subscript) -> tuple[Buffer, Value]:
        if isinstance(target.value, ast.Subscript):
            refuse_rows(self.value(subscripts(target)[0]), target)
        owner = self.value(target.value)
        if not isinstance(owner, Buffer):
            raise Refused(f"elements of {describe(owner)} cannot be assigned.", "store into a buffer.")
        if not owner.decl.access.writable:
            raise Refused(
                f"the buffer {owner.decl.name!r} is {owner.decl.access.value} and cannot be stored into.",
                f"annotate it Out or InOut: {owner.decl.name}: InOut[…].",
            )
        return owner, self.buffers.index(owner, self.value(target.slice))

    def _store(self, at: ast.stmt, owner: Buffer, index: Value, value: Operand) -> None:
        decl = owner.decl
        stored = element_value(value, decl.element, f"an element of {decl.name!r}")
        self.emit(at, Store(decl.name, index.expr, stored.expr))

    def _expression(self, node: ast.Expr) -> None:
        value = self.value(node.value)
        match value:
            case Effect(node=effect):
                self.emit(node, effect)
            case Printed(values=values):
                for made in self.context.printing.statements(self.scope, values):
                    self.emit(node, made)
            case Several(items=()):
                pass
            case Value(expr=expr) if has_atomic(expr):
                self.emit(node, Let(self.scope.fresh("unused"), expr))
            case PyObject(value=text) if isinstance(text, str) or text is ...:
                pass
            case _:
                raise Refused("this value is not used.", "assign it, store it, or remove the line.")

    def _if(self, node: ast.If) -> None:
        condition = operators.truth(self.value(node.test))
        then = self.inside(node, "if", node.body)
        orelse = self.inside(node, "if", node.orelse)
        bodies = [w.node for w in then], [w.node for w in orelse]
        self.emit(node, If(condition.expr, *map(tuple, bodies)), then, orelse)

    def _return(self, node: ast.Return) -> None:
        if self.in_op:
            raise Refused(
                "an op returns once, at its end.", "assign the result to a variable and return it last."
            )
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            raise Refused("a kernel returns no value.", "store it into a buffer: out[i] = value.")
        self.emit(node, Return())


def _is_choice_of_numbers(value: Expr) -> bool:
    """Whether it is one of two plain numbers, as `1.0 if c else -1.0`."""
    return isinstance(value, Select) and all(
        isinstance(arm, _NUMBERS) for arm in (value.if_true, value.if_false)
    )


def _is_count(value: Expr, variable: Var) -> bool:
    """Whether a variable is changed by plain numbers alone, as by `n += 1`, so that any type would do."""
    return all(
        part == variable or isinstance(part, _NUMBERS) or (isinstance(part, BinOp) and part.op in _COUNTING)
        for part in postorder(value)
    )


def locations(written: list[Written], root: str = "entry") -> dict[str, SourceLocation]:
    """The place of every statement, by its path in the program."""
    found: dict[str, SourceLocation] = {}
    stack = [(f"{root}[{i}]", w) for i, w in enumerate(written)]
    while stack:
        path, item = stack.pop()
        found[path] = item.location
        for name, body in zip(BODY_NAMES.get(type(item.node), ()), item.bodies, strict=True):
            stack.extend((f"{path}.{name}[{i}]", w) for i, w in enumerate(body))
    return found
