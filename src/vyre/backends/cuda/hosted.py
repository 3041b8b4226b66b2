"""Calls on arrays of NumPy: up to the GPU, one launch, and what was written back down."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from vyre.backends.cuda.driver import check
from vyre.backends.cuda.memory import reserve
from vyre.backends.host_plan import HostPlan, PreparedLaunch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.cuda.memory import CudaMemory
    from vyre.backends.cuda.pool import CudaOwner
    from vyre.backends.host_plan import Prepare
    from vyre.ir.grid import Grid
    from vyre.ir.outline import Outline


class HostedPlan(HostPlan):
    """What `HostPlan` settles for the processor, for a launch in other memory than that of the arrays."""

    __slots__ = ("_backend", "_there")

    def __init__(self, program: Outline, backend: CudaOwner, prepare: Prepare) -> None:
        super().__init__(program, self._prepared)
        self._backend = backend
        self._there = prepare

    def _prepared(self, lengths: tuple[int, ...], workgroups: int | Grid | None) -> PreparedLaunch:
        launch = self._there(lengths, workgroups)
        sizes = [n * wanted.stride for n, wanted in zip(lengths, self.wanted, strict=True)]
        return PreparedLaunch(partial(self._through, launch.run, sizes), launch.uncovered)

    def _through(
        self, run: Callable[[Sequence[int]], None], sizes: Sequence[int], places: Sequence[int]
    ) -> None:
        backend = self._backend
        driver = backend.driver
        memories: list[CudaMemory] = []
        try:
            for place, size in zip(places, sizes, strict=True):
                memories.append(reserve(backend, size))
                if size:
                    check(driver.cuMemcpyHtoD(memories[-1].address, place, size))
            run([memory.address for memory in memories])
            for k, _ in self.written:
                if sizes[k]:  # a copy waits for the launch, and fails where that did
                    check(driver.cuMemcpyDtoH(places[k], memories[k].address, sizes[k]))
        finally:
            for memory in memories:
                memory.free()
