"""Whole functions: a kernel becomes a program, a plain function becomes an op."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from vyre.errors import OpError
from vyre.frontend.calls import Linker
from vyre.frontend.expand import run_function
from vyre.frontend.results import result_type
from vyre.frontend.retyping import type_name
from vyre.frontend.scalars import Scalars
from vyre.frontend.scope import Local, Scope
from vyre.frontend.shapes import grid_use, require_grid_fits
from vyre.frontend.signature import CALL_OPTIONS, OWN, Parameter, parameters
from vyre.frontend.source import Source, names_of, source_of
from vyre.frontend.statements import Statements, locations
from vyre.frontend.translation import Translation
from vyre.frontend.translator import Surroundings
from vyre.frontend.types import Role
from vyre.frontend.values import Buffer, Value
from vyre.ir.expr import Var
from vyre.ir.op import Op, Param
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.buffers import BufferDecl


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
        own = p.role in OWN
        decl = p.declare(None if own else sum(d.binding is not None for d in decls))
        decls.append(decl)
        scope.declare(p.name, Local("buffer", Buffer(decl, p.shape)))
    scalars = Scalars(found, scope, workgroup_size)
    context = Surroundings(Linker(translate_op), scalars)
    body = Statements(source, scope, {**outer, **names}, context)
    with body.block() as written:
        body.own_parameters()
        body.run(source.tree.body)
    decls += scalars.declarations(sum(d.binding is not None for d in decls))
    decls += context.printing.declarations(sum(d.binding is not None for d in decls))
    buffers = [*decls, *context.memory]
    places = {p.name: source.location(p.node) for p in found} | context.places
    where = {f"buffers[{k}]": places[b.name] for k, b in enumerate(buffers) if b.name in places}
    program = Program(
        buffers, workgroup_size, [w.node for w in written], locations=locations(written) | where
    )
    prints = context.printing.made()
    asks = grid_use(program, found, scalars, prints=prints is not None)
    require_grid_fits(source, tuple(found), asks)
    return Translation(
        program, tuple(found), tuple(context.linker.ops.values()), scalars.packed(), asks, prints
    )


def takes_buffers(function: Any, outer: Mapping[str, Any]) -> bool:
    """Whether a function has a buffer among its parameters, and so is written out where it is called."""
    source = source_of(function)
    found = parameters(source, {**outer, **names_of(source.function)}, helper=True)
    return any(p.role is not None for p in found)


def translate_op(function: Any, op_id: str, linker: Linker, outer: Mapping[str, Any] | None = None) -> Op:
    """The op of a plain function: scalar parameters, statements, one `return` at the end."""
    source = source_of(function)
    names = {**(outer or {}), **names_of(source.function)}
    found = parameters(source, names, helper=True)
    buffer = next((p for p in found if p.role is not None), None)
    if buffer is not None:
        source.fail(
            buffer.node,
            f"the parameter {buffer.name!r} of {source.tree.name} is a buffer, and the call passes none.",
            f"pass a buffer, or annotate an element: {buffer.name}: {type_name(buffer.element)}.",
        )
    output = result_type(source, names)
    if output is None:
        source.fail(
            source.tree,
            f"{source.tree.name} is called in a kernel and has no return annotation.",
            f"annotate it: def {source.tree.name}(…) -> u32.",
        )
    scope = Scope(_identifiers(source.tree))
    for p in found:
        scope.declare(p.name, Local("scalar", Value(Var(p.name), p.element)))
    body = Statements(source, scope, names, Surroundings(linker, None))
    with body.block() as written:
        result = run_function(body, output)
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


def _identifiers(tree: ast.FunctionDef) -> set[str]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
