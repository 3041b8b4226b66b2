"""Where memory of a GPU comes from: a shelf of what was given back, in front of a pool of the driver's.

All our work is on the default stream, which orders what used a block before and what uses it next: a block
from the shelf needs no call of the driver at all. The pool behind it takes a microsecond or two and waits for
nothing; the driver's plain allocation of a large buffer takes as long as the kernel that fills it, and
freeing it waits for the device. Up to `KEPT` bytes stay with the process between uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.cuda.driver import check

if TYPE_CHECKING:
    from vyre.backends.forks import Home

KEPT = 4 << 30
"""Bytes that stay with the process while nobody uses them: half on the shelf, half in the pool behind it."""

MIN_BYTES = 16
"""The least that is allocated for a buffer, whose length may be 0."""

_SMALL = 1 << 20
_FINE = (1 << 9) - 1
_COARSE = (1 << 21) - 1


class CudaOwner(Protocol):
    """What memory needs of the backend that it belongs to."""

    driver: Any
    context: Any
    ordinal: int
    home: Home
    pool: CudaPool | None
    stream: Any

    def enter(self) -> None: ...

    def synchronize(self) -> None: ...


class CudaPool:
    """Memory of one GPU. Blocks have a size of a few, so that one suits more than the buffer it was made for.

    Threads take and give without a lock, and so does the collector of garbage in the middle of either: one
    step of the interpreter moves a block. Only `kept` may be a little wrong, until the shelf is cleared.
    """

    __slots__ = ("_context", "_driver", "_handle", "_kept", "_rows", "_stream")

    def __init__(self, driver: Any, handle: Any, context: Any, stream: Any) -> None:
        self._driver = driver
        self._handle = handle
        self._context = context
        self._stream = stream
        self._rows: dict[int, list[int]] = {}
        self._kept = 0

    def take(self, owner: CudaOwner, nbytes: int) -> int:
        """The address of so many bytes, whatever they hold."""
        size = block_size(nbytes)
        try:
            address = self._rows[size].pop()
        except (KeyError, IndexError):
            return self._made(owner, size)
        self._kept -= size
        return address

    def give(self, address: int, nbytes: int) -> None:
        """Takes memory back that nobody uses but work that is queued on the default stream."""
        size = block_size(nbytes)
        self._kept += size
        self._rows.setdefault(size, []).append(address)
        if self._kept > KEPT // 2:
            self.clear()

    def clear(self) -> None:
        """Gives the shelf back to the driver's pool, behind the work that is queued."""
        rows, self._rows, self._kept = self._rows, {}, 0
        self._driver.cuCtxSetCurrent(self._context)
        for row in rows.values():
            while row:
                self._driver.cuMemFreeAsync(row.pop(), self._stream)  # a lost device has freed it already

    def _made(self, owner: CudaOwner, size: int) -> int:
        owner.enter()
        driver = self._driver
        found = driver.cuMemAllocFromPoolAsync(size, self._handle, self._stream)
        if int(found[0]) != 0:  # what is kept may be in pieces that are too small
            self.clear()
            check(driver.cuCtxSynchronize())
            check(driver.cuMemPoolTrimTo(self._handle, 0))
            found = driver.cuMemAllocFromPoolAsync(size, self._handle, self._stream)
        return int(check(found))


def block_size(nbytes: int) -> int:
    """Of the block that a buffer gets; it is never empty."""
    unit = _FINE if nbytes <= _SMALL else _COARSE
    return (nbytes + unit) & ~unit or _FINE + 1


def open_pool(driver: Any, ordinal: int, context: Any, stream: Any) -> CudaPool | None:
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
    check(driver.cuMemPoolSetAttribute(made[0], threshold, driver.cuuint64_t(KEPT // 2)))
    return CudaPool(driver, made[0], context, stream)


def take(owner: CudaOwner, nbytes: int) -> int:
    """The address of so many bytes, whatever they hold."""
    if owner.pool is not None:
        owner.home.require()
        return owner.pool.take(owner, nbytes)
    owner.enter()
    return int(check(owner.driver.cuMemAlloc(max(MIN_BYTES, nbytes))))


def give(owner: CudaOwner, address: int, nbytes: int, *, shared: bool) -> None:
    """Gives memory back, in whatever thread.

    Others may have queued work on streams of their own: memory that they share is waited for.
    """
    driver = owner.driver
    if shared or owner.pool is None:
        driver.cuCtxSetCurrent(owner.context)
    if owner.pool is None:
        driver.cuMemFree(address)
        return
    if shared:
        driver.cuCtxSynchronize()
    owner.pool.give(address, nbytes)
