"""What the functions of the library take as bytes: one message, or many in one buffer.

    b"…", bytearray, a 1-D array of uint8             one message
    [b"…", b"…"]                                      many
    a 2-D array of uint8                              a message a row
    the bytes of all, with `offsets`                  message i from offsets[i] to offsets[i + 1]

Arrays may be NumPy's, anything with the buffer protocol, or on a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.backends.device_buffer import DeviceBuffer, resident, to_device
from vyre.backends.foreign import is_on_device, plain_array
from vyre.backends.host_memory import HostMemory
from vyre.errors import DispatchError
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, ResidentBackend

MOST_BYTES = (1 << 32) - (1 << 16)
"""Of one call. Places are u32, and a block past the last byte is looked at."""

_MOST_GROUPS = 32_768
GROUP = 64
"""Invocations of a workgroup; kernels that only move bytes have four times as many."""


@dataclass(frozen=True, slots=True)
class Messages:
    """Bytes that a kernel can read as words, and where each message begins; `alone` is one without a list."""

    data: Any
    count: int
    size: int | None
    """Of each message, where the shape says that all are of one size."""
    given: NDArray[np.uint32] | None
    alone: bool
    backend: str | Backend | None

    @property
    def bounds(self) -> NDArray[np.uint32]:
        """Where each message begins, then the end."""
        if self.given is not None:
            return self.given
        assert self.size is not None  # one of the two is known
        return (np.arange(self.count + 1, dtype=np.uint64) * self.size).astype(np.uint32)

    @property
    def quads(self) -> tuple[Any, int] | None:
        """The bytes in sixteens, and how many each message has; None where one is not whole sixteens.

        Kernels of such messages need no bounds, and load 16 bytes at once: that is for devices with memory of
        their own. A processor is quicker with the kernels that it makes vectors of.
        """
        if not self.size or not self.count or self.size % 16 or not self._apart:
            return None
        if self.data.memory.span[1] % 16:
            return None
        return self.data.seen_as(np.dtype(np.uint32), lanes=4), self.size // 16

    @property
    def padded_quads(self) -> tuple[Any, int] | None:
        """The same, of one message with zeros behind it where it is not whole sixteens."""
        if self.count != 1 or not self.size or not self._apart or self.quads is not None:
            return self.quads
        count = -(-self.size // 16)
        # More bytes than the message has are a copy that was padded when it was taken.
        padded = self.size < self.data.nbytes == 16 * count
        data = self.data if padded else _in_sixteens(self.data)
        return data.seen_as(np.dtype(np.uint32), lanes=4), count

    @property
    def _apart(self) -> bool:
        """Whether the bytes are in memory that is not the host's."""
        return isinstance(self.data, DeviceBuffer) and not isinstance(self.data.memory, HostMemory)

    @property
    def lengths(self) -> NDArray[np.uint32]:
        return np.diff(self.bounds)

    def pieces(self, size: int) -> NDArray[np.uint32]:
        """Where the pieces of each message begin, of `size` bytes but the last, at least one each."""
        found = np.zeros(len(self.bounds), np.uint32)
        np.cumsum(np.maximum(-(-self.lengths.astype(np.int64) // size), 1), out=found[1:], dtype=np.uint32)
        return found

    def each(self, kernel: Any, even: Any, *scalars: int) -> Any:
        """A value a message, by the kernel that takes bounds, or by `even`, which takes one size for all."""
        workgroups, backend = grid(self.count), self.backend
        if self.size is None:
            return kernel(
                self.data, self.bounds, self.count, *scalars, workgroups=workgroups, backend=backend
            )
        return even(self.data, self.count, self.size, *scalars, workgroups=workgroups, backend=backend)

    def beside(self, tables: Callable[[int], tuple[NDArray[np.uint32], ...]], which: int) -> tuple[Any, ...]:
        """Tables of a kernel, where the messages are: for those on a device they are copied there once."""
        if not isinstance(self.data, DeviceBuffer):
            return tables(which)
        return _copied(tables, which, resident(self.backend))

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


@lru_cache(maxsize=8)
def _copied(
    tables: Callable[[int], tuple[NDArray[np.uint32], ...]], which: int, backend: ResidentBackend
) -> tuple[DeviceBuffer, ...]:
    return tuple(to_device(table, backend=backend) for table in tables(which))


def taken(messages: Any, offsets: Any, backend: str | Backend | None) -> Messages:
    """The messages of a call; `DispatchError` says what does not fit."""
    if is_list(messages):
        return _listed(messages, offsets, backend)
    if is_on_device(messages):
        held, backend = _held(messages, "messages", backend)
        shape, data = held.shape, held if held.size % 4 == 0 else _in_sixteens(held)
    else:
        data, backend = words_of(messages, "messages", backend)
        # NumPy's own bytes have the shape of one number.
        given = () if isinstance(messages, bytes) else getattr(messages, "shape", ())
        shape = tuple(int(n) for n in given) or (data.size,)
    size = prod(shape)
    if offsets is not None:
        return _between(data, _checked(offsets, size), backend)
    if len(shape) == 2:
        return Messages(data, shape[0], shape[1], None, alone=False, backend=backend)
    if len(shape) > 2:
        raise DispatchError(
            f"messages have {len(shape)} dimensions, not 1 or 2.",
            fix="pass bytes, a list of bytes, or rows of uint8.",
        )
    return Messages(data, 1, size, None, alone=True, backend=backend)


def _in_sixteens(held: DeviceBuffer) -> DeviceBuffer:
    """A copy where they are, with zeros behind them."""
    from vyre.library.padding import sixteens  # only who needs the kernel waits for it

    count = -(-held.size // 16)
    made: DeviceBuffer = sixteens(held, count, workgroups=grid(-(-count // 4)), backend=held.backend)
    return made.seen_as(np.dtype(np.uint8))


def _between(data: Any, bounds: NDArray[np.uint32], backend: str | Backend | None) -> Messages:
    return Messages(data, len(bounds) - 1, None, bounds, alone=False, backend=backend)


def is_list(value: object) -> bool:
    """Whether a value is a sequence of others; one that has memory of its own, as `array.array`, is bytes."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    try:
        memoryview(cast("Any", value))
    except TypeError:
        return True
    return False


def _listed(messages: Sequence[Any], offsets: Any, backend: str | Backend | None) -> Messages:
    if offsets is not None:
        raise DispatchError(
            "a list of messages takes no offsets.", fix='leave them out, or pass b"".join(list).'
        )
    for place, one in enumerate(messages):
        if not isinstance(one, (bytes, bytearray, memoryview)):
            raise _not_bytes(f"messages[{place}]", one)
    bounds = np.zeros(len(messages) + 1, np.uint64)
    np.cumsum([memoryview(m).nbytes for m in messages], out=bounds[1:])
    _refuse_size(int(bounds[-1]))
    joined = b"".join(m.tobytes() if isinstance(m, memoryview) else m for m in messages)
    data = np.frombuffer(joined, np.uint8)
    return _between(data, bounds.astype(np.uint32), backend)


def words_of(value: Any, what: str, backend: str | Backend | None) -> tuple[Any, str | Backend | None]:
    """Bytes as uint8 on the host, or on a device where they are whole words; and the backend to run on."""
    if isinstance(value, str):
        raise DispatchError(f"{what} is text, not bytes.", fix="encode it with x.encode().")
    if is_on_device(value):
        held, backend = _held(value, what, backend)
        return held if held.size % 4 == 0 else held.numpy().reshape(-1), backend
    if is_list(value):
        raise DispatchError(
            f"{what} is {type(value).__name__}, not bytes.", fix="pass bytes, or an array of uint8."
        )
    if isinstance(value, np.ndarray):
        value = plain_array(what, value)
    array: NDArray[Any] = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype == np.object_ or (array.ndim == 0 and array.dtype != np.uint8):
        raise DispatchError(
            f"{what} is {type(value).__name__}, not bytes.", fix="pass bytes, or an array of uint8."
        )
    if array.dtype != np.uint8:
        raise DispatchError(
            f"{what} is {array.dtype}, not uint8.", fix="pass bytes, or x.view(np.uint8) for the bytes of x."
        )
    _refuse_size(array.size)
    return np.ascontiguousarray(array).reshape(-1), backend


def native(what: str, values: Any) -> NDArray[Any]:
    """An array whose memory can be read as it is: contiguous, and in the machine's own order of bytes."""
    kind = type(values).__name__
    try:
        given = plain_array(what, values) if isinstance(values, np.ndarray) else np.asarray(values)
    except ValueError:  # lists of several lengths
        raise DispatchError(
            f"{what} is a {kind} that does not make an array.",
            fix="pass a row of numbers; rows of several lengths go in one by one.",
        ) from None
    flat = np.ascontiguousarray(given)
    return flat.astype(flat.dtype.newbyteorder("="), copy=False)


def plain_bytes(what: str, value: Any) -> bytes:
    """A key, a separator or another short argument. Raises `DispatchError` for what is not bytes."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _not_bytes(what, value)
    return bytes(cast("bytes", value))


def _not_bytes(what: str, value: Any) -> DispatchError:
    fix = (
        "encode text with x.encode()."
        if isinstance(value, str)
        else "pass bytes, a bytearray or a memoryview."
    )
    return DispatchError(f"{what} is {type(value).__name__}, not bytes.", fix=fix)


def _held(value: Any, what: str, backend: str | Backend | None) -> tuple[DeviceBuffer, str | Backend | None]:
    """Bytes on a device, and the backend to run on."""
    held = value
    if not isinstance(value, DeviceBuffer):
        held = to_device(value, backend=backend or "cuda", copy=False)
    if held.dtype != np.uint8:
        raise DispatchError(f"{what} is {held.dtype}, not uint8.", fix="pass its bytes.")
    _refuse_size(held.size)
    return held, backend or held.backend


def _refuse_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DispatchError(
            f"{size} bytes are more than the {MOST_BYTES} that one call takes.", fix="pass them in parts."
        )


def _checked(offsets: Any, size: int) -> NDArray[np.uint32]:
    try:
        held = offsets.numpy() if isinstance(offsets, DeviceBuffer) else offsets
        found = plain_array("offsets", held) if isinstance(held, np.ndarray) else np.asarray(held)
    except ValueError:  # lists of several lengths
        found = np.zeros((0, 0))
    if found.ndim != 1 or not len(found) or found.dtype.kind not in "iu":
        raise DispatchError(
            "offsets must be a one-dimensional array of integers.",
            fix="pass n + 1 integers for n messages, the first where they begin.",
        )
    # Compared, not subtracted: a difference of two numbers of 64 bits may wrap.
    if int(found[0]) < 0 or int(found[-1]) > size or bool((found[1:] < found[:-1]).any()):
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
