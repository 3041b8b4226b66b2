"""Whole functions: a kernel becomes a program, a plain function becomes an op."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.errors import OpError
from vyre.frontend import operators
from vyre.frontend.calls import Linker
from vyre.frontend.scope import Local, Scope
from vyre.frontend.signature import CALL_OPTIONS, Parameter, evaluate, parameters, value_type
from vyre.frontend.source import Source, names_of, source_of
from vyre.frontend.statements import Statements, locations
from vyre.frontend.types import Role
from vyre.frontend.values import Buffer, Refused, Value
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Load, Var
from vyre.ir.op import Op, Param
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Translation:
    """A kernel's program with calls, the ops it needs, and how its scalars are packed."""

    program: Program
    parameters: tuple[Parameter, ...]
    ops: tuple[Op, ...]
    scalars: Mapping[str, tuple[Parameter, ...]]
    """By uniform buffer: the scalar parameters it holds, in order."""


def translate_kernel(
    function: Any, workgroup_size: tuple[int, int, int], outer: Mapping[str, Any]
) -> Translation:
    """The program of a kernel. `outer` holds names for annotations that no closure captured."""
    source = source_of(function)
    names = names_of(source.function)
    found = parameters(source, {**outer, **names})
    _require_kernel(source, found)
    scope = Scope(_identifiers(source.tree))
    decls: list[BufferDecl] = []
    for p in found:
        if p.role is None:
            continue
        shared = p.role in (Role.Shared, Role.SharedAtomic)
        decl = p.declare(None if shared else sum(d.binding is not None for d in decls))
        decls.append(decl)
        scope.declare(p.name, Local("buffer", Buffer(decl)))
    scalars = _declare_scalars(found, scope, decls)
    linker = Linker(translate_op)
    body = Statements(source, scope, {**outer, **names}, linker, in_op=False)
    written = body.translate(source.tree.body)
    program = Program(
        [*decls, *body.shared], workgroup_size, [w.node for w in written], locations=locations(written)
    )
    return Translation(program, tuple(found), tuple(linker.ops.values()), scalars)


def translate_op(function: Any, op_id: str, linker: Linker, outer: Mapping[str, Any] | None = None) -> Op:
    """The op of a plain function: scalar parameters, statements, one `return` at the end."""
    source = source_of(function)
    names = {**(outer or {}), **names_of(source.function)}
    found = parameters(source, names)
    buffer = next((p for p in found if p.role is not None), None)
    if buffer is not None:
        source.fail(
            buffer.node,
            f"the parameter {buffer.name!r} of an op is a buffer; an op sees values only.",
            f"pass the element: {buffer.name}: {operators.type_name(buffer.element)}.",
        )
    output = _output(source, names)
    scope = Scope(_identifiers(source.tree))
    for p in found:
        scope.declare(p.name, Local("scalar", Value(Var(p.name), p.element)))
    body = Statements(source, scope, names, linker, in_op=True)
    *before, last = source.tree.body
    if not isinstance(last, ast.Return) or last.value is None:
        source.fail(last, f"{source.tree.name} does not end in `return`.", "end it with `return value`.")
    written = body.translate(before)
    try:
        result = operators.coerce(body.value(last.value), output, f"the result of {source.tree.name}")
    except Refused as refusal:
        source.fail(last.value, refusal.message, refusal.fix)
    params = tuple(Param(p.name, p.element) for p in found)
    doc = (source.function.__doc__ or "").strip()
    try:
        return Op(op_id, params, output, result.expr, tuple(w.node for w in written), doc=doc)
    except OpError as error:
        source.fail(source.tree, error.message, error.fix)


def _require_kernel(source: Source, found: list[Parameter]) -> None:
    returns = source.tree.returns
    if returns is not None and not (isinstance(returns, ast.Constant) and returns.value is None):
        source.fail(returns, "a kernel returns no value.", "store into an Out buffer; annotate -> None.")
    option = next((p for p in found if p.name in CALL_OPTIONS), None)
    if option is not None:
        source.fail(
            option.node,
            f"the parameter {option.name!r} has the name of an option of every call.",
            f"choose another name than {', '.join(CALL_OPTIONS)}.",
        )
    if not any(p.role in (Role.Out, Role.InOut) for p in found):
        source.fail(
            source.tree,
            f"the kernel {source.tree.name} has no output.",
            "annotate at least one parameter Out or InOut.",
        )


def _declare_scalars(
    found: list[Parameter], scope: Scope, decls: list[BufferDecl]
) -> dict[str, tuple[Parameter, ...]]:
    by_type: dict[DataType, list[Parameter]] = {}
    for p in found:
        if p.role is None:
            by_type.setdefault(p.element, []).append(p)
    packed: dict[str, tuple[Parameter, ...]] = {}
    for element, scalars in by_type.items():
        name = scope.fresh(f"params_{operators.type_name(element)}")
        binding = sum(d.binding is not None for d in decls)
        decls.append(BufferDecl.uniform(name, binding, element, count=len(scalars)))
        packed[name] = tuple(scalars)
        for position, p in enumerate(scalars):
            load = Value(Load(name, LitU32(position)), element)
            scope.declare(p.name, Local("scalar", load))
    return packed


def _output(source: Source, names: Mapping[str, Any]) -> DataType:
    returns = source.tree.returns
    if returns is None:
        source.fail(
            source.tree,
            f"{source.tree.name} is called in a kernel and has no return annotation.",
            f"annotate it: def {source.tree.name}(…) -> u32.",
        )
    output = value_type(evaluate(source, returns, names, source.function.__annotations__.get("return")))
    if output is None or output is DataType.Bytes:
        source.fail(returns, "this is no type of a result.", "use a type such as u32, f32 or boolean.")
    return output


def _identifiers(tree: ast.FunctionDef) -> set[str]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
