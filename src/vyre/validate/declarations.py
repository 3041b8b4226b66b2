"""Rules for what stands before the statements: workgroup size and buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.limits import (
    MAX_BUFFERS,
    MAX_CONSTANT_BYTES,
    MAX_PRIVATE_BYTES,
    MAX_UNIFORM_BYTES,
    MAX_WORKGROUP_BYTES,
    MAX_WORKGROUP_INVOCATIONS,
    U32_MAX,
)
from vyre.ir.types import DataType
from vyre.validate.names import name_problem

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program
    from vyre.validate.gathered import Report


def check_declarations(program: Program, report: Report, *, allow_reserved: bool) -> None:
    _check_workgroup_size(program.workgroup_size, report)
    if len(program.buffers) > MAX_BUFFERS:
        report.add(
            "V040",
            f"the program has {len(program.buffers)} buffers; the limit is {MAX_BUFFERS}.",
            "join buffers of one element type and index into them at an offset.",
            "buffers",
        )
    names: dict[str, int] = {}
    bindings: dict[int, int] = {}
    shared, private, tables = (
        _Total(MAX_WORKGROUP_BYTES),
        _Total(MAX_PRIVATE_BYTES),
        _Total(MAX_CONSTANT_BYTES),
    )
    for position, buffer in enumerate(program.buffers):
        path = f"buffers[{position}]"
        _check_name(buffer, names, position, report, allow_reserved=allow_reserved)
        _check_binding(program, bindings, position, report)
        if not _is_u32(buffer.count):
            report.add(
                "V042",
                f"the count of buffer {buffer.name}, {buffer.count!r}, is not a u32.",
                f"give a count from 0 to {U32_MAX}; 0 lets the host choose.",
                path,
            )
            continue
        size = buffer.count * buffer.element.stride
        tables.add(len(buffer.data), path)
        if buffer.access is BufferAccess.Private:
            private.add(buffer.count * max(4, buffer.element.stride), path)
        _check_own_memory(buffer, path, report)
        if buffer.access.shared:
            shared.add(size, path)
            if buffer.count == 0:
                report.add(
                    "V024",
                    f"the workgroup buffer {buffer.name} has count 0, but no host will ever size it.",
                    "declare the number of elements that one workgroup shares.",
                    path,
                )
        elif buffer.access is BufferAccess.Uniform and size > MAX_UNIFORM_BYTES:
            report.add(
                "V033",
                f"the uniform buffer {buffer.name} takes {size} bytes; the limit is {MAX_UNIFORM_BYTES}.",
                "make it ReadOnly storage, or keep only the small constants in the uniform.",
                path,
            )
    if shared.passed:
        report.add(
            "V035",
            f"the workgroup buffers take {shared.size} bytes together; the limit is {shared.limit}.",
            "shorten the workgroup buffers and work through the data in tiles.",
            shared.passed,
        )
    if private.passed:
        report.add(
            "V048",
            f"an invocation has {private.size} bytes of private buffers; the limit is {private.limit}.",
            "shorten the private buffers, or keep the data in storage, a part for each invocation.",
            private.passed,
        )
    if tables.passed:
        report.add(
            "V050",
            f"the constant tables take {tables.size} bytes together; the limit is {tables.limit}.",
            "pass the larger tables as ReadOnly buffers.",
            tables.passed,
        )


@dataclass(slots=True)
class _Total:
    """Bytes of several buffers together, and the first with which they pass the limit."""

    limit: int
    size: int = 0
    passed: str = ""

    def add(self, size: int, path: str) -> None:
        self.size += size
        if self.size > self.limit and not self.passed:
            self.passed = path


def _check_own_memory(buffer: BufferDecl, path: str, report: Report) -> None:
    """Memory that no host sizes must say its size: V047 and V049."""
    if buffer.access is BufferAccess.Private and buffer.count == 0:
        report.add(
            "V047",
            f"the private buffer {buffer.name} has count 0, but no host will ever size it.",
            "declare the number of elements that one invocation needs.",
            path,
        )
    elif buffer.access is BufferAccess.Constant and (buffer.count == 0 or buffer.element is DataType.Bytes):
        what = "has no elements" if buffer.count == 0 else "holds Bytes, which have no fixed size"
        report.add(
            "V049",
            f"the constant table {buffer.name} {what}.",
            "declare a table of at least one element; words of raw bytes are U32.",
            path,
        )


def _check_workgroup_size(size: tuple[int, int, int], report: Report) -> None:
    sound = True
    for axis, extent in enumerate(size):
        if not _is_u32(extent):
            sound = False
            report.add(
                "V042",
                f"dimension {axis} of the workgroup size, {extent!r}, is not a u32.",
                f"give three numbers whose product is at most {MAX_WORKGROUP_INVOCATIONS}.",
                f"workgroup_size[{axis}]",
            )
        elif extent == 0:
            sound = False
            report.add(
                "V003",
                f"dimension {axis} of the workgroup size is 0, so no invocation would ever run.",
                "use at least 1 in every dimension.",
                f"workgroup_size[{axis}]",
            )
    if sound and size[0] * size[1] * size[2] > MAX_WORKGROUP_INVOCATIONS:
        report.add(
            "V039",
            f"a workgroup of {size[0]} x {size[1]} x {size[2]} has {size[0] * size[1] * size[2]} "
            f"invocations; the limit is {MAX_WORKGROUP_INVOCATIONS}.",
            "shrink the workgroup and dispatch more of them.",
            "workgroup_size",
        )


def _check_name(
    buffer: BufferDecl, names: dict[str, int], position: int, report: Report, *, allow_reserved: bool
) -> None:
    path = f"buffers[{position}]"
    problem = name_problem(buffer.name, allow_reserved=allow_reserved)
    if problem:
        report.add("V032", *problem, path)
    first = names.setdefault(buffer.name, position)
    if first != position:
        report.add(
            "V001",
            f"the name {buffer.name} is already taken by buffers[{first}].",
            "rename one of the two buffers.",
            path,
        )


def _check_binding(program: Program, bindings: dict[int, int], position: int, report: Report) -> None:
    path = f"buffers[{position}]"
    buffer = program.buffers[position]
    binding = buffer.binding
    if not buffer.access.bound:
        if binding is not None:
            kind = "workgroup" if buffer.access.shared else buffer.access.value.lower()
            report.add(
                "V037",
                f"the {kind} buffer {buffer.name} has a binding, but the host never sees it.",
                "drop the binding, or make the buffer ReadWrite storage.",
                path,
            )
        return
    if binding is None:
        report.add(
            "V037",
            f"the {buffer.access.value} buffer {buffer.name} has no binding, so no host can supply it.",
            "give it a binding of its own, or make it a workgroup buffer.",
            path,
        )
        return
    if not _is_u32(binding):
        report.add(
            "V042",
            f"the binding of buffer {buffer.name}, {binding!r}, is not a u32.",
            f"give a binding from 0 to {U32_MAX}.",
            path,
        )
        return
    first = bindings.setdefault(binding, position)
    if first != position:
        report.add(
            "V002",
            f"binding {binding} of buffer {buffer.name} is already taken by buffers[{first}].",
            f"use a free binding, for example {_free_binding(program)}.",
            path,
        )


def _free_binding(program: Program) -> int:
    taken = {buffer.binding for buffer in program.buffers}
    return next(n for n in range(len(taken) + 1) if n not in taken)


def _is_u32(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= U32_MAX
