"""A PNG from an array of bytes, for the examples that draw: what Python brings along is enough."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any


def save_png(path: str, pixels: Any) -> None:
    """Writes [rows, columns] as greys, or [rows, columns, 3] as colours; the elements are uint8."""
    rows, columns = pixels.shape[:2]
    colour = 2 if pixels.ndim == 3 else 0
    lines = b"".join(b"\0" + pixels[row].tobytes() for row in range(rows))
    header = struct.pack(">IIBBBBB", columns, rows, 8, colour, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    data = b"".join(_chunk(kind, content) for kind, content in parts)
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + data)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
