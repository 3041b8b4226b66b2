"""DLPack capsules: memory of other libraries in, our own out, on any device and without a copy.

NumPy reads and writes capsules of the host's memory only; these are for the others. The structures are
those of DLPack 1.0, and capsules without a version are understood too.
"""

from __future__ import annotations

import atexit
import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

CPU, CUDA, CUDA_MANAGED = 1, 2, 13
_READ_ONLY = 1
_OLD, _NEW = b"dltensor", b"dltensor_versioned"
_USED = {_OLD: b"used_dltensor", _NEW: b"used_dltensor_versioned"}
"""Static, because a capsule keeps the pointer to its name and not the name."""

_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
_BFLOAT = 4


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_STRUCTURES: dict[bytes, type[_Managed | _Versioned]] = {_OLD: _Managed, _NEW: _Versioned}


def _api(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


# A capsule goes by its address: in its own destructor no reference to it may be made.
_new_capsule = _api("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_is_valid = _api("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_pointer = _api("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
_set_name = _api("PyCapsule_SetName", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)


@dataclass(frozen=True, slots=True)
class Taken:
    """A tensor out of a capsule. `strides` count elements; `release` must be called once, at the end."""

    address: int
    device: tuple[int, int]
    dtype: np.dtype[Any] | str
    """The dtype, `bfloat16`, or what else it is called in words."""
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    readonly: bool
    release: Callable[[], None]


def take(capsule: Any) -> Taken:
    """Consumes a capsule. Raises `BufferError` for what is none, or was consumed before."""
    name = next((n for n in _STRUCTURES if _is_valid(id(capsule), n)), None)
    if name is None:
        raise BufferError("not an unused DLPack capsule")
    address = int(_pointer(id(capsule), name))
    managed = _STRUCTURES[name].from_address(address)
    if isinstance(managed, _Versioned) and managed.major != 1:
        raise BufferError(f"DLPack {managed.major}.{managed.minor} is not known")
    _set_name(id(capsule), _USED[name])
    tensor = managed.tensor
    sizes = range(tensor.ndim)

    def release() -> None:
        if managed.deleter:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(managed.deleter)(address)

    return Taken(
        (tensor.data or 0) + tensor.byte_offset,
        (tensor.device.kind, tensor.device.number),
        _dtype_of(tensor.dtype),
        tuple(tensor.shape[k] for k in sizes),
        tuple(tensor.strides[k] for k in sizes) if tensor.strides else None,
        isinstance(managed, _Versioned) and bool(managed.flags & _READ_ONLY),
        release,
    )


def _dtype_of(kind: _Type) -> np.dtype[Any] | str:
    letter = next((k for k, code in _KINDS.items() if code == kind.code), None)
    if kind.code == _BFLOAT and kind.bits == 16 and kind.lanes == 1:
        return "bfloat16"
    if letter is None or kind.lanes != 1 or kind.bits % 8:
        return f"DLPack type {kind.code} of {kind.bits} bits x {kind.lanes}"
    return np.dtype("?") if letter == "b" else np.dtype(f"<{letter}{kind.bits // 8}")


class _Given:
    """One capsule that we made: its structure, and who keeps the memory."""

    def __init__(self, managed: _Managed | _Versioned, shape: Any, keeper: object) -> None:
        self.managed = managed
        self.shape = shape
        self.keeper = keeper


_given: dict[int, _Given] = {}


def export(
    keeper: object,
    address: int,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    device: tuple[int, int],
    readonly: bool,
    max_version: tuple[int, int] | None,
) -> Any:
    """A capsule of contiguous memory; `keeper` lives until its consumer is done with it."""
    versioned = max_version is not None and max_version[0] >= 1
    if readonly and not versioned:
        raise BufferError("a read-only buffer needs a consumer of DLPack 1.0")
    name = _NEW if versioned else _OLD
    managed = _STRUCTURES[name]()
    sizes = (ctypes.c_int64 * max(1, 2 * len(shape)))(*shape, *_strides(shape))
    tensor = managed.tensor
    tensor.data = address
    tensor.device = _Device(*device)
    tensor.ndim = len(shape)
    bits = 8 * dtype.itemsize
    tensor.dtype = _Type(_BFLOAT if dtype.name == "bfloat16" else _KINDS[dtype.kind], bits, 1)
    tensor.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
    tensor.strides = ctypes.cast(ctypes.addressof(sizes) + 8 * len(shape), ctypes.POINTER(ctypes.c_int64))
    managed.deleter = ctypes.cast(_delete, ctypes.c_void_p)
    if isinstance(managed, _Versioned):
        managed.major, managed.minor = 1, 0
        managed.flags = _READ_ONLY if readonly else 0
    where = ctypes.addressof(managed)
    _given[where] = _Given(managed, sizes, keeper)
    return _new_capsule(where, name, ctypes.cast(_forget, ctypes.c_void_p))


def _strides(shape: tuple[int, ...]) -> list[int]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return strides[::-1]


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _delete(managed: int) -> None:
    """What a consumer calls, from any thread, when it is done."""
    _given.pop(managed, None)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _forget(capsule: int) -> None:
    """What Python calls for a dropped capsule; one that nobody consumed still owns its memory."""
    for name in (_NEW, _OLD):
        if _is_valid(capsule, name):
            _given.pop(_pointer(capsule, name), None)


@atexit.register
def _outlive() -> None:
    """Consumers may outlive the interpreter: their structures stay, and nobody calls into it any more."""
    for given in _given.values():
        given.managed.deleter = None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(given))
