"""The parameters of a kernel or op, read from its annotations."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, cast

from vyre.frontend.stored import not_a_value
from vyre.frontend.types import BufferAnnotation, Role, Scalar
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_NAME_LENGTH, U32_MAX
from vyre.ir.types import STORED_TYPES, DataType
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.frontend.source import Source

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ACCESS = {
    Role.In: BufferAccess.ReadOnly,
    Role.Out: BufferAccess.ReadWrite,
    Role.InOut: BufferAccess.ReadWrite,
    Role.Uniform: BufferAccess.Uniform,
    Role.Shared: BufferAccess.Workgroup,
    Role.SharedAtomic: BufferAccess.WorkgroupAtomic,
    Role.Private: BufferAccess.Private,
}
OWN = (Role.Shared, Role.SharedAtomic, Role.Private)
"""Memory that the kernel has for itself; the host passes nothing for it."""
CALL_OPTIONS = ("workgroups", "backend", "copy", "step_limit")
"""What a call takes by name beside its arguments."""

_PYTHON_TYPES = {int: "u32 or i32", float: "f32", bool: "boolean", bytes: "In[packed_bytes]"}

_NUMPY_TYPES = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "int32": "i32",
    "uint32": "u32",
    "uint64": "u64",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "uint16": "u16",
    "int64": "i64",
    "bool": "boolean",
    "float": "f32",
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter: a buffer with a role, or a scalar, whose role is None."""

    name: str
    role: Role | None
    element: DataType
    count: int
    node: ast.arg
    shape: tuple[int | str, ...] = ()
    """The declared dimensions, each fixed or named; empty for a plain buffer or a count."""
    default: Any = None
    """What a call passes for a scalar that it leaves out; None where it may not."""

    def declare(self, binding: int | None) -> BufferDecl:
        assert self.role is not None
        return BufferDecl(self.name, binding, _ACCESS[self.role], self.element, self.count)


def require_name(source: Source, node: ast.AST, name: str) -> None:
    """Refuses names that programs cannot have."""
    if name.startswith("__"):
        source.fail(node, f"the name {name!r} begins with `__`, which is reserved.", "choose another name.")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        source.fail(
            node,
            f"the name {name!r} cannot be a name of a program.",
            f"use at most {MAX_NAME_LENGTH} letters a to z, digits and `_`.",
        )


def parameters(source: Source, names: Mapping[str, Any], *, helper: bool = False) -> list[Parameter]:
    """Every parameter in order. Raises `KernelError` at the first that has no meaning.

    A helper is called in a kernel: it may have defaults, and the memory it is given has its size already.
    """
    arguments = source.tree.args
    odd = arguments.vararg or arguments.kwarg or next(iter(arguments.kwonlyargs), None)
    if odd is not None:
        source.fail(
            odd, f"the parameter {odd.arg!r} has no fixed place.", "list every buffer as a plain parameter."
        )
    plain = (*arguments.posonlyargs, *arguments.args)
    found = [_parameter(source, node, names, helper=helper) for node in plain]
    return found if helper else _with_defaults(source, found)


def _with_defaults(source: Source, found: list[Parameter]) -> list[Parameter]:
    """The parameters of a kernel with the defaults of its scalars."""
    nodes = source.tree.args.defaults
    values: tuple[Any, ...] = source.function.__defaults__ or ()
    first = len(found) - len(nodes)
    for p, node in zip(found[first:], nodes, strict=True):
        if p.role is not None:
            source.fail(node, f"the buffer {p.name!r} has a default value.", "pass it at the call instead.")
    return [*found[:first], *(replace(p, default=v) for p, v in zip(found[first:], values, strict=True))]


