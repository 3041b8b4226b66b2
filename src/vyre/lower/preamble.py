"""What stands above a kernel's statements in CUDA C and OpenCL C: only the helpers and ids it uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vyre.ir.expr import InvocationId, LocalId, WorkgroupId
from vyre.ir.walk import expressions
from vyre.lower.source import BASE_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from vyre.lower.prepare import Prepared

_HELPER = re.compile(r"FN [\w ]+? (\w+)\(")


def used_helpers(prelude: str, called: Container[str]) -> list[str]:
    """The lines of a prelude without the functions (`FN type name(…)`) that are not called."""
    kept: list[str] = []
    keep = True
    for line in prelude.splitlines():
        helper = _HELPER.match(line)
        if helper:
            keep = helper[1] in called
        if keep:
            kept.append(line)
    return kept


def id_lines(prepared: Prepared, local: Callable[[int], str], group: Callable[[int], str]) -> list[str]:
    """Declarations of the ids that the statements and the filling of workgroup memory use."""
    ids = (InvocationId, WorkgroupId, LocalId)
    used = {(type(x), x.axis) for x in expressions(prepared.entry) if isinstance(x, ids)}
    shared = any(b.access.shared for b in prepared.buffers)
    lines: list[str] = []
    for axis, (letter, size) in enumerate(zip("xyz", prepared.workgroup_size, strict=True)):
        invocation = (InvocationId, axis) in used
        if invocation or shared or (LocalId, axis) in used:
            lines.append(f"  const u32 local_{letter} = {local(axis)};")
        if invocation or (WorkgroupId, axis) in used:
            lines.append(f"  const u32 workgroup_{letter} = {group(axis)} + {BASE_WORDS[axis]};")
        if invocation:
            lines.append(f"  const u32 invocation_{letter} = workgroup_{letter} * {size}u + local_{letter};")
    return lines


def parameter_lines(params: list[str]) -> list[str]:
    """One parameter a line."""
    return [f"    {text}," for text in params[:-1]] + [f"    {params[-1]}"]
