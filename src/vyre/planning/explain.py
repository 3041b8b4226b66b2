"""What a plan does, as a table: kernels, bytes, memory, and why values were not fused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.graph.graph import Graph
    from vyre.planning.bound import BoundPlan
    from vyre.planning.kernels.build import PlannedKernel


def explained(
    graph: Graph, kernels: Sequence[PlannedKernel], why: Mapping[str, str], bound: BoundPlan
) -> str:
    """The table for certain lengths; a value that a kernel reads counts once."""
    sizes = bound.sizes
    given = ", ".join(f"{name} = {length}" for name, length in sizes.items())
    rows = [("kernel", "computes", "type", "groups", "reads", "bytes", "program")]

    def nbytes(name: str) -> int:
        of = graph.types[name]
        return of.count.value(sizes) * of.element.stride

    programs: dict[int, int] = {}
    for number, kernel in enumerate(kernels):
        variant = kernel.variant(sizes, bound.hardware)
        reads = [value for _, value in variant.drafted.reads]
        moved = sum(map(nbytes, reads)) + nbytes(kernel.root)
        program = programs.setdefault(hash(variant.drafted.program), len(programs))
        label = f"{kernel.kind}, {variant.label}" if variant.label else kernel.kind
        rows.append(
            (
                str(number),
                f"{kernel.root}: {label}",
                str(graph.types[kernel.root]),
                str(variant.groups(sizes)),
                ", ".join(reads) or "nothing",
                str(moved),
                f"p{program}",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    slots = bound.slots
    ratio = f", {slots.peak / slots.bound:.2f} times that" if slots.bound else ""
    head = f"{counted(len(kernels), 'kernel')}, {counted(len(programs), 'program')}" + (
        f" for {given}" if given else ""
    )
    memory = (
        f"memory between kernels: {slots.peak} bytes in {counted(len(slots.sizes), 'slot')}; "
        f"at most {slots.bound} live{ratio}"
    )
    reasons = [f"  {name}: {reason}" for name, reason in why.items()]
    stored = ["not fused:", *reasons] if reasons else ["not fused: nothing"]
    return "\n".join([head, *lines, memory, *stored]) + "\n"
