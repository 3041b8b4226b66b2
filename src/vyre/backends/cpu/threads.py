"""Work on all cores: the calling thread and its helpers, which wait between runs.

A helper is woken through a queue, which is much cheaper than a future. Where other runs have taken the
helpers, the caller works alone.

A signal reaches Python only in the main thread, and only when that is not busy in a kernel. So work of the
main thread that may take long is done by helpers alone, and the main thread waits: an interrupt ends the wait
at once, and the helpers are made to leave their kernels (`cpu_escape`) before the caller goes on.
"""

from __future__ import annotations

from contextlib import suppress
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING
from weakref import finalize

from vyre.backends.forks import LOADING, renew_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.backends.cpu.helper import Helper, Work


class ThreadTeam:
    """Up to `threads` threads. They start at the first run that needs them and end with the team."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._lock = Lock()
        self._idle: list[Helper] = []
        self._started = 0
        finalize(self, _dismiss, self._idle)
        renew_after_fork(self)

    def renew(self) -> None:
        """In the child of a fork, which has none of these threads and perhaps a lock that nobody opens."""
        self._lock = Lock()
        self._idle.clear()
        self._started = 0

    def run(self, work: Work, *, helpers: int, long: bool, stop: Callable[[], object]) -> None:
        """Calls `work` in this thread and in up to `helpers` more at once, and returns when all have.

        `work` divides the task by itself. With `long` the main thread leaves all of it to helpers. After an
        error or an interrupt `stop` is called, which makes every `work` return soon, and nobody works any
        more when this returns.
        """
        away = long and current_thread() is main_thread()
        taken: list[Helper] = []
        try:
            self._take(min(helpers, self.threads - 1), taken, away=away)
            for helper in taken:
                helper.asked.put(work)
            if not away:
                work(None)
            errors = [helper.answer() for helper in taken]
            with self._lock:
                self._idle.extend(taken)
        except BaseException:
            stop()
            self._forget(taken)
            raise
        for error in errors:
            if error is not None:
                raise error

    def _take(self, most: int, taken: list[Helper], *, away: bool) -> None:
        """Moves idle helpers to `taken`; the main thread gets one in its place, whatever is going on."""
        most += away
        with self._lock:
            while len(self._idle) < most and (
                self._started < self.threads - 1 + away or (away and not self._idle)
            ):
                with LOADING:
                    from vyre.backends.cpu.helper import Helper  # a small call needs none

                self._idle.append(Helper())
                self._started += 1
            first = max(0, len(self._idle) - most)
            taken += self._idle[first:]
            del self._idle[first:]

    def _forget(self, helpers: Sequence[Helper]) -> None:
        """Ends helpers whose answers nobody waits for, so that none works on memory of a run that failed."""
        with self._lock:
            helpers = [helper for helper in helpers if helper not in self._idle]
            self._started -= len(helpers)
        _dismiss(helpers)
        for helper in helpers:
            while helper.thread.is_alive():
                with suppress(BaseException):  # of a second interrupt; the first is being raised already
                    helper.end()


def _dismiss(helpers: Sequence[Helper]) -> None:
    for helper in helpers:
        helper.asked.put(None)
