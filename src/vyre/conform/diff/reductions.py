"""The ways to make a program smaller. Each gives candidates, boldest first; most of them are wrong.

Whether a candidate is valid and still fails is the shrinker's question (`shrink.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.compose.registry import default_registry
from vyre.ir.blocks import BlockPath, rewrite_blocks
from vyre.ir.environment import Types
from vyre.ir.expr import (
    Atomic,
    BufLen,
    Expr,
    FReduce,
    FReduceApprox,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    MakeVec,
    Var,
)
from vyre.ir.node import Assign, Block, If, Let, Loop, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions, postorder, rebuild, statements, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.conform.generate.programs import GeneratedProgram
    from vyre.ir.buffers import BufferDecl

_T = DataType


def without_statements(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Runs of statements removed: half of them, a quarter, …, one, the last first."""
    paths = [path for path, _ in statements(generated.program.entry)]
    size = max(1, len(paths) // 2)
    while True:
        for end in range(len(paths), 0, -size):
            doomed = frozenset(paths[max(0, end - size) : end])
            yield _edited(generated, lambda path, _, d=doomed: () if path in d else None)
        if size == 1:
            return
        size //= 2


def unwrapped_statements(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """A statement replaced by one of its bodies; a loop also by its first turn."""
    for path, node in statements(generated.program.entry):
        for body in _bodies(node):
            yield _edited(generated, lambda p, _, at=path, b=body: b if p == at else None)


def _bodies(node: Node) -> Iterator[tuple[Node, ...]]:
    match node:
        case If(then=then, orelse=orelse):
            yield then
            if orelse:
                yield orelse
                yield (If(node.condition, then),)
        case Loop(var=var, start=start, body=body):
            yield (Block((Let(var, start), *body)),)
        case Block(body=body):
            yield body
        case _:
            pass


def simpler_expressions(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """An expression replaced by a literal or by an operand of its type, the largest first."""
    registry = default_registry()
    types = Types(generated.program.buffers, signatures=lambda op_id: registry[op_id].signature)
    for path, node in statements(generated.program.entry):
        types.enter(node)
        for position, root in enumerate(node.exprs):
            for expr in reversed(list(postorder(root))):
                for simpler in _simpler(expr, types):
                    exprs = list(node.exprs)
                    exprs[position] = _substituted(root, expr, simpler)
                    changed = with_parts(node, tuple(exprs), node.bodies)
                    yield _edited(generated, lambda p, _, at=path, c=changed: (c,) if p == at else None)


def _simpler(expr: Expr, types: Types) -> Iterator[Expr]:
    t = types.type(expr)
    literals = list(_literals(t))
    if expr not in literals:
        yield from literals
    elif expr is not literals[0]:
        yield literals[0]
    seen = {expr}
    for inner in reversed(list(postorder(expr))):
        if inner not in seen and inner.children and types.type(inner) is t and inner.size < expr.size:
            seen.add(inner)
            yield inner
    for child in expr.children:
        if not child.children and child not in literals and types.type(child) is t:
            yield child


def _literals(t: DataType) -> Iterator[Expr]:
    for value in (0, 1):
        match t:
            case _T.U32:
                yield LitU32(value)
            case _T.I32:
                yield LitI32(value)
            case _T.Bool:
                yield LitBool(bool(value))
            case _T.Vec2U32 | _T.Vec4U32:
                yield MakeVec(t, (LitU32(value),) * t.lanes)
            case _T.Bytes:
                return
            case _:
                yield Literal(t, value)


def substituted_lets(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """A binding removed and its value put where its name was, when that is smaller."""
    for path, node in statements(generated.program.entry):
        if isinstance(node, Let):
            rest = _edited(generated, lambda p, _, at=path: () if p == at else None).program
            entry = _mapped(rest.entry, lambda x, b=node: _substituted(x, Var(b.name), b.value))
            candidate = Program(rest.buffers, rest.workgroup_size, entry)
            if candidate.size < generated.program.size:
                yield replace(generated, program=candidate)


def bound_assignments(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """A binding removed, and an assignment to its name made the binding."""
    nodes = dict(statements(generated.program.entry))
    bound = {node.name: (path, node.value) for path, node in nodes.items() if isinstance(node, Let)}
    for path, node in nodes.items():
        if isinstance(node, Assign) and node.name in bound:
            first, value = bound[node.name]
            new = Let(node.name, _substituted(node.value, Var(node.name), value))
            edits: dict[str, tuple[Node, ...]] = {first: (), path: (new,)}
            candidate = _edited(generated, lambda p, _, e=edits: e.get(p))
            if candidate.program.size < generated.program.size:
                yield candidate


def _mapped(body: tuple[Node, ...], change: Callable[[Expr], Expr]) -> tuple[Node, ...]:
    def enter(node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        return with_parts(node, tuple(change(x) for x in node.exprs), node.bodies), None

    return rewrite_blocks(body, enter, None)


def smaller_grids(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Fewer workgroups, and smaller ones."""
    for grid in _smaller(generated.workgroups):
        yield replace(generated, workgroups=grid)
    program = generated.program
    for size in _smaller(program.workgroup_size):
        yield replace(generated, program=Program(program.buffers, size, program.entry))


def _smaller(sizes: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    if sizes != (1, 1, 1):
        yield (1, 1, 1)
    for axis in range(3):
        for size in (1, sizes[axis] // 2, sizes[axis] - 1):
            if 1 <= size < sizes[axis]:
                yield (*sizes[:axis], size, *sizes[axis + 1 :])  # pyright: ignore[reportReturnType]


def fewer_buffers(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Without the buffers that nothing names, and with shorter ones."""
    program = generated.program
    used = _named_buffers(program)
    kept = tuple(b for b in program.buffers if b.name in used)
    if len(kept) < len(program.buffers):
        yield _with_buffers(generated, _rebound(kept))
    for i, decl in enumerate(program.buffers):
        data = generated.inputs.get(decl.name)
        stride = decl.element.stride
        length = decl.count if data is None else len(data) // stride
        for shorter in (1, length // 2, length - 1):
            if 1 <= shorter < length:
                count = shorter if decl.count else 0
                changed = replace(decl, count=count, data=decl.data[: shorter * stride])
                inputs = dict(generated.inputs)
                if data is not None:
                    inputs[decl.name] = data[: shorter * stride]
                buffers = (*program.buffers[:i], changed, *program.buffers[i + 1 :])
                yield _with_buffers(replace(generated, inputs=inputs), buffers)


def _rebound(buffers: tuple[BufferDecl, ...]) -> tuple[BufferDecl, ...]:
    binding = 0
    out: list[BufferDecl] = []
    for decl in buffers:
        if decl.binding is None:
            out.append(decl)
        else:
            out.append(replace(decl, binding=binding))
            binding += 1
    return tuple(out)


def _with_buffers(generated: GeneratedProgram, buffers: tuple[BufferDecl, ...]) -> GeneratedProgram:
    program = Program(buffers, generated.program.workgroup_size, generated.program.entry)
    names = {b.name for b in buffers}
    inputs = {name: data for name, data in generated.inputs.items() if name in names}
    return replace(generated, program=program, inputs=inputs)


def shorter_inputs(generated: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Inputs of zeros, whole buffers first, then halves, down to elements."""
    strides = {b.name: b.element.stride for b in generated.program.buffers}
    for name, data in sorted(generated.inputs.items()):
        size = len(data)
        while size >= strides[name]:
            for start in range(0, len(data), size):
                part = data[start : start + size]
                if any(part):
                    zeroed = data[:start] + bytes(len(part)) + data[start + size :]
                    yield replace(generated, inputs={**generated.inputs, name: zeroed})
            size = size // 2 // strides[name] * strides[name]


def _named_buffers(program: Program) -> set[str]:
    named = {node.buffer for _, node in statements(program.entry) if isinstance(node, Store)}
    for expr in expressions(program.entry):
        if isinstance(expr, Load | Atomic | BufLen | FReduce | FReduceApprox):
            named.add(expr.buffer)
    return named


def _edited(
    generated: GeneratedProgram, edit: Callable[[str, Node], tuple[Node, ...] | None]
) -> GeneratedProgram:
    """The program with statements replaced: None keeps one and looks into its bodies, () removes it."""
    program = generated.program

    def enter(node: Node, block: BlockPath, out: list[Node]) -> tuple[Node, BlockPath] | None:
        path = block.next()
        new = edit(path, node)
        if new is None:
            return node, BlockPath(path)
        out += new
        return None

    entry = rewrite_blocks(program.entry, enter, BlockPath(), body=BlockPath.body)
    return replace(generated, program=Program(program.buffers, program.workgroup_size, entry))


def _substituted(root: Expr, old: Expr, new: Expr) -> Expr:
    done: dict[Expr, Expr] = {}
    for expr in postorder(root):
        done[expr] = new if expr is old else rebuild(expr, tuple(done[c] for c in expr.children))
    return done[root]
