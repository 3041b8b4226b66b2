"""Buffers that stay on a backend's device, so that chains of dispatches copy nothing.

    x = vyre.to_device(array, backend="cuda")
    y = vyre.device_zeros(len(x), np.uint32, backend="cuda")
    vyre.dispatch(program, {"a": x, "out": y}, backend="cuda")      # writes y in place, gives y back
    y.numpy()

A buffer is taken wherever an array is, by programs that run on the backend it was made for. It has the
dtype and shape of the array it came from, and fits what that array would fit, with two differences: bool
becomes uint32 (0 and 1), and what fits `Bytes` has whole words: `bytes` are padded with zeros, an array of
uint8 is taken as it is. On `cpu` and `reference` the device is the host, and NumPy sees the same memory; on
`cuda`, torch and CuPy do.
"""

from __future__ import annotations

import itertools
from copy import copy as duplicate
from math import prod
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from vyre.backends import dlpack
from vyre.backends.claim import Claim
from vyre.backends.foreign import is_on_device, plain_array
from vyre.backends.host_memory import HostMemory
from vyre.backends.protocol import ExportedMemory, ResidentBackend, able
from vyre.backends.recording import refuse_in_capture
from vyre.backends.storage import LANES, STORAGE, dtype_of, sizes_of
from vyre.errors import DispatchError, boundary
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, DeviceMemory

    Array = NDArray[Any]

_serials = itertools.count(1)
_DTYPES = frozenset(STORAGE.values())


