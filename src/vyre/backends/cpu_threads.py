"""Work over all cores: chunks of a range, taken by whoever is free, the calling thread among them."""

from __future__ import annotations

import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNKS_PER_THREAD = 4
"""Enough to even out chunks of unequal cost; few enough that taking one costs nothing."""


class ThreadTeam:
    """Runs `work(first, last)` over a range. Threads start at the first run that needs them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def run(self, count: int, make_work: Callable[[], Callable[[int, int], None]]) -> None:
        """Covers `0..count`; each thread that takes part makes its own `work` once."""
        chunks = min(count, self.threads * _CHUNKS_PER_THREAD)
        size = -(-count // chunks)
        starts = itertools.count(0, size)

        def take_chunks() -> None:
            work: Callable[[int, int], None] | None = None
            for first in starts:
                if first >= count:
                    return
                work = work or make_work()
                work(first, min(first + size, count))

        helpers = [self._started().submit(take_chunks) for _ in range(min(self.threads, chunks) - 1)]
        try:
            take_chunks()
        finally:
            for helper in helpers:
                # A helper that never started has nothing left to do.
                if not helper.cancel():
                    helper.result()

    def _started(self) -> ThreadPoolExecutor:
        with self._lock:
            # Threads do not survive a fork, their pool object does.
            if self._pool is None or self._process != os.getpid():
                self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="vyre-cpu")
                self._process = os.getpid()
            return self._pool
