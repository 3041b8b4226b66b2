"""Hash-consing: constructing an equal node twice gives the same object (decision 21).

Equality and hashing are therefore identity, in constant time, however deep the node is. The table
holds its nodes weakly, so a program that is dropped leaves nothing behind.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, cast

_Key = tuple[Any, ...]


class _Ref(weakref.ref[Any]):
    __slots__ = ("key",)
    key: _Key


_TABLE: dict[_Key, _Ref] = {}


def _forget(ref: _Ref) -> None:
    if _TABLE.get(ref.key) is ref:
        del _TABLE[ref.key]


class Interned(type):
    """Metaclass whose instances are unique per field values.

    A class whose fields are plain numbers sets `_exact = True`: `1 == True == 1.0`, so its
    arguments are checked by the constructor before they can serve as a key.
    """

    _exact = False

    if not TYPE_CHECKING:  # keeps the dataclass constructor's signature visible to type checkers

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if not kwargs and not cls._exact:
                try:
                    ref = _TABLE.get((cls, *args))
                except TypeError:  # a list where the node holds a tuple; the constructor converts it
                    ref = None
                found = ref() if ref is not None else None
                if found is not None:
                    return found
            return _unique(super().__call__(*args, **kwargs))


def _unique(node: Any) -> Any:
    cls = cast("Any", type(node))
    key: _Key = (cls, *[getattr(node, name) for name in cls.__match_args__])
    ref = _Ref(node, cast("Any", _forget))
    ref.key = key
    while True:
        kept = _TABLE.setdefault(key, ref)
        found = kept()
        if found is not None:
            return found
        _forget(kept)


def interned_count() -> int:
    """How many nodes are alive; for tests that guard against leaks."""
    return len(_TABLE)
