"""Functions that are written out where a kernel calls them: those that take buffers, and nested ones.

A buffer is passed as itself, so one that is passed twice is one buffer. Values are evaluated once, before
the body. The names of the function never meet those of its caller.
"""

from __future__ import annotations

import ast
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from vyre.errors import counted
from vyre.frontend import operators
from vyre.frontend.calls import OpFunction, bind_call, defaults_of
from vyre.frontend.exits import has_early_return, surely_returns, without_return
from vyre.frontend.expressions import as_written, has_atomic
from vyre.frontend.results import result_type, zero
from vyre.frontend.retyping import type_name
from vyre.frontend.scope import Local
from vyre.frontend.signature import Parameter, parameters
from vyre.frontend.source import Source, names_of, source_of
from vyre.frontend.types import Role
from vyre.frontend.values import (
    BeyondOps,
    Buffer,
    Operand,
    PyObject,
    Refused,
    Several,
    Value,
    Written,
    describe,
)
from vyre.ir.expr import LitBool, Literal, LitI32, LitU32, Var
from vyre.ir.limits import MAX_CALL_DEPTH
from vyre.ir.node import Barrier, Store
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.frontend.coordinates import ElementIndex
    from vyre.frontend.scope import Scope
    from vyre.frontend.translator import BodyTranslator
    from vyre.ir.types import DataType

_SIMPLE = (Var, LitU32, LitI32, LitBool, Literal)


@dataclass(frozen=True, slots=True)
class Nested:
    """A function that is defined inside a kernel."""

    source: Source
    names: Mapping[str, Any]
    defaults: Mapping[str, Operand]

    @property
    def __name__(self) -> str:
        return self.source.tree.name


def _settle_place(
    buffers: ElementIndex, atomic: str, args: list[Operand], keywords: dict[str, Operand]
) -> None:
    """Puts the index of an element for the coordinates of it that an atomic was given."""
    buffer = args[0] if args else keywords.get("buffer")
    index = args[1] if len(args) > 1 else keywords.get("index")
    if not isinstance(buffer, Buffer) or index is None:
        return
    rank = max(len(buffer.shape), 1)
    given = len(index.items) if isinstance(index, Several) else 1
    if given != rank:
        coordinates = ", ".join("ijklmnop"[:rank])
        place = f"({coordinates})" if rank > 1 else coordinates
        raise Refused(
            f"the buffer {buffer.decl.name!r} has {counted(rank, 'dimension')} and vyre.{atomic} got "
            f"{counted(given, 'index', 'indices')}.",
            f"write vyre.{atomic}({buffer.decl.name}, {place}, …).",
        )
    if rank > 1 and len(args) > 1:
        args[1] = buffers.index(buffer, index)
    elif rank > 1:
        keywords["index"] = buffers.index(buffer, index)


def nested_function(t: BodyTranslator, node: ast.FunctionDef) -> Nested:
    """A nested `def`, which is called like any function and sees what does not change in the kernel."""
    if node.decorator_list:
        raise Refused("a nested function has decorators.", "remove them.")
    outer = t.source.function
    line = t.source.location(node).line
    codes = [c for c in outer.__code__.co_consts if isinstance(c, CodeType) and c.co_name == node.name]
    code = min(codes, key=lambda c: abs(c.co_firstlineno - line))
    cells = tuple(CellType() for _ in code.co_freevars)
    function = FunctionType(code, outer.__globals__, node.name, None, cells)
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    values = [t.value(default) for default in node.args.defaults]
    defaults = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return Nested(Source(function, node, t.source.lines, t.source.first_line), t.names, defaults)


def called(
    t: BodyTranslator, function: PyObject, args: list[Operand], keywords: dict[str, Operand], *, whole: bool
) -> Operand:
    """The operand of a call; `whole` says that the statement has nothing beside it."""
    target: Any = function.value
    plain: Any = target.__wrapped__ if isinstance(target, OpFunction) else target
    takes_buffers = any(isinstance(arg, Buffer) for arg in (*args, *keywords.values()))
    expanded = isinstance(target, Nested) or (isinstance(plain, FunctionType) and takes_buffers)
    builtin: str = getattr(target, "__vyre_builtin__", "")
    if not expanded or builtin:
        if builtin.startswith("atomic_"):
            _settle_place(t.buffers, builtin, args, keywords)
        try:
            return t.context.linker.call(function, args, keywords, scalars=t.context.scalars)
        except BeyondOps:
            if t.in_op:
                raise
    written, result = _expand(t, target if isinstance(target, Nested) else plain, args, keywords)
    if not whole and (_writes(written) or _counts(t.statement)):
        raise Refused(
            f"{plain.__name__} is called in the middle of a statement that writes or counts.",
            f"call it on a line of its own: value = {plain.__name__}(…).",
        )
    t.add(written)
    return result


def _expand(
    t: BodyTranslator, function: FunctionType | Nested, args: list[Operand], keywords: dict[str, Operand]
) -> tuple[list[Written], Operand]:
    if isinstance(function, Nested):
        source, names, defaults = function.source, function.names, function.defaults
    else:
        source = source_of(function)
        names = names_of(function)
        defaults = defaults_of(function)
    _refuse_recursion(t, function)
    found = parameters(source, names, helper=True)
    given = bind_call(source.tree.name, [p.name for p in found], defaults, args, keywords)
    scope = t.scope.expanded()
    if isinstance(function, Nested):
        _capture(t, function, scope)
    with t.block() as before:
        for p in found:
            scope.declare(p.name, _argument(t, source.tree, p, given[p.name]))
    inner = type(t)(source, scope, names, t.context)
    t.context.open.append(function)
    try:
        with inner.block() as body:
            result = _run(inner)
    finally:
        t.context.open.pop()
    return [*before, *body], result


