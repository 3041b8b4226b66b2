"""Work on all cores: the calling thread and its helpers, which wait between runs.

A helper is woken through a queue, which is much cheaper than a future. Where other runs have taken the
helpers, the caller works alone.
"""

from __future__ import annotations

import os
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING
from weakref import finalize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Work = Callable[[], object]


class ThreadTeam:
    """Up to `threads` threads. They start at the first run that needs them and end with the team."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._lock = Lock()
        self._idle: list[_Helper] = []
        self._started = 0
        self._process = 0
        finalize(self, _dismiss, self._idle)

    def run(self, work: Work, *, helpers: int, stop: Work) -> None:
        """Calls `work` here and in up to `helpers` more threads at once, and returns when all have.

        `work` divides the task by itself. After an error or an interrupt `stop` is called, which makes
        every `work` return soon.
        """
        taken = self._take(min(helpers, self.threads - 1))
        try:
            for helper in taken:
                helper.asked.put(work)
            work()
            errors = [helper.done.get() for helper in taken]
        except BaseException:
            stop()
            self._forget(taken)
            raise
        with self._lock:
            self._idle.extend(taken)
        for error in errors:
            if error is not None:
                raise error

    def _take(self, most: int) -> list[_Helper]:
        with self._lock:
            if self._process != os.getpid():  # threads do not survive a fork
                self._idle.clear()
                self._started, self._process = 0, os.getpid()
            while len(self._idle) < most and self._started < self.threads - 1:
                self._idle.append(_Helper())
                self._started += 1
            first = max(0, len(self._idle) - most)
            taken = self._idle[first:]
            del self._idle[first:]
            return taken

    def _forget(self, helpers: Sequence[_Helper]) -> None:
        """Ends helpers whose answers nobody waits for, so that none works on memory of a run that failed."""
        with self._lock:
            self._started -= len(helpers)
        _dismiss(helpers)
        for helper in helpers:
            helper.thread.join()


class _Helper:
    """A thread that calls what it is asked and answers with the error or None."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Work | None] = SimpleQueue()
        self.done: SimpleQueue[BaseException | None] = SimpleQueue()
        self.thread = Thread(target=_serve, args=(self.asked, self.done), name="vyre-cpu", daemon=True)
        self.thread.start()


def _serve(asked: SimpleQueue[Work | None], done: SimpleQueue[BaseException | None]) -> None:
    while (work := asked.get()) is not None:
        failure: BaseException | None = None
        try:
            work()
        except BaseException as error:  # the caller raises it
            failure = error
        del work  # it holds arrays, which are not this thread's to keep
        done.put(failure)


def _dismiss(helpers: Sequence[_Helper]) -> None:
    for helper in helpers:
        helper.asked.put(None)
