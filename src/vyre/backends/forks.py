"""What a fork does to a backend: the child has a copy of all memory and one thread of all threads.

A device is driven by threads and files that the child does not have: the first call into its driver waits
for ever. So backends with a device are opened in a `Home` and refuse every other process by name. Backends
that run on the processor go on in the child: what they share between threads is made anew there.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from threading import Condition, get_ident
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

from vyre.errors import BackendUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractContextManager


_process = os.getpid()
"""This process. A child of a fork writes it anew: asking the system each time takes longer than a launch."""


class Home:
    """The process in which the library behind a backend was first opened: the only one that may use it."""

    __slots__ = ("_backend", "_process")

    def __init__(self, backend: str) -> None:
        self._backend = backend
        self._process = _opened_in(backend)
        self.require()

    @property
    def here(self) -> bool:
        return self._process == _process

    def require(self) -> None:
        """Raises `BackendUnavailable` in a child of the process. Call it before any lock is taken."""
        if self._process != _process:
            raise BackendUnavailable(
                f"the backend {self._backend!r} was opened before this process was forked, and neither its "
                "device nor its buffers work here.",
                fix='start the process with multiprocessing.get_context("spawn"), or use the backend in the '
                "children only, never before the fork.",
            )


@cache
def _opened_in(backend: str) -> int:
    return _process


def abandon(things: Iterable[object]) -> None:
    """Keeps objects for the rest of the process: freeing them would call into a driver that is not there."""
    for thing in things:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class Renewable(Protocol):
    def renew(self) -> None:
        """Makes new in the child of a fork what does not survive it."""
        ...


_renewable: WeakSet[Renewable] = WeakSet()


def renew_after_fork(thing: Renewable) -> None:
    """Has `renew` called in every child of this process for as long as the thing lives."""
    _renewable.add(thing)


def hold_across_fork(lock: AbstractContextManager[Any]) -> None:
    """Forks only while nobody else holds the lock, so that what it guards is whole in the child."""
    _locks.append(lock)


_locks: list[AbstractContextManager[Any]] = []


class Loading:
    """Work of any number of threads that a fork waits for: it may load a module, and what another thread had
    half loaded at a fork the child can never load.

    A thread that is inside may enter again, and may fork. A fork waits `PATIENCE` at most: who is inside
    longer than that waits, perhaps, for the thread that forks.
    """

    PATIENCE = 60.0

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside: dict[int, int] = {}
        self._forking: int | None = None

    def __enter__(self) -> None:
        me = get_ident()
        with self._changed:
            if me not in self._inside:
                self._changed.wait_for(lambda: self._forking in (None, me))
            self._inside[me] = self._inside.get(me, 0) + 1

    def __exit__(self, *_: object) -> None:
        me = get_ident()
        with self._changed:
            self._inside[me] -= 1
            if not self._inside[me]:
                del self._inside[me]
                self._changed.notify_all()

    def close(self) -> None:
        """Before a fork: nobody else is inside when it returns, and nobody else comes in."""
        me = get_ident()
        with self._changed:
            self._changed.wait_for(lambda: self._forking is None, self.PATIENCE)
            self._forking = me
            self._changed.wait_for(lambda: self._inside.keys() <= {me}, self.PATIENCE)

    def open(self) -> None:
        """After a fork, in the parent."""
        with self._changed:
            self._forking = None
            self._changed.notify_all()

    def renew(self) -> None:
        """After a fork, in the child, which has the thread that forked and no other."""
        me = get_ident()
        self._inside = {me: self._inside[me]} if me in self._inside else {}
        self._changed = Condition()
        self._forking = None


LOADING = Loading()


def _before() -> None:
    LOADING.close()  # first: who is inside may need one of the locks to come out
    for lock in _locks:
        lock.__enter__()


def _after() -> None:
    for lock in reversed(_locks):
        lock.__exit__(None, None, None)


def _in_parent() -> None:
    _after()
    LOADING.open()


def _in_child() -> None:
    _after()
    LOADING.renew()
    _renew_all()


def _renew_all() -> None:
    global _process
    _process = os.getpid()
    for thing in list(_renewable):
        thing.renew()
    if _opened_in.cache_info().currsize:
        _leave_drivers_alone()


def _leave_drivers_alone() -> None:
    """Ends this process, when it ends, before the exit handlers of drivers: they wait for their threads.

    What Python does at its end comes before, and so does all that this process registers from now on.
    """
    library = ctypes.CDLL(None)
    if hasattr(library, "on_exit") and hasattr(library, "_IO_flush_all"):
        library.on_exit(ctypes.cast(library["_exit"], ctypes.c_void_p), None)
        library.on_exit(ctypes.cast(library["_IO_flush_all"], ctypes.c_void_p), None)  # the last comes first


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
