"""`compact`: the elements whose flag is not zero, in their order, counted before the output is made."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import U32
from vyre.engines.order import carrier_of
from vyre.engines.plan import Engine, Plan, Shape, Space
from vyre.engines.runs import kept_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.types import DataType


@lru_cache(maxsize=64)
def compact_engine(element: DataType = U32, *, shape: Shape | None = None) -> Engine:
    """The elements of `input` whose one of `flags` is set, into `output`, which has as many."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count = lengths["input"]
        if not count:
            return Plan({"output": Space(element, 0)}, ())
        steps, scratch, kept = kept_steps(carrier_of(element), cut, count, "input", "flags", "output")
        return Plan({"output": Space(element, kept, written=True)}, tuple(steps), scratch)

    return Engine("compact", {"input": element, "flags": U32}, plan, cut)
