"""Where memory of a GPU comes from: a pool of the driver's, ordered by the default stream.

An allocation from a pool takes about a microsecond and waits for nothing, and what goes back is there for the
next one at once; the driver's plain allocation of a large buffer takes as long as the kernel that fills it,
and freeing it waits for the device. Up to `KEPT` bytes stay with the process between uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.cuda.arrays import LEGACY
from vyre.backends.cuda.driver import check

if TYPE_CHECKING:
    from vyre.backends.forks import Home

KEPT = 4 << 30
"""Bytes of a pool that stay with the process while nobody uses them."""


class CudaOwner(Protocol):
    """What memory needs of the backend that it belongs to."""

    driver: Any
    context: Any
    ordinal: int
    home: Home
    pool: Any

    def enter(self) -> None: ...

    def synchronize(self) -> None: ...


def open_pool(driver: Any, ordinal: int) -> Any:
    """A pool on a GPU, or None where it has none; plain allocations do as well then."""
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.id = ordinal
    wanted = driver.CUmemPoolProps()
    wanted.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    wanted.handleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    wanted.location = location
    status, *made = driver.cuMemPoolCreate(wanted)
    if int(status) != 0:
        return None
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    check(driver.cuMemPoolSetAttribute(made[0], threshold, driver.cuuint64_t(KEPT)))
    return made[0]


def take(backend: CudaOwner, nbytes: int) -> int:
    """The address of so many bytes, whatever they hold. The backend was entered."""
    driver, pool = backend.driver, backend.pool
    if pool is None:
        return int(check(driver.cuMemAlloc(nbytes)))
    found = driver.cuMemAllocFromPoolAsync(nbytes, pool, LEGACY)
    if int(found[0]) != 0:  # what the pool keeps may be in pieces that are too small
        check(driver.cuCtxSynchronize())
        check(driver.cuMemPoolTrimTo(pool, 0))
        found = driver.cuMemAllocFromPoolAsync(nbytes, pool, LEGACY)
    return int(check(found))


def give(backend: CudaOwner, address: int, *, shared: bool) -> None:
    """Gives memory back, after the work that is queued on it.

    Others may have queued work on streams of their own: memory that they share is waited for. A lost device
    has freed it already.
    """
    driver = backend.driver
    driver.cuCtxSetCurrent(backend.context)
    if backend.pool is None:
        driver.cuMemFree(address)
        return
    if shared:
        driver.cuCtxSynchronize()
    driver.cuMemFreeAsync(address, LEGACY)
