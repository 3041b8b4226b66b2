"""What was compiled lately for a backend that is given as an object.

It is kept on the object itself, so that it goes with it: a compiled program holds its backend, and a table
elsewhere would keep every backend of a process. An object that takes no attributes has nothing kept.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_T = TypeVar("_T")
_NAME = "_vyre_recent"
_MOST = 64


class Recent(Generic[_T]):
    """Results of one owner by key, a limited number of them."""

    def __init__(self, owner: object) -> None:
        self._owner = weakref.ref(owner)
        self._results: dict[Hashable, _T] = {}

    def belongs_to(self, owner: object) -> bool:
        """False in a copy of the owner, which has all of its attributes."""
        return self._owner() is owner

    def result(self, key: Hashable, make: Callable[[], _T]) -> _T:
        found = self._results.get(key)
        if found is not None:
            return found
        made = make()
        if len(self._results) >= _MOST:
            self._results = {}
        self._results[key] = made
        return made

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        """A pickled backend takes nothing of this along."""
        return _nothing, ()


def recent_of(owner: Any) -> Recent[Any] | None:
    """The results that are kept on an object; None where it cannot keep any."""
    attributes: Any = getattr(owner, "__dict__", None)
    if attributes is None:
        return None
    found: Any = attributes.get(_NAME)
    if isinstance(found, Recent) and found.belongs_to(owner):
        return cast("Recent[Any]", found)
    try:
        attributes[_NAME] = made = Recent[Any](owner)
    except TypeError:  # no weak references, or a class, whose attributes are not set like this
        return None
    return made


def _nothing() -> None:
    """What a pickled one becomes."""
