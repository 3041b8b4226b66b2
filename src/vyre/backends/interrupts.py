"""Ctrl-C around the calls of a native library, which must not be left half done.

    aside(work)       does the work in a thread of its own; an interrupt ends the waiting, never the work
    meanwhile(work)   a block whose first wait for such a thread is spent on other work
    undisturbed()     a block short enough to be finished first; an interrupt comes right behind it

Python raises `KeyboardInterrupt` between two steps of the main thread, wherever that stands. In the middle of
freeing an object of LLVM it would free that twice; in a function that Dawn calls back it would be lost.
"""

from __future__ import annotations

import signal
import threading
from _thread import start_new_thread
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

_T = TypeVar("_T")
_TURN = 0.1
"""Seconds between looks at signals, which may have reached another thread."""
_GRACE = 0.5
"""Most work is done by then, so that interrupts in a row do not leave threads behind."""


class _Spare(threading.local):
    """What each thread has to do when it waits."""

    work: Callable[[], object] | None = None


_spare = _Spare()


@contextmanager
def meanwhile(work: Callable[[], object]) -> Generator[None]:
    """Does the work while `aside` waits, once at most. An error is lost: who needs the work does it again."""
    before, _spare.work = _spare.work, work
    try:
        yield
    finally:
        _spare.work = before


def aside(work: Callable[[], _T]) -> _T:
    """The result of the work, or what it raised. Only the main thread is ever interrupted."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[_T] = []
    errors: list[BaseException] = []
    # A lock alone: an interrupt inside of an Event, which `Thread.start` waits for too, can come out as a
    # RuntimeError, and `join` takes one for the end of the thread.
    busy = threading.Lock()
    busy.acquire()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # the caller's to handle, in the caller's thread
            errors.append(error)
        busy.release()

    try:
        start_new_thread(run, ())
        spare, _spare.work = _spare.work, None
        if spare is not None:
            with suppress(Exception):
                spare()
        while not busy.acquire(timeout=_TURN):
            pass
    except BaseException:
        busy.acquire(timeout=_GRACE)
        raise
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def undisturbed() -> Generator[None]:
    """Puts an interrupt off until the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    missed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: missed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if missed:
            signal.raise_signal(signal.SIGINT)
