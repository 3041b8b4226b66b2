"""A row of launches as a CUDA graph: the driver is called once for all of them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.driver import check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.cuda.launch import CudaLaunch
    from vyre.backends.cuda.pool import CudaOwner


class CudaGraph:
    """Kernels one after the other, each after the one before it, on the default stream."""

    def __init__(self, backend: CudaOwner, launches: Sequence[CudaLaunch]) -> None:
        self._backend = backend
        self._launches = tuple(launches)  # which keep their kernels loaded
        backend.enter()
        driver = backend.driver
        graph: Any = check(driver.cuGraphCreate(0))
        try:
            before: list[Any] = []
            for launch in launches:
                for grid, arguments in launch.parts:
                    node = _node(driver, launch, grid, arguments.address)
                    before = [check(driver.cuGraphAddKernelNode(graph, before, len(before), node))]
            self._graph: Any = check(driver.cuGraphInstantiate(graph, 0))
        finally:
            driver.cuGraphDestroy(graph)
        weakref.finalize(self, _destroy, backend, self._graph).atexit = False

    def __call__(self) -> None:
        self._backend.enter()
        check(self._backend.driver.cuGraphLaunch(self._graph, LEGACY))


def _node(driver: Any, launch: CudaLaunch, grid: tuple[int, int, int], arguments: int) -> Any:
    node = driver.CUDA_KERNEL_NODE_PARAMS()
    node.func = launch.function
    node.gridDimX, node.gridDimY, node.gridDimZ = grid
    node.blockDimX, node.blockDimY, node.blockDimZ = launch.size
    node.sharedMemBytes = 0
    node.kernelParams = arguments  # the driver copies what they point to
    node.extra = 0
    return node


def _destroy(backend: CudaOwner, graph: Any) -> None:
    """In whatever thread collects its owner. A lost device has dropped it already."""
    if backend.home.here:
        backend.driver.cuCtxSetCurrent(backend.context)
        backend.driver.cuGraphExecDestroy(graph)
