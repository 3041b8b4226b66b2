"""Work on all cores: the calling thread and its helpers, which wait between runs.

A helper is woken through a queue, which is much cheaper than a future. Where other runs have taken the
helpers, the caller works alone.

A signal reaches Python only in the main thread, and only when that is not busy in a kernel. So work of the
main thread that may take long is done by helpers alone, and the main thread waits: an interrupt ends the wait
at once, and the helpers are made to leave their kernels (`cpu_escape`) before the caller goes on.
"""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING
from weakref import finalize

from vyre.backends.cpu.escape import Escape
from vyre.backends.forks import renew_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Work = Callable[[Escape | None], object]


_TURN = 0.1


class ThreadTeam:
    """Up to `threads` threads. They start at the first run that needs them and end with the team."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._lock = Lock()
        self._idle: list[_Helper] = []
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
        taken: list[_Helper] = []
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

    def _take(self, most: int, taken: list[_Helper], *, away: bool) -> None:
        """Moves idle helpers to `taken`; the main thread gets one in its place, whatever is going on."""
        most += away
        with self._lock:
            while len(self._idle) < most and (
                self._started < self.threads - 1 + away or (away and not self._idle)
            ):
                self._idle.append(_Helper())
                self._started += 1
            first = max(0, len(self._idle) - most)
            taken += self._idle[first:]
            del self._idle[first:]

    def _forget(self, helpers: Sequence[_Helper]) -> None:
        """Ends helpers whose answers nobody waits for, so that none works on memory of a run that failed."""
        with self._lock:
            helpers = [helper for helper in helpers if helper not in self._idle]
            self._started -= len(helpers)
        _dismiss(helpers)
        for helper in helpers:
            while helper.thread.is_alive():
                with suppress(BaseException):  # of a second interrupt; the first is being raised already
                    helper.end()


class _Helper:
    """A thread that calls what it is asked and answers with the error or None."""

    def __init__(self) -> None:
        self.asked: SimpleQueue[Work | None] = SimpleQueue()
        self.done: SimpleQueue[BaseException | None] = SimpleQueue()
        self._escape: list[Escape] = []
        self._ready = Event()
        arguments = (self.asked, self.done, self._escape, self._ready)
        self.thread = Thread(target=_serve, args=arguments, name="vyre-cpu", daemon=True)
        try:
            self.thread.start()
        except BaseException as error:  # an interrupt: the thread may run, and nobody will know it
            self.asked.put(None)
            cause = error.__context__
            if isinstance(error, RuntimeError) and isinstance(cause, KeyboardInterrupt):
                raise cause from None  # Python's own wait for the thread stumbled over its lock
            raise

    def answer(self) -> BaseException | None:
        """Waits in turns: a signal that comes just before a wait begins is seen only when it ends."""
        while True:
            with suppress(Empty):
                return self.done.get(timeout=_TURN)

    def end(self) -> None:
        """Returns when the thread, which was dismissed, has ended, out of whatever kernel."""
        self._ready.wait()
        for escape in self._escape:
            escape.leave(self.thread)
        self.thread.join()


def _serve(
    asked: SimpleQueue[Work | None],
    done: SimpleQueue[BaseException | None],
    place: list[Escape],
    ready: Event,
) -> None:
    broken: BaseException | None = None
    try:
        place.append(Escape())
    except BaseException as error:  # whoever asks is told, and never waits for an answer in vain
        broken = error
    finally:
        ready.set()
    while (work := asked.get()) is not None:
        failure = broken
        try:
            if broken is None:
                work(place[0])
        except BaseException as error:  # the caller raises it
            failure = error
        del work  # it holds arrays, which are not this thread's to keep
        done.put(failure)


def _dismiss(helpers: Sequence[_Helper]) -> None:
    for helper in helpers:
        helper.asked.put(None)