def _parameter(source: Source, node: ast.arg, names: Mapping[str, Any], *, helper: bool) -> Parameter:
    require_name(source, node, node.arg)
    if node.annotation is None:
        source.fail(
            node,
            f"the parameter {node.arg!r} has no annotation.",
            "leave it out, and put @staticmethod above @vyre.kernel: a kernel is not a method."
            if node.arg in ("self", "cls")
            else f"annotate it: {node.arg}: In[u32], Out[u32], InOut[u32], or u32 for a scalar.",
        )
    annotation = evaluate(source, node.annotation, names, source.function.__annotations__.get(node.arg))
    if isinstance(annotation, BufferAnnotation):
        element = value_type(annotation.element)
        if element is None:
            source.fail(
                node.annotation,
                f"{_shown(annotation.element)} is not an element type.",
                f"write {node.arg}: {annotation.role.value}[{known}]."
                if (known := _NUMPY_TYPES.get(_shown(annotation.element)))
                else "use u8, u16, u32, u64, u128, i8, i16, i32, i64, f16, bf16, f32, f64, boolean, vec2, "
                "vec4 or packed_bytes.",
            )
        shape = _shape(source, node, annotation)
        count = prod(d for d in shape if isinstance(d, int)) if shape else annotation.count
        if any(isinstance(d, str) for d in shape):
            count = 0
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= U32_MAX:
            head = f"{annotation.role.value}[{_shown(annotation.element)}, Literal"
            named = cast("tuple[object, ...]", count) if isinstance(count, tuple) else ("m", "n")
            sizes = ", ".join(f'"{d}"' if isinstance(d, str) else str(d) for d in named)
            source.fail(
                node.annotation,
                f"{count!r} is not an element count.",
                f"write {head}[64]] for a count, {head}[{sizes}]] for a shape.",
            )
        if annotation.role in OWN and count == 0 and not helper:
            private = annotation.role is Role.Private
            made = "private" if private else "shared"
            source.fail(
                node.annotation,
                f"the {'private array' if private else 'workgroup memory'} {node.arg!r} has no size.",
                f"write {annotation.role.value}[u32, Literal[64]], or `{node.arg} = vyre.{made}(u32, 64)` "
                "in the body.",
            )
        if len(shape) > 1 and element is DataType.Bytes:
            source.fail(
                node.annotation, "packed_bytes has no shape.", f"write {annotation.role.value}[packed_bytes]."
            )
        return Parameter(node.arg, annotation.role, element, count, node, shape)
    scalar = value_type(annotation)
    if scalar is None or scalar is DataType.Bytes:
        hint = _PYTHON_TYPES.get(annotation) if isinstance(annotation, type) else None
        source.fail(
            node.annotation,
            f"{_shown(annotation)} is not a type that a parameter can have.",
            f"write {hint}." if hint else "write a buffer such as In[u32], or a scalar type such as u32.",
        )
    if scalar in STORED_TYPES:
        source.fail(node.annotation, *not_a_value(scalar))
    return Parameter(node.arg, None, scalar, 0, node)


def _shape(source: Source, node: ast.arg, annotation: BufferAnnotation) -> tuple[int | str, ...]:
    """The dimensions that an annotation declares; none for a single number, which is a count."""
    assert node.annotation is not None
    shape = _written(node.annotation, annotation.shape)
    if len(shape) == 1 and isinstance(shape[0], int):
        return ()
    for dimension in shape:
        named = isinstance(dimension, str) and dimension.isidentifier()
        if not named and not (type(dimension) is int and 0 < dimension <= U32_MAX):
            source.fail(
                node.annotation,
                f"{dimension!r} is not a dimension.",
                'write a name or a number from 1 for each: Literal["m", 3].',
            )
    return shape


def _written(annotation: ast.expr, kept: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of `Literal` as they are written: typing keeps `"n"` of `Literal["n", "n"]` once."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            values = tuple(e.value for e in node.slice.elts if isinstance(e, ast.Constant))
            if len(values) == len(node.slice.elts) and kept and set(values) == set(kept):
                return values
    return kept


def value_type(annotation: Any) -> DataType | None:
    """The data type behind `u32` and its like; None for anything else."""
    if isinstance(annotation, type) and issubclass(annotation, Scalar):
        return getattr(annotation, "__vyre_type__", None)
    return None


def evaluate(source: Source, node: ast.expr, names: Mapping[str, Any], known: Any) -> Any:
    """The object an annotation names, also under `from __future__ import annotations`."""
    if known is not None and not isinstance(known, str):
        return known
    text = known if isinstance(known, str) else ast.unparse(node)
    try:
        return eval(text, {}, dict(names))
    except Exception as error:  # an annotation is any Python expression, so any error may come
        source.fail(
            node,
            f"the annotation {text!r} cannot be read: {error}.",
            "import the names it uses where the function is defined, not under TYPE_CHECKING.",
        )


def _shown(value: Any) -> str:
    if isinstance(value, BufferAnnotation):
        return f"{value.role.value}[{_shown(value.element)}]"
    return getattr(value, "__name__", None) or repr(value)
