"""Arrays in and out: NumPy, the buffer protocol and DLPack to raw little-endian bytes and back.

    U32 uint32   I32 int32   U64 uint64   F16 float16   F32 float32   F64 float64
    U8 uint8     I8 int8     U16 uint16   I16 int16     I64 int64
    Vec2U32 uint32 (…, 2)    Vec4U32, U128 uint32 (…, 4), lane 0 first
    Bool  bool or uint32 (any non-zero is true); bool where nothing was supplied
    BF16  uint16 bits, or bfloat16 of ml_dtypes where that is installed
    Bytes uint8 of any length, padded with zeros to whole u32 words; comes back padded

`bytes` and `bytearray` are the raw contents of any type. Arrays of more dimensions are taken in row-major
order and come back in their shape. Nothing supplied is changed unless `in_place` asks for it.

Memory that stays on a device is bound by `vyre.backends.resident`, by the same rules.

Enforced here, before anything runs and for every backend (decision 15): overlapping memory with one side
writable, a length that differs from a declared count, Uniform buffers over 64 KiB, read-only memory that
would have to be written, missing and unknown buffers. A ReadWrite buffer that is not supplied is zeros.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from vyre.errors import DispatchError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_UNIFORM_BYTES, U32_MAX
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.ir.program import Program

    Array = NDArray[Any]

    Lengths = Mapping[str, int | tuple[str, ...]]
    """How long ReadWrite buffers are that nobody supplies: a number, or the names of buffers of which the
    longest says it."""

_T = DataType
STORAGE: dict[DataType, np.dtype[Any]] = {
    _T.U32: np.dtype("<u4"),
    _T.I32: np.dtype("<i4"),
    _T.U64: np.dtype("<u8"),
    _T.Vec2U32: np.dtype("<u4"),
    _T.Vec4U32: np.dtype("<u4"),
    _T.Bool: np.dtype("<u4"),
    _T.Bytes: np.dtype("u1"),
    _T.U128: np.dtype("<u4"),
    _T.F32: np.dtype("<f4"),
    _T.F16: np.dtype("<f2"),
    _T.BF16: np.dtype("<u2"),
    _T.F64: np.dtype("<f8"),
    _T.I8: np.dtype("i1"),
    _T.U8: np.dtype("u1"),
    _T.I16: np.dtype("<i2"),
    _T.U16: np.dtype("<u2"),
    _T.I64: np.dtype("<i8"),
}
LANES = {_T.Vec2U32: 2, _T.Vec4U32: 4, _T.U128: 4}
_BOOL = np.dtype("?")
_DLPACK_HOST = (1, 3, 11, 13)
"""Kinds of memory in DLPack that the host can read: its own, pinned for CUDA or ROCm, managed by CUDA."""

_ALIAS_WORK: Any = 10_000  # NumPy's stubs know only the two special values


@dataclass(frozen=True, slots=True)
class Slot:
    """One bound buffer: the memory the backend sees, and how it goes back to the caller."""

    decl: BufferDecl
    memory: Array
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def result(self) -> Array:
        if self.dtype == _BOOL:
            return (self.memory.view(STORAGE[_T.Bool]) != 0).reshape(self.shape)
        return self.memory.view(self.dtype).reshape(self.shape)


@dataclass(frozen=True, slots=True)
class Bound:
    """Every storage and uniform buffer of a program as raw bytes; `lengths` count elements."""

    slots: Mapping[str, Slot]
    views: Mapping[str, memoryview]
    lengths: Mapping[str, int]

    def results(self) -> dict[str, Array]:
        """The ReadWrite buffers as arrays, in the program's order."""
        return {
            name: slot.result()
            for name, slot in self.slots.items()
            if slot.decl.access is BufferAccess.ReadWrite
        }


