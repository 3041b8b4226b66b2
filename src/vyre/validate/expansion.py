"""How large a program becomes once its calls are expanded (V043).

Ops that call others twice double at every level, so 32 lawful levels could ask for 2^32 nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.calls import too_large
from vyre.compose.scan import CAP, scan
from vyre.ir.limits import MAX_EXPANSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vyre.ir.node import Node
    from vyre.validate.context import Ops
    from vyre.validate.gathered import Report


def expansions(callees_first: Iterable[str], ops: Ops) -> dict[str, int]:
    """Tree nodes that one call of each op expands to, saturating."""
    sizes: dict[str, int] = {}
    for op_id in callees_first:
        op = ops.get(op_id)
        if op is None:
            continue
        own = sum(node.size for node in op.body) + (op.result.size if op.result is not None else 0)
        calls = scan(op.body, op.result).calls
        inner = sum(times * sizes.get(call.op_id, 0) for call, times in calls.items())
        sizes[op_id] = min(CAP, own + inner)
    return sizes


def check_expansion(
    entry: Sequence[Node], calls: Mapping[str, str], sizes: Mapping[str, int], report: Report
) -> None:
    """Reports each op that is too large alone, or the program if its calls are too large together."""
    oversized = [op_id for op_id in calls if sizes.get(op_id, 0) > MAX_EXPANSION]
    for op_id in oversized:
        report.add(*too_large(op_id), calls[op_id])
    largest = max((sizes.get(op_id, 0) for op_id in calls), default=0)
    if oversized or largest * sum(node.size for node in entry) <= MAX_EXPANSION:
        return  # most programs are settled by this bound, without a walk that counts their calls
    found = scan(entry).calls.items()
    if sum(times * sizes.get(call.op_id, 0) for call, times in found) > MAX_EXPANSION:
        report.add(*too_large("the program"), "entry")
