"""Arrays in and out: NumPy, the buffer protocol and DLPack to raw little-endian bytes and back.

    U32 uint32   I32 int32   U64 uint64   F16 float16   F32 float32   F64 float64
    U8 uint8     I8 int8     U16 uint16   I16 int16     I64 int64
    Vec2U32 uint32 (…, 2)    Vec4U32, U128 uint32 (…, 4), lane 0 first
    Bool  bool or uint32 (any non-zero is true); bool where nothing was supplied
    BF16  uint16 bits, or bfloat16 of ml_dtypes where that is installed
    Bytes uint8 of any length, padded with zeros to whole u32 words; comes back padded

`bytes` and `bytearray` are the raw contents of any type. Arrays of more dimensions are taken in row-major
order and come back in their shape. A ReadWrite array that is supplied is written where it lies and is itself
the result (`vyre.backends.slots`); with `copy` it is left alone and the result is new.

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

from vyre.backends.foreign import from_dlpack, is_on_device, plain_array
from vyre.backends.slots import Slot, slot_of
from vyre.backends.storage import BOOL, LANES, STORAGE, holds, public_name, refuse
from vyre.errors import DeviceOutOfMemory, DispatchError
from vyre.ir.buffers import BufferAccess, BufferDecl
from vyre.ir.limits import MAX_UNIFORM_BYTES, U32_MAX
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from numpy.typing import NDArray

    from vyre.ir.program import Program

    Array = NDArray[Any]

    Lengths = Mapping[str, int | tuple[str, ...]]
    """How long ReadWrite buffers are that nobody supplies: a number, or the names of buffers of which the
    longest says it."""

_T = DataType
_ALIAS_WORK: Any = 10_000  # NumPy's stubs know only the two special values


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


def bind(
    program: Program,
    buffers: Mapping[str, Any],
    *,
    lengths: Lengths,
    copy: bool,
    zeroed: Collection[str] = (),
) -> Bound:
    """Checks everything the caller supplies and lays it out as bytes.

    `zeroed` names ReadWrite buffers whose contents do not matter: the caller of this clears those that are
    written where they lie, once nothing can be refused any more.
    """
    declared = {b.name: b for b in program.buffers if b.access.bound}
    refuse_unknown(program, declared, buffers)
    given = {
        name: array_of(decl, buffers[name], zeroed=name in zeroed)
        for name, decl in declared.items()
        if buffers.get(name) is not None
    }
    refuse_aliases(declared, given)
    found = {name: count_of(declared[name], array) for name, array in given.items()}
    slots: dict[str, Slot] = {}
    for name, decl in declared.items():
        if name in given:
            try:
                slot = slot_of(decl, buffers[name], given[name], copy=copy, zeroed=name in zeroed)
            except MemoryError:
                raise DeviceOutOfMemory(
                    f"the host does not have enough memory for a copy of buffer {name!r}, of "
                    f"{given[name].nbytes:,} bytes.",
                    fix="pass a contiguous array, which is not copied, or a shorter one.",
                ) from None
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
    return -(-array.nbytes // decl.element.stride) if array.dtype != BOOL else array.size


def length_of(name: str, lengths: Lengths, found: Mapping[str, int]) -> int | None:
    """The length of a buffer that nobody supplies, None where nothing says it; `found` counts the others."""
    wanted = lengths.get(name)
    return max(found[other] for other in wanted) if isinstance(wanted, tuple) else wanted


def array_of(decl: BufferDecl, value: Any, *, zeroed: bool) -> Array:
    """The caller's own memory as an array of the right dtype and shape; never a copy."""
    array = _import(decl, value, zeroed=zeroed)
    if not holds(decl.element, array.dtype):
        from vyre.backends.conversion import conversion

        fix = _made(decl, array.shape) if zeroed else conversion(decl.name, array, decl.element)
        if decl.access is BufferAccess.ReadWrite and not zeroed:
            fix += " That is a new array, and the one that will be written."
        _refuse_dtype(decl, array.dtype, fix)
    refuse_unfit(decl, array.dtype, array.shape)
    return array


