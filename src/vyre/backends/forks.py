"""What a fork does to a backend: the child has a copy of all memory and one thread of all threads.

A device is driven by threads and files that the child does not have: the first call into its driver waits
for ever. So backends with a device are opened in a `Home` and refuse every other process by name. Backends
that run on the processor go on in the child: what they share between threads is made anew there.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache, partial
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
    if hasattr(os, "register_at_fork"):
        release = partial(lock.__exit__, None, None, None)
        os.register_at_fork(before=lock.__enter__, after_in_parent=release, after_in_child=release)


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
    os.register_at_fork(after_in_child=_renew_all)
