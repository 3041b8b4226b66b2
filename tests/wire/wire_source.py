"""A program as the Python expression that builds it: what a golden file is compared with.

It stands on nothing but the constructors of `vyre.ir`, so a change of the text form or of the wire
form cannot change what a golden file is expected to hold.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, cast

import vyre.ir
from vyre.ir import BufferDecl, Expr, Node, Program


def source(program: Program) -> str:
    """Python source of a program; expressions that occur twice are named, so sharing stays small."""
    lines: list[str] = []
    names: dict[Expr | Node, str] = {}

    def name_parts(item: Expr | Node) -> None:
        waiting: list[Expr | Node] = [item]
        while waiting:
            top = waiting[-1]
            parts: list[Expr | Node] = (
                list(top.children)
                if isinstance(top, Expr)
                else [*top.exprs, *(n for b in top.bodies for n in b)]
            )
            missing = [part for part in parts if part not in names]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if top not in names:
                cls: Any = type(top)
                fields = ", ".join(text(getattr(top, field)) for field in cls.__match_args__)
                names[top] = f"n{len(names)}"
                lines.append(f"{names[top]} = {cls.__name__}({fields})")

    def text(value: Any) -> str:
        if isinstance(value, Expr | Node):
            return names[value]
        if isinstance(value, Enum):
            return f"{type(value).__name__}.{value.name}"
        if isinstance(value, tuple):
            return "[" + ", ".join(map(text, cast("tuple[Any, ...]", value))) + "]"
        if isinstance(value, BufferDecl):
            fields: list[Any] = [value.name, value.binding, value.access, value.element, value.count]
            fields += [value.data] if value.data else []
            return "BufferDecl(" + ", ".join(text(f) for f in fields) + ")"
        return ascii(value)

    for node in program.entry:
        name_parts(node)
    for i, buffer in enumerate(program.buffers):
        lines.append(f"b{i} = {text(buffer)}")
    buffers = ", ".join(f"b{i}" for i in range(len(program.buffers)))
    lines.append(f"program = Program([{buffers}], {program.workgroup_size}, {text(program.entry)})")
    return "\n".join(lines) + "\n"


def read(text: str) -> Program:
    """The program that a source builds."""
    scope: dict[str, Any] = {name: getattr(vyre.ir, name) for name in vyre.ir.__all__}
    exec(text, scope)
    return scope["program"]