def refuse_unfit(decl: BufferDecl, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """Refuses what cannot hold elements of `decl`."""
    if not holds(decl.element, dtype):
        call = f"vyre.array(…, {public_name(decl.element)})"
        _refuse_dtype(
            decl, dtype, f"convert it on the host with {call}, which refuses values that do not fit."
        )
    lanes = LANES.get(decl.element)
    if not shape:
        refuse(
            decl, "is a single number, not an array", f"pass vyre.array([x], {public_name(decl.element)})."
        )
    if lanes is not None and shape[-1] != lanes:
        refuse(
            decl,
            f"holds {decl.element.value} and has shape {shape}",
            f"pass an array of shape (n, {lanes}).",
        )


def _import(decl: BufferDecl, value: Any, *, zeroed: bool) -> Array:
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
        kind = type(value).__name__
        refuse(decl, f"got {'an' if kind[0] in 'aeio' else 'a'} {kind}", _instead(decl, value, zeroed=zeroed))
    try:
        return from_dlpack(value, written=decl.access is BufferAccess.ReadWrite)
    except Exception as error:  # every producer of DLPack has errors of its own
        raise DispatchError(
            f"buffer {decl.name!r} cannot be imported through DLPack: {error}",
            fix=f"pass {decl.name}.detach()."
            if "grad" in str(error)
            else "copy it to the CPU in a dtype that NumPy has; bfloat16 goes as uint16 bits.",
        ) from None


def _instead(decl: BufferDecl, value: Any, *, zeroed: bool) -> str:
    """What to pass for something that is not an array."""
    plain = isinstance(value, (int, float))
    if zeroed and not isinstance(value, (list, tuple)):
        length = "its length as a whole number, or " if plain else ""
        return f"omit {decl.name}, or pass {length}an array of np.{STORAGE[decl.element].name}."
    if plain or isinstance(value, (list, tuple)):
        given = f"[{decl.name}]" if plain else decl.name
        return f"pass vyre.array({given}, {public_name(decl.element)})."
    if hasattr(value, "__array__"):
        return f"pass np.asarray({decl.name})."
    return f"pass an array of np.{STORAGE[decl.element].name}."


def _raw(decl: BufferDecl, value: bytes | bytearray) -> Array:
    expected = STORAGE[decl.element]
    if decl.element is not _T.Bytes and len(value) % decl.element.stride:
        refuse(
            decl,
            f"got {len(value)} raw bytes, which are not a whole number of {decl.element.value} elements",
            f"pass a multiple of {decl.element.stride} bytes.",
        )
    array = np.frombuffer(value, expected) if value else np.zeros(0, expected)
    return array.reshape(-1, LANES[decl.element]) if decl.element in LANES else array


def _zeros(decl: BufferDecl, length: int | None) -> Slot:
    count, shape = zeros_shape(decl, length)
    dtype = BOOL if decl.element is _T.Bool else STORAGE[decl.element]
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
    """Refuses names that are not buffers of the program."""
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
            fix=f"{hint}Choose one of {', '.join(declared)}." if declared else "leave it out.",
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
                read = next((n for n in (first, second) if not declared[n].access.writable), None)
                raise DispatchError(
                    f"buffers {first!r} and {second!r} share memory, and one of them is writable.",
                    fix=f"pass a copy of {read!r}, which is only read." if read else "pass separate arrays.",
                )


def _overlap(a: Array, b: Array) -> bool:
    try:
        return np.shares_memory(a, b, max_work=_ALIAS_WORK)
    except np.exceptions.TooHardError:  # cannot be decided cheaply, so it is not allowed
        return True


def _refuse_dtype(decl: BufferDecl, have: np.dtype[Any], fix: str) -> NoReturn:
    refuse(decl, f"holds {decl.element.value} and got {_dtype_name(have)}", fix)


def _made(decl: BufferDecl, shape: tuple[int, ...]) -> str:
    """An output whose contents do not matter is made anew, not converted."""
    return f"omit {decl.name}, or pass np.zeros({shape}, np.{STORAGE[decl.element].name})."


def _dtype_name(dtype: np.dtype[Any]) -> str:
    return f"big-endian {dtype.name}" if dtype.byteorder == ">" else dtype.name


def _example(decl: BufferDecl) -> str:
    n = str(decl.count or "n")
    shape = f"({n}, {LANES[decl.element]})" if decl.element in LANES else n
    return f"{decl.name}=np.zeros({shape}, np.{STORAGE[decl.element].name})"
