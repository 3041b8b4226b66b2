"""Messages of the host that together are larger than a buffer of the device: as many at a time as fit."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import numpy as np

from vyre.backends.foreign import is_on_device
from vyre.engines.collection import limits_of
from vyre.library.messages import taken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

P = ParamSpec("P")

_DIGEST = 32
"""Bytes that a message may take in the result."""
_PADDING = 64


def in_parts(function: Callable[P, Any]) -> Callable[P, Any]:
    """A hash whose first argument is messages, which takes whole messages in several calls where it must.

    A message that is itself too large is left to the device, which refuses it by name.
    """

    @wraps(function)
    def called(*given: P.args, **named: P.kwargs) -> Any:
        offsets, backend = named.get("offsets"), named.get("backend")
        parts = _parts(given[0], offsets, backend) if given else []  # pyright: ignore[reportArgumentType]
        if not parts:
            return function(*given, **named)
        call: Any = function
        named.pop("offsets", None)
        return np.concatenate([call(data, *given[1:], offsets=ends, **named) for data, ends in parts])

    return called


def _parts(
    messages: Any, offsets: Any, backend: str | Backend | None
) -> list[tuple[NDArray[np.uint8], NDArray[np.uint32]]]:
    """The bytes and the offsets of each call; none where one is enough, or nothing helps."""
    most = limits_of(backend).buffer_bytes
    if most is None or is_on_device(messages):
        return []
    room = most - _PADDING
    size, count = _size(messages, offsets)
    if size <= room and count * _DIGEST <= most:
        return []
    found = taken(messages, offsets, backend)
    ends: NDArray[np.int64] = found.bounds.astype(np.int64)
    if not found.count or int(np.diff(ends).max()) > room:
        return []
    parts: list[tuple[NDArray[np.uint8], NDArray[np.uint32]]] = []
    first = 0
    while first < found.count:
        last = int(np.searchsorted(ends, int(ends[first]) + room, side="right")) - 1
        last = min(last, first + most // _DIGEST)
        here = ends[first : last + 1]
        data: NDArray[np.uint8] = found.data[here[0] : here[-1]]
        parts.append((data, (here - here[0]).astype(np.uint32)))
        first = last
    return parts


def _size(messages: Any, offsets: Any) -> tuple[int, int]:
    """Bytes and messages of a call, before anything is copied or refused."""
    if isinstance(messages, (list, tuple)):
        listed = cast("Sequence[Any]", messages)
        sizes = (
            memoryview(cast("bytes", x)).nbytes
            for x in listed
            if isinstance(x, (bytes, bytearray, memoryview))
        )
        return sum(sizes), len(listed)
    size = getattr(messages, "nbytes", None)
    if size is None:
        size = len(messages) if isinstance(messages, (bytes, bytearray)) else 0
    if offsets is not None:
        if isinstance(offsets, (list, tuple)):
            return size, len(cast("Sequence[Any]", offsets))
        return size, getattr(offsets, "size", 0)
    shape = getattr(messages, "shape", ())
    return size, shape[0] if len(shape) == 2 else 1