def bind(program: Program, buffers: Mapping[str, Any], *, lengths: Lengths, in_place: bool) -> Bound:
    """Checks everything the caller supplies and lays it out as bytes."""
    declared = {b.name: b for b in program.buffers if b.access.bound}
    refuse_unknown(program, declared, buffers)
    given = {
        name: array_of(decl, buffers[name])
        for name, decl in declared.items()
        if buffers.get(name) is not None
    }
    refuse_aliases(declared, given)
    found = {name: count_of(declared[name], array) for name, array in given.items()}
    slots: dict[str, Slot] = {}
    for name, decl in declared.items():
        if name in given:
            slot = supplied(decl, given[name], in_place=in_place)
        else:
            slot = _zeros(decl, length_of(name, lengths, found))
        refuse_length(decl, slot.memory.nbytes)
        slots[name] = slot
    views = {
        name: s.memory.data if s.decl.access.writable else s.memory.data.toreadonly()
        for name, s in slots.items()
    }
    counts = {name: s.memory.nbytes // s.decl.element.stride for name, s in slots.items()}
    return Bound(slots, views, counts)


def count_of(decl: BufferDecl, array: Array) -> int:
    """How many elements of `decl` an array of the right dtype and shape holds."""
    return -(-array.nbytes // decl.element.stride) if array.dtype != _BOOL else array.size


def length_of(name: str, lengths: Lengths, found: Mapping[str, int]) -> int | None:
    """The length of a buffer that nobody supplies, None where nothing says it; `found` counts the others."""
    wanted = lengths.get(name)
    return max(found[other] for other in wanted) if isinstance(wanted, tuple) else wanted


def array_of(decl: BufferDecl, value: Any) -> Array:
    """The caller's own memory as an array of the right dtype and shape; never a copy."""
    array = _import(decl, value)
    refuse_unfit(decl, array.dtype, array.shape)
    return array


def is_on_device(value: Any) -> bool:
    """Whether this is memory of a GPU, ours or a stranger's, which the host cannot read."""
    if value is None or isinstance(value, (np.ndarray, bytes, bytearray)):
        return False
    if hasattr(value, "_vyre_serial"):
        return True
    where = getattr(value, "__dlpack_device__", None)
    if where is None:
        return hasattr(value, "__cuda_array_interface__")
    try:
        return int(where()[0]) not in _DLPACK_HOST
    except Exception:  # a producer that cannot say where its memory is; importing it will say why
        return False


def refuse_unfit(decl: BufferDecl, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuses what cannot hold elements of `decl`."""
    if not (dtype == STORAGE[decl.element] or _accepted_too(decl.element, dtype)):
        _refuse_dtype(decl, dtype)
    lanes = LANES.get(decl.element)
    if not shape:
        refuse(decl, "is a single number, not an array", "wrap it: np.array([x], dtype).")
    if lanes is not None and shape[-1] != lanes:
        refuse(
            decl,
            f"holds {decl.element.value} and has shape {shape}",
            f"pass an array of shape (n, {lanes}).",
        )


def _import(decl: BufferDecl, value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return plain_array(f"buffer {decl.name!r}", value)
    if isinstance(value, (bytes, bytearray)):
        return _raw(decl, value)
    try:
        return np.asarray(memoryview(value))
    except (TypeError, ValueError):
        pass
    if is_on_device(value):
        refuse(
            decl,
            "is memory of a GPU, which this backend does not take",
            "copy it to the host, or choose the backend that it is on.",
        )
    if not hasattr(value, "__dlpack__"):
        made = f"np.array({decl.name}, np.{STORAGE[decl.element].name})"
        kind = type(value).__name__
        refuse(decl, f"got a {kind}", f"pass {made if kind in ('list', 'tuple') else _example(decl)}.")
    try:
        return np.from_dlpack(value)
    except Exception as error:  # every producer of DLPack has errors of its own
        raise DispatchError(
            f"buffer {decl.name!r} cannot be imported through DLPack: {error}",
            fix="copy it to the CPU in a dtype that NumPy has; bfloat16 goes as uint16 bits.",
        ) from error


def plain_array(what: str, value: Any) -> Array:
    """The elements of an array of NumPy, of whatever class it is; one that hides some of them is refused."""
    if isinstance(value, np.ma.MaskedArray):
        raise DispatchError(
            f"{what} is a masked array, and a kernel has no masked elements.",
            fix="pass x.filled(v) to put v for the masked elements, or x.data for what lies under the mask.",
        )
    return value.view(np.ndarray)


def _raw(decl: BufferDecl, value: bytes | bytearray) -> Array:
    expected = STORAGE[decl.element]
    if decl.element is not _T.Bytes and len(value) % decl.element.stride:
        refuse(
            decl,
            f"got {len(value)} raw bytes, which are no whole {decl.element.value} elements",
            f"pass a multiple of {decl.element.stride} bytes.",
        )
    array = np.frombuffer(value, expected) if value else np.zeros(0, expected)
    return array.reshape(-1, LANES[decl.element]) if decl.element in LANES else array


def _accepted_too(element: DataType, dtype: np.dtype[Any]) -> bool:
    if element is _T.Bool:
        return dtype == _BOOL
    return element is _T.BF16 and dtype.name == "bfloat16"


def supplied(decl: BufferDecl, array: Array, *, in_place: bool) -> Slot:
    writable = decl.access is BufferAccess.ReadWrite
    if writable and in_place:
        return Slot(decl, _memory_in_place(decl, array), array.shape, array.dtype)
    shape = array.shape
    if decl.element is _T.Bool and array.dtype == _BOOL:
        memory = np.ascontiguousarray(array).astype(STORAGE[_T.Bool])
        return Slot(decl, _bytes_of(memory), shape, array.dtype)
    padding = -array.nbytes % 4 if decl.element is _T.Bytes else 0
    if padding:
        memory = np.concatenate([array.reshape(-1), np.zeros(padding, np.uint8)])
        return Slot(decl, memory, memory.shape, array.dtype)
    memory = np.array(array, order="C") if writable else np.ascontiguousarray(array)
    return Slot(decl, _bytes_of(memory), shape, array.dtype)


def _memory_in_place(decl: BufferDecl, array: Array) -> Array:
    if not array.flags.writeable:
        refuse(decl, "is read-only memory and would be written in place", "pass a copy: x.copy().")
    if not array.flags.c_contiguous:
        refuse(decl, "is not contiguous and would be written in place", "pass np.ascontiguousarray(x).")
    if array.dtype == _BOOL:
        refuse(decl, "is bool and would be written in place", "pass x.astype(np.uint32).")
    if decl.element is _T.Bytes and array.nbytes % 4:
        refuse(
            decl,
            f"has {array.nbytes} bytes, no whole words, and would be written in place",
            "pass a multiple of 4 bytes.",
        )
    return _bytes_of(array)


def _bytes_of(array: Array) -> Array:
    return array.reshape(-1).view(np.uint8)


def _zeros(decl: BufferDecl, length: int | None) -> Slot:
    count, shape = zeros_shape(decl, length)
    dtype = _BOOL if decl.element is _T.Bool else STORAGE[decl.element]
    try:
        memory = np.zeros(count * decl.element.stride, np.uint8)
    except MemoryError as error:
        raise DispatchError(
            f"buffer {decl.name!r} of {count} elements does not fit into memory.",
            fix="declare or pass a shorter buffer.",
        ) from error
    return Slot(decl, memory, shape, dtype)


def zeros_shape(decl: BufferDecl, length: int | None) -> tuple[int, tuple[int, ...]]:
    """How many elements a buffer has that was not supplied, and the shape of its array."""
    if decl.access is not BufferAccess.ReadWrite:
        refuse(decl, f"is {decl.access.value} and was not supplied", f"pass {_example(decl)}.")
    count = decl.count if length is None else length
    if length is None and count == 0:
        refuse(
            decl,
            "is sized by the host and was not supplied",
            f"pass an array of the length you want, such as {_example(decl)}.",
        )
    lanes = LANES.get(decl.element)
    return count, (count * 4,) if decl.element is _T.Bytes else (count, lanes) if lanes else (count,)


def refuse_length(decl: BufferDecl, size: int) -> None:
    """Refuses a buffer of `size` bytes that is not as long as the program or the language says."""
    length = size // decl.element.stride
    unit = "words" if decl.element is _T.Bytes else "elements"
    if decl.count and length != decl.count:
        refuse(
            decl,
            f"has {length} {unit}, and the program declares {decl.count}",
            f"pass exactly {decl.count} {unit}, or declare the buffer with count 0.",
        )
    if length > U32_MAX:
        refuse(decl, f"has {length} {unit}, beyond a u32", "split it into several buffers.")
    if decl.access is BufferAccess.Uniform and size > MAX_UNIFORM_BYTES:
        refuse(
            decl,
            f"is Uniform and takes {size} bytes; {MAX_UNIFORM_BYTES} are allowed",
            "declare it ReadOnly.",
        )


def refuse_unknown(program: Program, declared: Mapping[str, BufferDecl], buffers: Mapping[str, Any]) -> None:
    """Refuses names that are no buffers of the program."""
    for name in buffers:
        if name in declared:
            continue
        if program.buffer(name) is not None:
            raise DispatchError(
                f"buffer {name!r} is workgroup memory, which the host never sees.",
                fix=f"leave {name!r} out; it starts as zeros in every workgroup.",
            )
        close = difflib.get_close_matches(str(name), declared, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise DispatchError(
            f"the program has no buffer {name!r}.",
            fix=f"{hint}Its buffers are {', '.join(declared) or '(none)'}.",
        )


def refuse_aliases(
    declared: Mapping[str, BufferDecl],
    given: Mapping[str, Any],
    *,
    overlap: Callable[[Any, Any], bool] | None = None,
) -> None:
    """Refuses memory that is bound twice and written; arrays are compared unless `overlap` is given."""
    names = list(given)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if not (declared[first].access.writable or declared[second].access.writable):
                continue
            if (overlap or _overlap)(given[first], given[second]):
                raise DispatchError(
                    f"buffers {first!r} and {second!r} share memory, and one of them is writable.",
                    fix="pass a copy of one of them: x.copy().",
                )


def _overlap(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_ALIAS_WORK)
    except np.exceptions.TooHardError:  # cannot be decided cheaply, so it is not allowed
        return True


def _refuse_dtype(decl: BufferDecl, have: np.dtype[Any]) -> NoReturn:
    expected = STORAGE[decl.element]
    if have.byteorder == ">" and have.newbyteorder("<") == expected:
        fix = f'pass x.astype("{expected.str}"), which swaps the bytes.'
    elif have.itemsize == expected.itemsize and have.kind in "iu" and expected.kind in "iu":
        fix = f"pass x.view(np.{expected.name}) for the same bits, or x.astype(np.{expected.name})."
    elif decl.element is _T.BF16:
        fix = "pass uint16 bits, or bfloat16 of ml_dtypes."
    elif have.kind in "iu" and expected.kind in "iu" and have.itemsize > expected.itemsize:
        fix = f"pass x.astype(np.{expected.name}), which keeps the low {8 * expected.itemsize} bits of each."
    else:
        fix = f"pass x.astype(np.{expected.name})."
    refuse(decl, f"holds {decl.element.value} and got {_dtype_name(have)}", fix)


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return f"big-endian {dtype.name}" if dtype.byteorder == ">" else dtype.name


def _example(decl: BufferDecl) -> str:
    n = str(decl.count or "n")
    shape = f"({n}, {LANES[decl.element]})" if decl.element in LANES else n
    return f"{decl.name}=np.zeros({shape}, np.{STORAGE[decl.element].name})"


def refuse(decl: BufferDecl, problem: str, fix: str) -> NoReturn:
    """A `DispatchError` about one buffer."""
    raise DispatchError(f"buffer {decl.name!r} {problem}.", fix=fix)
