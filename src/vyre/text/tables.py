"""The elements of a constant table: numbers in braces, each the bits of one element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.ir.limits import MAX_CONSTANT_BYTES

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.text.lexer import Cursor

_BYTES_A_LINE: Final = 32


def table_text(element: DataType, data: bytes) -> str:
    """The lines between the braces."""
    stride = element.stride
    step = max(1, _BYTES_A_LINE // stride) * stride
    lines = (data[at : at + step] for at in range(0, len(data), step))
    return "".join(f"  {_values(line, stride)},\n" for line in lines)


def _values(data: bytes, stride: int) -> str:
    values = (int.from_bytes(data[at : at + stride], "little") for at in range(0, len(data), stride))
    return ", ".join(f"0x{value:0{2 * stride}x}" for value in values)


def table(
    c: Cursor,
    element: DataType,
    *,
    code: str = "V050",
    limit: int = MAX_CONSTANT_BYTES,
    instead: str = "pass the table as a buffer.",
) -> bytes:
    """The bytes of the elements up to the closing brace, which is consumed too.

    `code` is the rule that allows `limit` bytes, and `instead` what to do with more.
    """
    fix = "write the elements by their bits, as in constant U32 { 1, 0x80 }."
    c.expect("{", context="before the elements", fix=fix)
    stride = element.stride
    data = bytearray()
    while c.kind != "}":
        at = c.at
        value = c.integer("an element of the table", low=0, fix=fix)
        if value >> (8 * stride):
            raise c.error(f"{c.values[at][:40]} has more bits than one {element.value}.", fix=fix, at=at)
        data += value.to_bytes(stride, "little")
        if len(data) > limit:
            raise c.error(f"{code}: a table of more than {limit} bytes.", fix=instead)
        if not c.take(","):
            break
    c.expect("}", context="after the elements", fix=fix)
    return bytes(data)
