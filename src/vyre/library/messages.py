"""What the functions of the library take as bytes: one message, or many in one buffer.

    b"…", bytearray, a 1-D array of uint8             one message
    [b"…", b"…"]                                      many
    a 2-D array of uint8                              a message a row
    the bytes of all, with `offsets`                  message i from offsets[i] to offsets[i + 1]

Arrays may be NumPy's, anything with the buffer protocol, or on a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.backends.device_buffer import DeviceBuffer, to_device
from vyre.backends.foreign import is_on_device
from vyre.errors import DispatchError
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

MOST_BYTES = (1 << 32) - (1 << 16)
"""Of one call. Places are u32, and a block past the last byte is looked at."""

_MOST_GROUPS = 32_768
GROUP = 64
"""Invocations of a workgroup, in every kernel of the library."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Bytes that a kernel can read as words, and where each message begins; `alone` is one without a list."""

    data: Any
    bounds: NDArray[np.uint32]
    alone: bool
    backend: str | Backend | None

    @property
    def count(self) -> int:
        return len(self.bounds) - 1

    @property
    def lengths(self) -> NDArray[np.uint32]:
        return np.diff(self.bounds)

    def pieces(self, size: int) -> NDArray[np.uint32]:
        """Where the pieces of each message begin, of `size` bytes but the last, at least one each."""
        found = np.zeros(len(self.bounds), np.uint32)
        np.cumsum(np.maximum(-(-self.lengths.astype(np.int64) // size), 1), out=found[1:], dtype=np.uint32)
        return found

    def rows(self, made: Any, dtype: Any, each: int = 1) -> Any:
        """What a kernel made as elements of another dtype, `each` of them for a message."""
        kind = np.dtype(dtype)
        shape = (each,) if each > 1 else ()
        shape = shape if self.alone else (self.count, *shape)
        if isinstance(made, DeviceBuffer):
            seen = made.seen_as(kind)
            seen.shape = shape
            return seen
        return cast("NDArray[Any]", made).view(kind).reshape(shape)


def taken(messages: Any, offsets: Any, backend: str | Backend | None) -> Messages:
    """The messages of a call; `DispatchError` says what does not fit."""
    if isinstance(messages, Sequence) and not isinstance(messages, (bytes, bytearray, memoryview, str)):
        return _listed(cast("Sequence[Any]", messages), offsets, backend)
    data, backend = words_of(messages, "messages", backend)
    shape = tuple(int(n) for n in getattr(cast("Any", messages), "shape", (data.size,)))
    if offsets is not None:
        return Messages(data, _checked(offsets, data.size), alone=False, backend=backend)
    if len(shape) == 2:
        bounds = np.arange(shape[0] + 1, dtype=np.uint64) * shape[1]
        return Messages(data, bounds.astype(np.uint32), alone=False, backend=backend)
    if len(shape) > 2:
        raise DispatchError(
            f"messages have {len(shape)} dimensions.", fix="pass bytes, a list of bytes, or rows of uint8."
        )
    return Messages(data, np.array([0, data.size], np.uint32), alone=True, backend=backend)


def _listed(messages: Sequence[Any], offsets: Any, backend: str | Backend | None) -> Messages:
    if offsets is not None:
        raise DispatchError(
            "a list of messages takes no offsets.", fix='leave them out, or pass b"".join(list).'
        )
    for place, one in enumerate(messages):
        if not isinstance(one, (bytes, bytearray, memoryview)):
            raise DispatchError(
                f"messages[{place}] is {type(one).__name__}, not bytes.", fix="encode text with x.encode()."
            )
    bounds = np.zeros(len(messages) + 1, np.uint64)
    np.cumsum([memoryview(m).nbytes for m in messages], out=bounds[1:])
    _refuse_size(int(bounds[-1]))
    data = np.frombuffer(b"".join(messages), np.uint8)
    return Messages(data, bounds.astype(np.uint32), alone=False, backend=backend)


def words_of(value: Any, what: str, backend: str | Backend | None) -> tuple[Any, str | Backend | None]:
    """Bytes as uint8 on the host, or on a device where they are whole words; and the backend to run on."""
    if isinstance(value, str):
        raise DispatchError(f"{what} is text, not bytes.", fix="encode it with x.encode().")
    if is_on_device(value):
        held: DeviceBuffer = (
            value
            if isinstance(value, DeviceBuffer)
            else to_device(value, backend=backend or "cuda", copy=False)
        )
        if held.dtype != np.uint8:
            raise DispatchError(f"{what} is {held.dtype}, not uint8.", fix="pass its bytes.")
        _refuse_size(held.size)
        return held if held.size % 4 == 0 else held.numpy().reshape(-1), backend or held.backend
    array: NDArray[Any] = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype != np.uint8:
        raise DispatchError(
            f"{what} is {array.dtype}, not uint8.", fix="pass bytes, or x.view(np.uint8) for the bytes of x."
        )
    _refuse_size(array.size)
    return np.ascontiguousarray(array).reshape(-1), backend


def _refuse_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DispatchError(
            f"{size} bytes are more than the {MOST_BYTES} that one call takes.", fix="pass them in parts."
        )


def _checked(offsets: Any, size: int) -> NDArray[np.uint32]:
    found = np.asarray(offsets.numpy() if isinstance(offsets, DeviceBuffer) else offsets)
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
        raise DispatchError(
            "offsets are no row of integers.",
            fix="pass n + 1 integers for n messages, the first where they begin.",
        )
    wide = found.astype(np.int64)
    if int(wide[0]) < 0 or int(wide[-1]) > size or bool((np.diff(wide) < 0).any()):
        raise DispatchError(
            f"offsets do not ascend from 0 to at most {size}.",
            fix="pass where each message begins, then the end.",
        )
    return found.astype(np.uint32)


def grid(invocations: int) -> tuple[int, int]:
    """Workgroups for as many invocations, along x and then y; a kernel counts them row by row."""
    groups = -(-invocations // GROUP)
    rows = max(-(-groups // _MOST_GROUPS), 1)
    return max(-(-groups // rows), 1), rows
