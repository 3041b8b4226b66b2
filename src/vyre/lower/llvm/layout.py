"""The memory of a kernel: what the host binds, and the scratch that each thread needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Atomic
from vyre.ir.types import DataType
from vyre.ir.walk import expressions
from vyre.lower.clike import lanes_of
from vyre.lower.llvm.regions import Run
from vyre.lower.source import bound_buffers
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.ir.buffers import BufferDecl
    from vyre.lower.llvm.regions import RegionPlan
    from vyre.lower.prepare import Prepared

_ALIGN = 64


def registers(prepared: Prepared, t: DataType) -> tuple[str, ...]:
    """The LLVM types that carry a value: a double, or one i32 for each lane."""
    if prepared.doubles and t is DataType.F64:
        return ("double",)
    return ("i32",) * lanes_of(t)


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """`parameters` are the types and names of what the inner functions take; `scratch` the offset in
    the thread's scratch memory of each that lies there."""

    bound: tuple[BufferDecl, ...]
    parameters: tuple[tuple[str, str], ...]
    scratch: dict[str, int]
    scratch_bytes: int
    invocations: int


def own_bytes(decl: BufferDecl) -> int:
    """Bytes of one invocation's copy of a private buffer; the next one is aligned as it is."""
    return -(-decl.count * decl.element.stride // 4) * 4


def lay_out(prepared: Prepared, plan: RegionPlan) -> MemoryLayout:
    x, y, z = prepared.workgroup_size
    bound = bound_buffers(prepared)
    # Several threads change such a buffer at once, so its address is not private to a call.
    atomic = {x.buffer for x in expressions(prepared.entry) if isinstance(x, Atomic)}
    parameters: list[tuple[str, str]] = []
    for decl in bound:
        kind = "ptr" if decl.name in atomic else "ptr noalias"
        parameters.append((kind if decl.access.writable else "ptr noalias readonly", f"b_{decl.name}"))
    parameters += [("i32", f"len_{decl.name}") for decl in bound if decl.count == 0]
    sizes = {f"b_{b.name}": b.count * b.element.stride for b in prepared.buffers if b.access.shared}
    if len(plan.items) > 1 or not all(isinstance(item, Run) for item in plan.items):
        # What is an invocation's own has to last from one region to the next.
        own = (
            b for b in prepared.buffers if b.access is BufferAccess.Private and b.name not in prepared.stacks
        )
        sizes |= {f"b_{b.name}": own_bytes(b) * x * y * z for b in own}
    for variable in plan.crossing:
        for lane, kind in enumerate(registers(prepared, prepared.variables[variable])):
            sizes[f"c_{variable}.{lane}"] = (8 if kind == "double" else 4) * x * y * z
    if plan.mortal:
        sizes["c_returned"] = 4 * x * y * z
    scratch: dict[str, int] = {}
    total = 0
    for name, size in sizes.items():
        scratch[name] = total
        total += -(-size // _ALIGN) * _ALIGN
    parameters += [("ptr noalias", name) for name in scratch]
    parameters += [("i64", "first"), ("i64", "last"), ("i32", "workgroup_y"), ("i32", "workgroup_z")]
    return MemoryLayout(bound, tuple(parameters), scratch, total, x * y * z)
