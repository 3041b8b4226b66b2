"""Object files of our own, put into executable memory without LLVM: what a process needs to run kept kernels.

    linked(image)        the code, or None for an object that wants more than this module knows

Kernels are arithmetic on memory that they are handed, so that an object is code, constants and hardly ever
a variable, which point to each other and perhaps to `memset`, `fma` and their like. They are laid out in one
mapping, addresses and distances are written in, and the code is made executable and never written again. An
object with names or forms of addresses beyond these, and any other system than Linux on x86-64, are LLVM's
to load.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")

_ELF64 = b"\x7fELF\x02\x01\x01"
_RELOCATABLE, _X86_64 = 1, 62
_PROGBITS, _SYMTAB, _STRTAB, _RELA, _NOBITS = 1, 2, 3, 4, 8
_WRITE, _ALLOC = 1, 2
_UNDEFINED = 0
_ADDRESS, _PC32, _PLT32 = 1, 2, 4
_READ_EXEC = 5
_OUTSIDE = ("memset", "memcpy", "memmove", "fma", "fmaf")
"""What LLVM makes of loops that only move memory, and of fused products for a processor that has none."""
_MOST_ALIGN = 64
_JUMP = b"\xff\x25\x02\x00\x00\x00\x66\x90"
"""`jmp *2(%rip)` and a filling, behind which stands where to: code reaches 2 GiB with its own addresses."""
_REACH = 16
"""Bytes of such a jump."""


@dataclass(frozen=True, slots=True)
class Linked:
    """Functions by name, at addresses that are good for as long as this object lives."""

    functions: dict[str, int]
    memory: mmap.mmap


class _Foreign(Exception):
    """An object of a kind that is not linked here."""


def linked(image: bytes) -> Linked | None:
    if not _able():
        return None
    try:
        return _link(image)
    except (_Foreign, struct.error, IndexError, ValueError, OverflowError, OSError):
        return None


@cache
def _able() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64"


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    data: memoryview
    size: int
    link: int
    info: int
    align: int


def _link(image: bytes) -> Linked:
    sections = _sections(image)
    offsets: dict[int, int] = {}
    size = code = stubs = 0
    for writable in (0, _WRITE):
        for number, section in enumerate(sections):
            if section.flags & _ALLOC and section.flags & _WRITE == writable and section.name != ".eh_frame":
                if section.kind not in (_PROGBITS, _NOBITS) or section.align > _MOST_ALIGN:
                    raise _Foreign
                size = -(-size // section.align) * section.align
                offsets[number] = size
                size += section.size
        if not writable:
            stubs = size = -(-size // _REACH) * _REACH
            size += _REACH * len(_OUTSIDE)
            code = size = -(-max(size, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for number, start in offsets.items():
        memory[start : start + sections[number].data.nbytes] = sections[number].data
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    outside: dict[str, int] = {}
    for number, name in enumerate(_OUTSIDE):
        there = _outside(name)
        if there is None:
            continue
        start = stubs + _REACH * number
        memory[start : start + _REACH] = _JUMP + struct.pack("<Q", there)
        outside[name] = base + start
    functions: dict[str, int] = {}
    for number, table in enumerate(sections):
        if table.kind == _SYMTAB:
            symbols = _symbols(sections, number, {k: base + start for k, start in offsets.items()}, outside)
            functions |= {name: place for name, place in symbols if name and place is not None}
            for section in sections:
                if section.kind == _RELA and section.link == number and section.info in offsets:
                    _relocate(memory, section, base, offsets[section.info], symbols)
    library = _library()
    if library.mprotect(ctypes.c_void_p(base), ctypes.c_size_t(code), _READ_EXEC):
        raise _Foreign  # a system on which nobody but LLVM may do this, if anybody
    return Linked(functions, memory)


def _sections(image: bytes) -> list[_Section]:
    head = _HEADER.unpack_from(image)
    if not head[0].startswith(_ELF64) or head[1:3] != (_RELOCATABLE, _X86_64) or head[11] != _SECTION.size:
        raise _Foreign
    rows: list[tuple[int, ...]] = [
        _SECTION.unpack_from(image, head[6] + k * _SECTION.size) for k in range(head[12])
    ]
    whole = memoryview(image)
    found: list[_Section] = []
    number: int = head[13]
    names = rows[number]
    for name, kind, flags, _, offset, size, link, info, align, _ in rows:
        data = whole[offset : offset + size] if kind in (_PROGBITS, _SYMTAB, _STRTAB, _RELA) else whole[:0]
        named = _name(image, names[4] + name)
        found.append(_Section(named, kind, flags, data, size, link, info, max(align, 1)))
    return found


def _name(image: bytes | memoryview, start: int) -> str:
    data = bytes(image[start : start + 200])
    return data[: data.index(0)].decode()


def _symbols(
    sections: list[_Section], table: int, starts: dict[int, int], outside: dict[str, int]
) -> list[tuple[str, int | None]]:
    """Name and address of each symbol; no address for what is not known here."""
    found: list[tuple[str, int | None]] = []
    names = sections[sections[table].link].data
    for start, _, _, section, value, _ in _SYMBOL.iter_unpack(sections[table].data):
        name = _name(names, start)
        if section == _UNDEFINED and name in outside:
            found.append((name, outside[name]))
        else:
            found.append((name, starts[section] + value if section in starts else None))
    return found


def _relocate(
    memory: mmap.mmap, table: _Section, base: int, start: int, symbols: list[tuple[str, int | None]]
) -> None:
    """Writes the address of a symbol, or the distance to it, wherever one is wanted."""
    rows: Iterator[tuple[int, int, int]] = _RELOCATION.iter_unpack(table.data)
    for offset, info, addend in rows:
        kind, (_, place) = info & 0xFFFFFFFF, symbols[info >> 32]
        if place is None:
            raise _Foreign
        if kind == _ADDRESS:
            struct.pack_into("<Q", memory, start + offset, place + addend)
        elif kind in (_PC32, _PLT32):
            struct.pack_into("<i", memory, start + offset, place + addend - (base + start + offset))
        else:
            raise _Foreign


@cache
def _outside(name: str) -> int | None:
    """The address of a function of the C library; None where this process has not loaded it."""
    try:
        return ctypes.cast(_library()[name], ctypes.c_void_p).value
    except AttributeError:
        return None


@cache
def _library() -> Any:
    return ctypes.CDLL(None)
