"""Where collective ops may stand: workgroups of whole subgroups (V044), uniform control flow (V045)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from vyre.validate.uniformity import divergences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op
    from vyre.validate.context import Ops
    from vyre.validate.gathered import Report


def check_subgroups(
    size: tuple[int, int, int],
    collectives: Mapping[str, frozenset[int]],
    calls: Mapping[str, str],
    report: Report,
) -> None:
    """`calls` has the path of each op's first call, `collectives` the widths of those that have any."""
    count = prod(size)
    for op_id, widths in collectives.items():
        broken = next((width for width in sorted(widths) if count % width), None)
        if broken is not None:
            report.add(
                "V044",
                f"{op_id} works on subgroups of {broken}, and a workgroup of {count} is not made of them.",
                f"make the number of invocations in a workgroup a multiple of {broken}.",
                calls[op_id],
            )


def check_op_uniformity(op: Op, calls: Mapping[str, str], ops: Ops, report: Report) -> None:
    """Inside an op nothing is known of its arguments, so no collective may depend on them."""
    collectives = ops.collectives.among(calls)
    if not collectives or any(d.code == "V018" for d in report.diagnostics):
        return
    params = [param.name for param in op.params]
    root = f"ops[{op.id}].body"
    for found in divergences(op.body, {}, collectives=collectives, params=params, root=root):
        report.add(found.code, found.message, found.fix, found.path)