def _run(t: BodyTranslator) -> Operand:
    """The statements of the function, and its result."""
    output = result_type(t.source, t.names)
    if output is None:
        t.own_parameters()
        t.run(without_return(t.source.tree.body, lambda node: _no_value(t, node), t.scope.fresh))
        return Several(())
    value = run_function(t, output)
    stem = f"{t.source.tree.name}_result"
    return value if isinstance(value.expr, _SIMPLE) else t.named(t.source.tree.body[-1], stem, value)


def run_function(t: BodyTranslator, output: DataType) -> Value:
    """Adds the statements of a function to the current block, and gives what it returns."""
    tree = t.source.tree
    body = tree.body
    if not surely_returns(body):
        t.source.fail(body[-1], f"{tree.name} does not end in `return`.", "end it with `return value`.")
    t.own_parameters()
    last = body[-1]
    if has_early_return(body):
        name = t.scope.fresh(f"{tree.name}_result")
        t.declare_result(name, zero(output))
        t.run(without_return(body, lambda node: [_assigned(t, node, name)], t.scope.fresh))
        return Value(Var(name), output)
    assert isinstance(last, ast.Return)
    t.run(body[:-1])
    t.statement = last
    if last.value is None:
        t.source.fail(last, f"{tree.name} does not end in `return`.", "end it with `return value`.")
    try:
        return operators.coerce(t.value(last.value), output, f"the result of {tree.name}")
    except Refused as refusal:
        t.source.fail(last.value, refusal.message, refusal.fix(as_written(last.value)))


def _assigned(t: BodyTranslator, node: ast.Return, name: str) -> ast.stmt:
    """`return value` as an assignment of the result."""
    if node.value is None:
        t.source.fail(node, f"{t.source.tree.name} returns no value here.", "write `return value`.")
    target = ast.copy_location(ast.Name(name, ast.Store()), node)
    return ast.copy_location(ast.Assign([target], node.value), node)


def _no_value(t: BodyTranslator, node: ast.Return) -> list[ast.stmt]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        t.source.fail(
            node,
            f"{t.source.tree.name} returns a value and has no return annotation.",
            f"annotate it: def {t.source.tree.name}(…) -> u32.",
        )
    return []


def _refuse_recursion(t: BodyTranslator, function: Any) -> None:
    stack = t.context.open
    if function in stack:
        path = " → ".join(f.__name__ for f in [*stack[stack.index(function) :], function])
        raise Refused(f"recursion has no meaning in a kernel: {path}.", "write a `for` loop.")
    if len(stack) >= MAX_CALL_DEPTH:
        raise Refused(
            f"functions call each other more than {MAX_CALL_DEPTH} levels deep.",
            "merge some of the functions.",
        )


def _capture(t: BodyTranslator, function: Nested, scope: Scope) -> None:
    """Gives a nested function what it names of the kernel and what cannot change."""
    for name in function.source.function.__code__.co_freevars:
        local = t.scope.find(name)
        if local is None:
            continue
        if local.kind == "variable":
            raise Refused(
                f"{function.__name__} reads the variable {name!r} of the kernel.",
                f"pass it as an argument: {function.__name__}(…, {name}).",
            )
        scope.declare(name, local)


def _argument(t: BodyTranslator, at: ast.AST, p: Parameter, given: Operand) -> Local:
    if p.role is None:
        value = operators.coerce(given, p.element, f"`{p.name}`")
        simple = isinstance(value.expr, _SIMPLE)
        return Local("scalar", value if simple else t.named(t.statement, p.name, value))
    if not isinstance(given, Buffer):
        raise Refused(f"`{p.name}` is a buffer and got {describe(given)}.", "pass a buffer, not an element.")
    decl = given.decl
    if decl.element is not p.element:
        raise Refused(
            f"`{p.name}` holds {p.element.value}, and the buffer {decl.name!r} {decl.element.value}.",
            f"annotate it {p.role.value}[{type_name(decl.element)}], or pass another buffer.",
        )
    if p.role not in (Role.In, Role.Uniform) and not decl.access.writable:
        raise Refused(
            f"`{p.name}` is {p.role.value}, and the buffer {decl.name!r} cannot be stored into.",
            f"annotate `{p.name}` In where it is only read.",
        )
    if len(p.shape) != len(given.shape) and (len(p.shape) > 1 or len(given.shape) > 1):
        raise Refused(
            f"`{p.name}` has {counted(max(len(p.shape), 1), 'dimension')}, and the buffer {decl.name!r} "
            f"{max(len(given.shape), 1)}.",
            f"declare as many dimensions for `{p.name}`.",
        )
    if p.count and p.count != decl.count:
        raise Refused(
            f"`{p.name}` has {counted(p.count, 'element')}, and the buffer {decl.name!r} "
            f"{decl.count or 'any number'}.",
            f"leave the number out: {p.role.value}[{type_name(p.element)}].",
        )
    return Local("buffer", given)


def _writes(written: list[Written]) -> bool:
    stack = list(written)
    while stack:
        item = stack.pop()
        if isinstance(item.node, (Store, Barrier)) or any(has_atomic(e) for e in item.node.exprs):
            return True
        stack.extend(w for body in item.bodies for w in body)
    return False


def _counts(statement: ast.AST) -> bool:
    """Whether a statement names an atomic, whose place among the loads of the function would show."""
    names = (n.attr if isinstance(n, ast.Attribute) else getattr(n, "id", "") for n in ast.walk(statement))
    return any(name.startswith("atomic_") for name in names)
