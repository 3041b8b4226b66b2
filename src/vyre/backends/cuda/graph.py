"""A row of launches as a CUDA graph: the driver is called once for all of them.

Each waits for the earlier ones whose memory it needs, and for no others (`order.py`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.driver import check
from vyre.backends.cuda.order import waits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.backends.cuda.launch import CudaLaunch, LaunchArguments
    from vyre.backends.cuda.pool import CudaOwner


class CudaGraph:
    """Kernels whose results are those of launching one after the other, on the default stream."""

    def __init__(self, backend: CudaOwner, launches: Sequence[CudaLaunch]) -> None:
        self._backend = backend
        self._launches = tuple(launches)  # which keep their kernels loaded
        backend.enter()
        driver = backend.driver
        graph: Any = check(driver.cuGraphCreate(0))
        try:
            added: list[list[Any]] = []
            for launch, earlier in zip(launches, waits([one.uses for one in launches]), strict=True):
                before = [node for number in earlier for node in added[number]]
                added.append(
                    [
                        check(
                            driver.cuGraphAddKernelNode(
                                graph, before, len(before), _node(driver, launch, *part)
                            )
                        )
                        for part in launch.parts
                    ]
                )
            self._graph: Any = check(driver.cuGraphInstantiate(graph, 0))
        finally:
            driver.cuGraphDestroy(graph)
        weakref.finalize(self, _destroy, backend, self._graph).atexit = False

    def __call__(self) -> None:
        self._backend.enter()
        check(self._backend.driver.cuGraphLaunch(self._graph, LEGACY))


def _node(driver: Any, launch: CudaLaunch, grid: tuple[int, int, int], arguments: LaunchArguments) -> Any:
    node = driver.CUDA_KERNEL_NODE_PARAMS()
    node.func = launch.function
    node.gridDimX, node.gridDimY, node.gridDimZ = grid
    node.blockDimX, node.blockDimY, node.blockDimZ = launch.size
    node.sharedMemBytes = 0
    node.kernelParams = arguments.address  # the driver copies what they point to
    node.extra = 0
    return node


def _destroy(backend: CudaOwner, graph: Any) -> None:
    """In whatever thread collects its owner. A lost device has dropped it already."""
    if backend.home.here:
        backend.driver.cuCtxSetCurrent(backend.context)
        backend.driver.cuGraphExecDestroy(graph)
