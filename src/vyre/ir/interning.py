"""Hash-consing: constructing an equal node twice gives the same object (decision 21).

Equality and hashing are therefore identity, in constant time, however deep the node is. The table
holds its nodes weakly, so a program that is dropped leaves nothing behind.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import VyreError, hide_own_frames

_Key = tuple[Any, ...]


class _Ref(weakref.ref[Any]):
    __slots__ = ("key",)
    key: _Key


_TABLE: dict[_Key, _Ref] = {}
_lock = threading.RLock()


def _renew() -> None:
    """In the child of a fork: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def _forget(ref: _Ref) -> None:
    with _lock:  # one step, or a thread could remove the node that another has just put in its place
        if _TABLE.get(ref.key) is ref:
            del _TABLE[ref.key]


class Interned(type):
    """Metaclass whose instances are unique per field values.

    A class whose last field is a plain number sets `_exact` to that number's type: `1 == True == 1.0`,
    so an argument of another type reaches the constructor's check before it can serve as a key.
    A class whose constructor turns sequences into tuples sets `_converts`: its arguments may differ
    from its fields.
    """

    _exact: type | None = None
    _converts = False

    if not TYPE_CHECKING:  # keeps the dataclass constructor's signature visible to type checkers

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            exact = cls._exact
            try:
                if kwargs or (exact is not None and (not args or type(args[-1]) is not exact)):
                    node = type.__call__(cls, *args, **kwargs)
                    return _unique(node, _fields(node))
                key = (cls, *args)
                try:
                    ref = _TABLE.get(key)
                except TypeError:  # a list where the node holds a tuple; the constructor converts it
                    ref = None
                if ref is not None and (found := ref()) is not None:
                    return found
                node = type.__call__(cls, *args)
            except VyreError as error:
                hide_own_frames(error)
                raise
            whole = len(args) == len(cls.__match_args__) and not cls._converts
            return _unique(node, key if whole else _fields(node))


def rebuilt(node: Any) -> tuple[Any, ...]:
    """How a node is pickled: by its constructor, so that it is the one of its fields there too."""
    cls, *fields = _fields(node)
    return cls, tuple(fields)


def _fields(node: Any) -> _Key:
    cls = cast("Any", type(node))
    return (cls, *[getattr(node, name) for name in cls.__match_args__])


def _unique(node: Any, key: _Key) -> Any:
    ref = _Ref(node, _forget)  # pyright: ignore[reportArgumentType]
    ref.key = key
    while True:
        kept = _TABLE.setdefault(key, ref)
        if kept is ref:
            return node
        found = kept()
        if found is not None:
            return found
        _forget(kept)


def interned_count() -> int:
    """How many nodes are alive; for tests that guard against leaks."""
    return len(_TABLE)
