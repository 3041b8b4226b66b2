"""A thread of the team: it waits for work, does it, and can be made to leave it (`escape.py`)."""

from __future__ import annotations

from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING

from vyre.backends.cpu.escape import Escape

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[Escape | None], object]

_TURN = 0.1


class Helper:
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
