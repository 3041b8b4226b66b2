"""Memory shared with another process, in segments that live as long as somebody holds a view of them.

    segments = Segments()
    number, view = segments.new(1 << 20)
    segments.find(view[64:128])           # (number, 64)
    for gone in segments.collect(): …     # those whose views are all gone, to be given back over there

A view belongs to the segment whose memory it keeps alive, never to the one that had its address: addresses
are used again before anybody hears that a segment is gone. Buffers that are not in a segment are copied into
one, the scratch, and back.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ALIGN = 64
_SCRATCH = 1 << 20
_LARGEST_SCRATCH = 1 << 24
"""Memory for copies is kept from run to run up to this size."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Shared memory as it is known here; it lives as long as its views, which hold it and not this."""

    number: int
    file: Any
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer lies: so many bytes of a segment from an offset on."""

    buffer: str
    segment: int
    offset: int
    nbytes: int
    writable: bool


class _Memory(mmap.mmap):
    """The memory of a segment, which knows which one it is."""

    segment: Segment


class Segments:
    """All segments of one owner; numbers are never used twice."""

    def __init__(self) -> None:
        self._held: dict[int, Segment] = {}
        self._unused: deque[Segment] = deque()
        self._numbered = 0
        self._scratch: tuple[int, memoryview] | None = None

    def new(self, nbytes: int) -> tuple[int, memoryview]:
        """A segment of zeros, at least so large, by its number and as a view of all of it."""
        size = max(nbytes, mmap.PAGESIZE)
        file = _file(size)
        memory = _Memory(file.fileno(), size)
        address = int(np.frombuffer(memory, np.uint8).ctypes.data)
        self._numbered += 1  # the other side may still hold what was dropped here
        memory.segment = segment = Segment(self._numbered, file, address, size)
        self._held[self._numbered] = segment
        finalize(memory, self._unused.append, segment).atexit = False
        return self._numbered, memoryview(memory)

    def collect(self) -> list[Segment]:
        """The segments that nobody holds any more, each once."""
        gone: list[Segment] = []
        while self._unused:
            segment = self._unused.popleft()
            if self._held.pop(segment.number, None) is not None:
                segment.file.close()
            gone.append(segment)
        return gone

    def find(self, view: memoryview) -> tuple[int, int] | None:
        """Segment and offset of a view, also through arrays; None where it is not in one of these."""
        memory = _memory_of(view)
        if not view.nbytes or memory is None or self._held.get(memory.segment.number) is not memory.segment:
            return None
        address = int(np.frombuffer(view, np.uint8).ctypes.data)
        return memory.segment.number, address - memory.segment.address

    def of(self, places: Iterable[Place]) -> list[Segment]:
        """The segments of some places."""
        return [self._held[number] for number in sorted({p.segment for p in places})]

    def placed(
        self, buffers: Mapping[str, memoryview]
    ) -> tuple[list[Place], list[tuple[memoryview, memoryview]]]:
        """A place for each buffer, and those that had to be copied, with their copies."""
        places: list[Place] = []
        loose: list[tuple[str, memoryview]] = []
        for name, view in buffers.items():
            found = self.find(view)
            if found is None:
                loose.append((name, view))
            else:
                places.append(Place(name, *found, view.nbytes, not view.readonly))
        total = sum(_aligned(view) for _, view in loose)
        if self._scratch is None or self._scratch[1].nbytes < total:
            self._scratch = None  # before there is another
            self._scratch = self.new(max(2 * total, _SCRATCH))
        number, whole = self._scratch
        at = 0
        copies: list[tuple[memoryview, memoryview]] = []
        for name, view in loose:
            copy = whole[at : at + view.nbytes]
            copy[:] = view.cast("B") if view.nbytes else b""
            places.append(Place(name, number, at, view.nbytes, not view.readonly))
            copies.append((view, copy))
            at += _aligned(view)
        return places, copies

    def trim(self) -> None:
        """Lets go of a scratch that is too large to keep."""
        if self._scratch is not None and self._scratch[1].nbytes > _LARGEST_SCRATCH:
            self._scratch = None

    def close(self) -> None:
        self._scratch = None
        for segment in self._held.values():
            segment.file.close()
        self._held.clear()


def _file(size: int) -> Any:
    """What two processes map: memory without a file system, which may be small, as `/dev/shm` often is. Where
    the system has none, a file that has its room at once: a page without room would end the process."""
    try:
        file: Any = os.fdopen(os.memfd_create("vyre"), "r+b", buffering=0)
        allocate = None
    except (AttributeError, OSError):
        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as the segment
        allocate = getattr(os, "posix_fallocate", None)
    try:
        if allocate is not None:
            allocate(file.fileno(), 0, size)
        file.truncate(size)
    except OSError:
        file.close()
        raise
    return file


def _memory_of(view: memoryview) -> _Memory | None:
    """What a view keeps alive in the end, through other views and arrays."""
    owner: Any = view
    while not isinstance(owner, _Memory):
        match owner:
            case memoryview():
                owner = owner.obj
            case np.ndarray():
                owner = owner.base
            case _:
                return None
    return owner


def _aligned(view: memoryview) -> int:
    return -(-view.nbytes // _ALIGN) * _ALIGN