class DeviceBuffer:
    """An array on a device. Bound ReadWrite it is written in place; it is never resized.

    Its memory goes back with `close`, at the end of a `with` block, or with the object.
    """

    __slots__ = (
        "__weakref__", "_claim", "_memory", "_owner", "_vyre_serial",
        "dtype", "nbytes", "readonly", "shape",
    )  # fmt: skip

    def __init__(
        self,
        owner: ResidentBackend,
        memory: DeviceMemory,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        *,
        readonly: bool = False,
    ) -> None:
        self._owner = owner
        self._memory: DeviceMemory | None = memory
        # One number per open buffer: what was checked for it once need not be checked again.
        self._vyre_serial = next(_serials)
        self._claim: Claim | None = Claim(memory)
        self.dtype = dtype
        self.shape = shape
        self.nbytes = memory.nbytes
        self.readonly = readonly

    @property
    def backend(self) -> str:
        """The name of the backend that it is on."""
        return self._owner.name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def closed(self) -> bool:
        return self._memory is None

    @property
    def memory(self) -> DeviceMemory:
        """What the backend knows it by. Raises `DispatchError` when the buffer is closed."""
        if self._memory is None:
            raise DispatchError("the device buffer is closed.", fix="make a new one with vyre.to_device.")
        return self._memory

    def held(self) -> tuple[Claim, DeviceMemory]:
        """The memory, which stays while the claim is held, even if another thread closes the buffer."""
        claim, memory = self._claim, self.memory
        assert claim is not None  # it goes after the memory
        return claim, memory

    def seen_as(self, dtype: np.dtype[Any], *, lanes: int = 0) -> DeviceBuffer:
        """The same memory as elements of another dtype, or as rows of so many lanes; it stays while either
        is held."""
        made = duplicate(self)
        count = self.nbytes // dtype.itemsize
        made._vyre_serial, made.dtype = next(_serials), dtype
        made.shape = (count // lanes, lanes) if lanes else (count,)
        return made

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ", readonly" if self.readonly else ""
        return f"<DeviceBuffer {self.dtype.name} {self.shape} on {self.backend}{state}>"

    @boundary
    def numpy(self) -> Array:
        """A copy on the host, after all dispatches so far."""
        target = np.empty(self.shape, self.dtype)
        claim, memory = self.held()
        if self.nbytes:
            memory.read(_bytes_of(target))
        del claim
        return target

    @boundary
    def copy_from(self, source: Any) -> None:
        """Overwrites the contents with an array, or with another buffer of this backend."""
        refuse_in_capture("a copy into a device buffer")
        claim, memory = self.held()
        if source is self:
            return
        if self.readonly:
            raise DispatchError("the device buffer is read-only.", fix="make a copy with vyre.to_device.")
        held = source if isinstance(source, DeviceBuffer) else imported(self._owner, source)
        if held is None:
            array = _host_array(source)
            self._require_same(array.dtype, array.shape)
            if self.nbytes:
                memory.write(_bytes_of(array))
            return
        try:
            self._require_same(held.dtype, held.shape)
            require_owner(held, self._owner)
            other, given = held.held()
            if self.nbytes and given.span != memory.span:
                memory.copy(given)
            del other, claim
        finally:
            if held is not source:
                held.close()

    def _require_same(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        if dtype != self.dtype or prod(shape) != self.size:
            raise DispatchError(
                f"a device buffer of {self.size} {self.dtype.name} cannot take {prod(shape)} {dtype.name}.",
                fix="pass an array of the same dtype and length, or make a new buffer with vyre.to_device.",
            )

    def close(self) -> None:
        """Gives the memory back, once nobody uses it: no call that runs, in any thread, nor a consumer of
        DLPack. Closing again does nothing."""
        if self._memory is not None:
            # In this order: who reads the claim and then the number has both of an open buffer or neither.
            self._vyre_serial = next(_serials)
            self._memory = self._claim = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @boundary
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        memory = self.memory
        if not isinstance(memory, HostMemory):
            raise DispatchError(
                f"the buffer is on the device of the backend {self.backend!r}, not in the host's memory.",
                fix="call .numpy() for a copy.",
            )
        whole = _host_view(self, memory)
        return np.array(whole, dtype=dtype, copy=copy)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not isinstance(self.memory, HostMemory):
            raise AttributeError("__array_interface__")
        view = _host_view(self, self.memory)
        # Data as an object and not as an address: who takes it then keeps the memory, not this buffer.
        return {"shape": self.shape, "typestr": view.dtype.str, "data": view, "version": 3}

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        memory = self.memory
        if not able(memory, ExportedMemory):
            raise AttributeError("__cuda_array_interface__")
        memory.order_before(-1)  # whoever takes it waits for our stream, and says nothing of its own
        return {
            "shape": self.shape,
            "typestr": self.dtype.str if self.dtype.name != "bfloat16" else "<u2",
            "data": (memory.span[1], self.readonly),
            "strides": None,
            "version": 3,
            "stream": memory.stream,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        match self.memory:
            case HostMemory():
                return dlpack.CPU, 0
            case ExportedMemory() as memory:
                return memory.dlpack_device
            case _:
                raise BufferError(
                    f"memory of the backend {self.backend!r} has no form in DLPack; use .numpy()"
                )

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule that shares the memory; it lives as long as whoever took it."""
        device = self.__dlpack_device__()
        if copy or (dl_device is not None and tuple(dl_device) != device):
            raise BufferError("a device buffer gives its own memory and no copy; use .numpy()")
        claim, memory = self.held()
        if able(memory, ExportedMemory):
            memory.order_before(stream)
        return dlpack.export(
            claim, memory.span[1], self.dtype, self.shape, device, self.readonly, max_version
        )


@runtime_checkable
class ImportingBackend(ResidentBackend, Protocol):
    """Optional: a backend that takes the device arrays of other libraries without a copy."""

    def import_array(self, value: Any) -> DeviceBuffer: ...


@boundary
def to_device(array: Any, *, backend: str | Backend | None = None, copy: bool = True) -> DeviceBuffer:
    """The contents of an array as a buffer on the device of `backend`, the default one if None.

    With `copy=False` the buffer is the memory of the array itself: a NumPy array for `cpu` and
    `reference`, a torch or CuPy array for `cuda`. What is elsewhere is then refused.
    """
    refuse_in_capture("vyre.to_device")
    owner = resident(backend)
    held = array if isinstance(array, DeviceBuffer) else imported(owner, array)
    if held is not None:
        require_owner(held, owner)
        if not copy:
            return held
        made = device_zeros(held.shape, held.dtype, backend=owner)
        made.copy_from(held)
        if held is not array:
            held.close()
        return made
    values = _host_array(array)
    if copy:
        made = device_zeros(values.shape, values.dtype, backend=owner)
        if made.nbytes:
            made.memory.write(_bytes_of(values))
        return made
    memory = owner.borrow(_bytes_of(values))
    if not (isinstance(memory, HostMemory) and np.shares_memory(values, np.asarray(array))) and values.size:
        memory.free()
        raise DispatchError(
            f"the array cannot be shared with the backend {owner.name!r} without a copy.",
            fix="call vyre.to_device without copy=False.",
        )
    return DeviceBuffer(owner, memory, values.dtype, values.shape, readonly=not values.flags.writeable)


@boundary
def device_zeros(
    shape: int | Sequence[int], dtype: Any, *, backend: str | Backend | None = None
) -> DeviceBuffer:
    """A buffer of zeros. `dtype` is one of NumPy's, or a type of vyre, whose lanes become the last axis."""
    refuse_in_capture("vyre.device_zeros")
    owner = resident(backend)
    kind = getattr(dtype, "__vyre_type__", dtype)
    sizes = sizes_of(shape)
    if isinstance(kind, DataType):
        sizes = (*sizes, LANES[kind]) if kind in LANES else sizes
        if kind is DataType.Bytes and prod(sizes) % 4:
            sizes = (-(-prod(sizes) // 4) * 4,)
        kind = STORAGE[kind]
    kind = _storage_dtype(dtype_of(kind))
    if not sizes or any(n < 0 for n in sizes):
        raise DispatchError(
            f"{shape!r} is not a shape that a buffer can have.", fix="pass lengths of 0 or more."
        )
    nbytes = prod(sizes) * kind.itemsize
    return DeviceBuffer(owner, owner.allocate(nbytes), kind, tuple(int(n) for n in sizes))


def resident(backend: str | Backend | None) -> ResidentBackend:
    """The backend itself, for who asks more than once. Raises `DispatchError` for one without buffers."""
    from vyre.backends.chosen import chosen

    found = chosen(backend)
    if not able(found, ResidentBackend):
        raise DispatchError(
            f"the backend {found.name!r} keeps no buffers on its device.",
            fix="pass arrays to dispatch, or choose another backend.",
        )
    return found


def require_owner(buffer: DeviceBuffer, owner: ResidentBackend) -> None:
    if buffer._owner is not owner:
        raise DispatchError(
            f"the buffer is on the backend {buffer.backend!r}, not on {owner.name!r}.",
            fix="copy it: vyre.to_device(x.numpy(), backend=…).",
        )


def imported(owner: ResidentBackend, value: Any) -> DeviceBuffer | None:
    """A buffer that shares the memory of a stranger's device array; None for what is on the host."""
    if not is_on_device(value):
        return None
    if not able(owner, ImportingBackend):
        raise DispatchError(
            f"the array is memory of a GPU, which the backend {owner.name!r} does not take.",
            fix="copy it to the host, or choose the backend that it is on.",
        )
    return owner.import_array(value)


def _host_array(value: Any) -> Array:
    """A contiguous array of a dtype that buffers have; the caller's own memory where it is one."""
    if isinstance(value, np.ndarray):
        array = plain_array("the array", value)
    elif isinstance(value, (bytes, bytearray)):
        array = np.frombuffer(value + bytes(-len(value) % 4), np.uint8)
    else:
        array = _foreign(value)
    if array.ndim == 0:
        raise DispatchError("a single number is not a buffer.", fix="wrap it: vyre.array([x], vyre.u32).")
    dtype = _storage_dtype(array.dtype)
    return np.ascontiguousarray(array if dtype == array.dtype else array.astype(dtype))


def _foreign(value: Any) -> Array:
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        pass
    try:
        return np.from_dlpack(value)
    except Exception as error:  # every producer of DLPack has errors of its own
        raise DispatchError(
            f"a {type(value).__name__} cannot become a buffer: {str(error).rstrip('.')}.",
            fix="pass an array, such as vyre.array(x, vyre.u32).",
        ) from None


def _storage_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind == "b":
        return STORAGE[DataType.Bool]
    if dtype not in _DTYPES and dtype.name != "bfloat16":
        raise DispatchError(
            f"no buffer holds {dtype.str if dtype.byteorder == '>' else dtype.name}.",
            fix=f"use one of {', '.join(sorted(d.name for d in _DTYPES))}, bool or bfloat16.",
        )
    return dtype


def _host_view(buffer: DeviceBuffer, memory: HostMemory) -> Array:
    view = memory.array.view(buffer.dtype).reshape(buffer.shape)
    if buffer.readonly:
        view.flags.writeable = False
    return view


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
