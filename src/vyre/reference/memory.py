"""Memory as the language defines it: little-endian bytes, total on every index.

An element out of bounds loads as zero, and a store there does nothing. A Bool loads as 0 or 1,
whatever bytes the host put there (decision 5). F16 and BF16 are packed in 2 bytes, `Bytes` is
addressed in u32 words (decision 16). Narrow integers are extended to a word by their sign and stored by
their low bits (decision 32).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import DispatchError, InterpreterError
from vyre.ir.buffers import BufferAccess
from vyre.ir.limits import MAX_CALL_INPUT_BYTES, MAX_UNIFORM_BYTES, MAX_WORKGROUP_BYTES, U32_MAX
from vyre.ir.types import NARROW_TYPES, SIGNED_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

HostBytes = bytes | bytearray | memoryview


class Buffer:
    """The bytes of one buffer, read and written by element."""

    __slots__ = ("_bool", "_kept", "_signed", "_stride", "data", "length")

    def __init__(self, element: DataType, data: bytearray) -> None:
        self.data = data
        self.length = len(data) // element.stride
        self._stride = element.stride
        self._bool = element is DataType.Bool
        self._signed = element in SIGNED_TYPES
        self._kept = (1 << element.bits) - 1 if element in NARROW_TYPES else 0

    def load(self, index: int) -> int:
        if index >= self.length:
            return 0
        at = index * self._stride
        value = int.from_bytes(self.data[at : at + self._stride], "little", signed=self._signed)
        if self._signed:
            return value & U32_MAX
        return int(value != 0) if self._bool else value

    def store(self, index: int, value: int) -> None:
        if index < self.length:
            at = index * self._stride
            kept = value & self._kept if self._kept else value
            self.data[at : at + self._stride] = kept.to_bytes(self._stride, "little")


def host_buffers(program: Program, supplied: Mapping[str, HostBytes]) -> dict[str, Buffer]:
    """A private copy of every storage and uniform buffer; the host's bytes are never changed."""
    bound = [decl for decl in program.buffers if decl.access.bound]
    unknown = sorted(set(supplied) - {decl.name for decl in bound})
    if unknown:
        raise DispatchError(
            f"the program has no storage or uniform buffer named {unknown[0]!r}.",
            fix=f"pass buffers for {', '.join(decl.name for decl in bound) or 'none'} only.",
        )
    return {decl.name: Buffer(decl.element, _host_bytes(decl, supplied.get(decl.name))) for decl in bound}


def _host_bytes(decl: BufferDecl, supplied: HostBytes | None) -> bytearray:
    if not isinstance(decl.count, int) or decl.count < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InterpreterError(
            f"buffer {decl.name} is declared with {decl.count} elements.", fix="declare a count of 0 or more."
        )
    expected = decl.count * decl.element.stride
    if supplied is None:
        if decl.access is not BufferAccess.ReadWrite:
            raise DispatchError(
                f"no bytes were supplied for the {decl.access.value} buffer {decl.name}.",
                fix=f"pass buffers={{{decl.name!r}: ...}}; only ReadWrite buffers start as zeros.",
            )
        _limit(f"buffer {decl.name}", expected, MAX_CALL_INPUT_BYTES)
        return bytearray(expected)
    if not isinstance(supplied, bytes | bytearray | memoryview):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"buffer {decl.name} is a {type(supplied).__name__}, not bytes.",
            fix="pass the raw little-endian bytes (array.tobytes() for a NumPy array).",
        )
    length = supplied.nbytes if isinstance(supplied, memoryview) else len(supplied)
    _limit(f"buffer {decl.name}", length, MAX_CALL_INPUT_BYTES)
    if length % decl.element.stride:
        raise DispatchError(
            f"buffer {decl.name} has {length} bytes, which is not a whole number of {decl.element.value} "
            f"elements of {decl.element.stride} bytes.",
            fix=f"pad it to a multiple of {decl.element.stride} bytes.",
        )
    if decl.count and length != expected:
        raise DispatchError(
            f"buffer {decl.name} has {length} bytes, but its {decl.count} {decl.element.value} elements "
            f"take {expected}.",
            fix=f"pass {expected} bytes, or declare count 0 to size it from the host.",
        )
    if decl.access is BufferAccess.Uniform and length > MAX_UNIFORM_BYTES:
        raise DispatchError(
            f"uniform buffer {decl.name} has {length} bytes; the limit is {MAX_UNIFORM_BYTES}.",
            fix="make it a ReadOnly buffer.",
        )
    return bytearray(supplied)


def check_own_memory(program: Program) -> None:
    """Refuses memory of a workgroup or an invocation over the interpreter's limit (decision 17)."""
    total = sum(decl.count * decl.element.stride for decl in program.buffers if decl.access.shared)
    _limit("workgroup memory", total, MAX_WORKGROUP_BYTES)
    _limit("private memory", private_bytes(program), MAX_WORKGROUP_BYTES)


def private_bytes(program: Program) -> int:
    """Bytes that one invocation has to itself."""
    private = (decl for decl in program.buffers if decl.access is BufferAccess.Private)
    return sum(decl.count * decl.element.stride for decl in private)


def constant_buffers(program: Program) -> dict[str, Buffer]:
    """The tables that the program brings along."""
    constant = (decl for decl in program.buffers if decl.access is BufferAccess.Constant)
    return {decl.name: Buffer(decl.element, bytearray(decl.data)) for decl in constant}


def zeroed(decl: BufferDecl) -> Buffer:
    """Fresh memory of a workgroup or an invocation."""
    return Buffer(decl.element, bytearray(decl.count * decl.element.stride))


def _limit(what: str, length: int, limit: int) -> None:
    if length > limit:
        raise InterpreterError(
            f"{what} takes {length} bytes; the reference interpreter's limit is {limit} (64 MiB).",
            fix="tile the computation into smaller dispatches.",
        )
