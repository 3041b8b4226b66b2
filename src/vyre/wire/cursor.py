"""Reading numbers, strings and tags from bytes that nobody trusts.

Every method refuses what no writer produces: a varint longer than needed, a number out of range, a
count beyond the bytes that are left, a byte that is not a tag. Reading past the end raises IndexError,
which `frame.opened` turns into the `WireError` of a truncated input.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

from vyre.errors import WireError
from vyre.wire.layout import MAX_STRING_BYTES

REWRITE: Final = "take the bytes from to_wire(), which writes the one canonical form."
DAMAGED: Final = "fetch the file again, or write it again with to_wire()."
NEWER: Final = "read it with the version of vyre that wrote it, or a later one."


def refuse(offset: int, message: str, fix: str = REWRITE) -> NoReturn:
    raise WireError(message, fix=fix, offset=offset)


def long_varint(data: bytes, start: int, high: int) -> tuple[int, int]:
    """A varint from `start` and the position after it; `high` bounds its value and so its length."""
    value = shift = 0
    pos = start
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if value > high:
            refuse(start, f"the number is over {high}.")
        if byte < 128:
            break
        shift += 7
        if shift > 63:
            refuse(start, "the varint is longer than any number of the format.")
    if byte == 0 and shift:
        refuse(start, "the varint is longer than its number needs.")
    return value, pos


class Cursor:
    """A position in the input, and how many entries of the string table have been used so far."""

    __slots__ = ("data", "pos", "strings", "used")

    def __init__(self, data: bytes, pos: int) -> None:
        self.data = data
        self.pos = pos
        self.strings = 0
        self.used = 0

    def varint(self, high: int) -> int:
        value = self.data[self.pos]
        if value < 128 and value <= high:
            self.pos += 1
        else:
            value, self.pos = long_varint(self.data, self.pos, high)
        return value

    def count(self, what: str, high: int, code: str, fix: str = "split the program.") -> int:
        """A count of entries of at least one byte each, so never more than there are bytes left."""
        start = self.pos
        value = self.varint((1 << 63) - 1)
        if value > len(self.data) - self.pos:
            refuse(start, f"{value} {what} cannot follow in {len(self.data) - self.pos} bytes.", DAMAGED)
        if value > high:
            refuse(start, f"{code}: {value} {what}, where the limit is {high}.", fix)
        return value

    def tag(self, members: tuple[Any, ...], what: str) -> Any:
        byte = self.data[self.pos]
        member = members[byte]
        if member is None:
            refuse(self.pos, f"{byte} is not a tag of {what}.", NEWER)
        self.pos += 1
        return member

    def string(self) -> str:
        start = self.pos
        length = self.varint(MAX_STRING_BYTES)
        end = self.pos + length
        if end > len(self.data):
            refuse(start, f"a string of {length} bytes runs past the end.", DAMAGED)
        try:
            text = self.data[self.pos : end].decode()
        except UnicodeDecodeError as error:
            refuse(self.pos + error.start, "the string is not valid UTF-8.", DAMAGED)
        self.pos = end
        return text

    def raw(self, length: int, what: str) -> bytes:
        """That many bytes as they are."""
        end = self.pos + length
        if end > len(self.data):
            refuse(self.pos, f"{what} of {length} bytes runs past the end.", DAMAGED)
        data = self.data[self.pos : end]
        self.pos = end
        return data

    def string_table(self, high: int) -> list[str]:
        """The strings that all names after them are indices of, each of them once."""
        count = self.count("strings", high, "V019")
        strings: dict[str, None] = {}
        for index in range(count):
            start = self.pos
            strings[self.string()] = None
            if len(strings) == index:
                refuse(start, f"string {index} repeats an earlier one.")
        self.strings = count
        return list(strings)

    def name(self) -> int:
        """An index into the string table, whose entries must come into use one after the other."""
        start = self.pos
        index = self.varint((1 << 32) - 1)
        self.used = use_name(start, index, self.used, self.strings)
        return index


def use_name(offset: int, index: int, used: int, strings: int) -> int:
    """How many strings are in use once `index` is; refuses an index that is not in first-use order."""
    if index < used:
        return used
    if index >= strings:
        refuse(offset, f"string {index} of {strings} does not exist.")
    if index > used:
        refuse(offset, f"string {index} is used before string {used}, so the table is out of order.")
    return used + 1
