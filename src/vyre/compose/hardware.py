"""What a Category C op declares: the instruction it is, who has it, and how many invocations it takes.

    hardware               the instruction, such as `subgroup32.shuffle`; the key of every table about it
    backend_availability   which backends can have it, as data and as a predicate
    lanes                  how many invocations execute it together, consecutive in linear local index

An op of more than one lane is a collective: all its lanes must arrive, so it stands in uniform control flow
(V045) in workgroups that are made of whole subgroups (V044). An op whose body calls a collective is one too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.registry import Registry, default_registry
from vyre.compose.scan import scan
from vyre.ir.expr import Call
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from vyre.ir.node import Node
    from vyre.ir.op import Op

NOTHING: frozenset[int] = frozenset()


def instructions(entry: Iterable[Node], registry: Registry | None = None) -> dict[str, Op]:
    """The ops that statements without any other calls call: what inlining has left, by id."""
    called = {x.op_id: None for x in expressions(entry) if isinstance(x, Call)}
    if called and registry is None:
        registry = default_registry()
    return {op_id: registry[op_id] for op_id in called} if registry is not None else {}


class Collectives:
    """The lanes that ops need, found through the calls in their bodies; each op is looked at once."""

    def __init__(self, look_up: Callable[[str], Op | None]) -> None:
        self._look_up = look_up
        self._lanes: dict[str, frozenset[int]] = {}

    def lanes(self, op_id: str) -> frozenset[int]:
        """The widths of all collectives that a call of this op executes; empty for most ops."""
        if op_id not in self._lanes:
            self._follow(op_id)
        return self._lanes[op_id]

    def among(self, op_ids: Iterable[str]) -> dict[str, frozenset[int]]:
        """Those of the ops that are collectives, with their widths."""
        return {op_id: lanes for op_id in op_ids if (lanes := self.lanes(op_id))}

    def _follow(self, root: str) -> None:
        """Depth first without recursion. Ops in a circle (V017) end up with what was found on the way."""
        open_ops: dict[str, Iterator[Call]] = {}
        self._enter(root, open_ops)
        while open_ops:
            op_id, calls = next(reversed(open_ops.items()))
            call = next(calls, None)
            if call is None:
                del open_ops[op_id]
                if open_ops:
                    outer = next(reversed(open_ops))
                    self._lanes[outer] |= self._lanes[op_id]
            elif call.op_id in self._lanes:
                self._lanes[op_id] |= self._lanes[call.op_id]
            else:
                self._enter(call.op_id, open_ops)

    def _enter(self, op_id: str, open_ops: dict[str, Iterator[Call]]) -> None:
        op = self._look_up(op_id)
        own = op is not None and op.lanes > 1
        self._lanes[op_id] = frozenset({op.lanes}) if op is not None and own else NOTHING
        if op is not None and op.result is not None:
            open_ops[op_id] = iter(scan(op.body, op.result).calls)
        elif open_ops:
            outer = next(reversed(open_ops))
            self._lanes[outer] |= self._lanes[op_id]
