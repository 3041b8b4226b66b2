"""The class that vyre finds, and what it gives for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import BackendInfo, BufferAccess
from vyre.cli.template import lanes
from vyre.cli.template.emitter import emit
from vyre.lower.prepare import prepare
from vyre.lower.support import check_supported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre import Program
    from vyre.lower.prepare import Prepared

LANES_AT_ONCE = 1 << 15
"""More invocations than these take turns by workgroups: arrays that fit into the cache are faster."""


class MineBackend:
    name = "mine"

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="0.1", device="NumPy", toolchain=np.__version__)

    def compile(self, program: Program) -> LaneExecutable:
        prepared = prepare(program)
        check_supported(prepared, self.name)
        return LaneExecutable(prepared, emit(prepared, self.name))


class LaneExecutable:
    """A compiled program. Reports show its `source` beside a failure."""

    def __init__(self, program: Prepared, source: str) -> None:
        self.source = source
        self._program = program
        names: dict[str, Any] = {"np": np, **vars(lanes)}
        exec(compile(source, "a program of mine", "exec"), names)
        self._call = names["program"]

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        size = np.array(self._program.workgroup_size, np.uint32).reshape(3, 1)
        in_group = int(size.prod())
        total = workgroups[0] * workgroups[1] * workgroups[2]
        at_once = max(1, LANES_AT_ONCE // in_group)
        local = _places(np.arange(in_group), self._program.workgroup_size)
        for first in range(0, total, at_once):
            count = min(at_once, total - first)
            group = _places(np.arange(first, first + count), workgroups).repeat(in_group, axis=1)
            inside = np.tile(local, count)
            memories: list[lanes.LaneMemory] = []
            for decl in self._program.buffers:
                if decl.access.bound or decl.access is BufferAccess.Constant:
                    data = buffers[decl.name] if decl.access.bound else decl.data
                    memories.append(lanes.bound(decl, data))
                else:
                    memories.append(lanes.own(decl, count, in_group))
            everybody = np.ones(count * in_group, np.bool_)
            self._call(everybody, group * size + inside, group, inside, *memories)


def _places(numbers: Any, shape: tuple[int, int, int]) -> Any:
    """Three rows, x first, for places that are numbered with x fastest."""
    x, y, _ = shape
    return np.stack([numbers % x, numbers // x % y, numbers // (x * y)]).astype(np.uint32)
