"""Shared memory: a view is found by what it keeps alive, in every disguise, and by nothing else."""

from __future__ import annotations

import errno
import gc
import mmap
import os
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.conform.process.segments import Place, Segments

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

DISGUISES: dict[str, Callable[[memoryview], memoryview]] = {
    "the view": lambda view: view,
    "a part": lambda view: view[64:128],
    "read only": lambda view: view[64:].toreadonly(),
    "cast": lambda view: view[64:].cast("I"),
    "an array": lambda view: np.frombuffer(view, np.uint32)[16:32].data,
    "an array of an array": lambda view: (
        np.frombuffer(view, np.uint32)[16:].view(np.uint8)[4:8].data.cast("B")
    ),
    "a row": lambda view: np.frombuffer(view, np.uint32).reshape(-1, 16)[1:].data.cast("B"),
}


@pytest.fixture
def segments() -> Generator[Segments]:
    with closing(Segments()) as made:
        yield made


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_view_is_found_at_its_offset(disguise: str, segments: Segments) -> None:
    segments.new(4096)
    number, view = segments.new(4096)
    segments.new(4096)
    shown = DISGUISES[disguise](view)
    found = segments.find(shown)
    assert found is not None
    assert found[0] == number
    assert view[found[1] : found[1] + shown.nbytes] == shown.cast("B")
    view[found[1]] = 77
    assert shown.cast("B")[0] == 77
    places, copies = segments.placed({"x": shown})
    assert [(p.segment, p.offset, p.nbytes) for p in places] == [(*found, shown.nbytes)]
    assert copies == []


def test_memory_of_others_is_copied(segments: Segments) -> None:
    segments.new(4096)
    strange = [memoryview(bytearray(64)), np.zeros(16, np.uint32).data, memoryview(mmap.mmap(-1, 4096))]
    with closing(Segments()) as others:
        strange += [others.new(4096)[1], memoryview(b"")]
        for view in strange:
            assert segments.find(view) is None
        _, copies = segments.placed({str(k): view for k, view in enumerate(strange)})
        assert len(copies) == len(strange)


def test_what_was_closed_is_not_found() -> None:
    segments = Segments()
    _, view = segments.new(4096)
    segments.close()
    assert segments.find(view) is None


def test_segments_are_collected_once_when_their_last_view_is_gone(segments: Segments) -> None:
    number, view = segments.new(4096)
    part = np.frombuffer(view, np.uint32)[3:]
    del view
    assert segments.collect() == []
    del part
    gc.collect()
    assert [gone.number for gone in segments.collect()] == [number]
    assert segments.collect() == []


def test_an_address_that_is_used_again_is_not_mistaken_for_the_segment_before(segments: Segments) -> None:
    """Two threads that allocate, look up and drop; of their addresses many were another's a moment ago.

    The memory of a segment is unmapped, and may be mapped anew, before its finaliser is told.
    """
    lock = threading.RLock()
    wrong: list[tuple[int, tuple[int, int] | None]] = []
    again = [0]
    seen: set[int] = set()

    def work() -> None:
        for _ in range(10_000):
            with lock:
                number, view = segments.new(1 << 18)
            with lock:
                segments.collect()
                found = segments.find(view)
                if found != (number, 0):
                    wrong.append((number, found))
                address = np.frombuffer(view, np.uint8).ctypes.data
                again[0] += address in seen
                seen.add(address)
            del view

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert again[0] > 1000, "addresses were used again"


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="the system has no memory without a file system")
def test_segments_need_no_room_in_a_file_system(segments: Segments) -> None:
    """A container's /dev/shm is often smaller than what is shared, and a page without room ends a process."""
    number, _ = segments.new(4096)
    (segment,) = segments.of([Place("x", number, 0, 4096, writable=True)])
    assert os.readlink(f"/proc/self/fd/{segment.file.fileno()}").startswith("/memfd:")


def test_elsewhere_a_file_has_its_room_before_it_is_touched(
    segments: Segments, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def refuse(_name: str) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    def allocate(file: int, offset: int, size: int) -> None:
        asked.append(size)
        if size > 8192:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "memfd_create", refuse, raising=False)
    monkeypatch.setattr(os, "posix_fallocate", allocate, raising=False)
    _, view = segments.new(8192)
    view[8191] = 1
    with pytest.raises(OSError, match="No space left"):
        segments.new(1 << 20)
    assert asked == [8192, 1 << 20]
