"""The u32 words at which arithmetic goes wrong."""

from __future__ import annotations

MAX = 0xFFFF_FFFF
TOP = 0x8000_0000
EDGES = (
    *(0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000),
    *(0xFF_FFFF, 0x100_0000, 0x100_0001, 0x5555_5555, 0x7FFF_FFFF, TOP, TOP + 1, 0xAAAA_AAAA),
    *(0xFFFF_0000, MAX - 1, MAX),
)
"""Values at which u32 arithmetic goes wrong: around 0, powers of two, 2^24 (floats), 2^31 and 2^32."""
