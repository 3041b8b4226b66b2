"""The binary form of programs and graphs: canonical, bounded, safe on hostile input (`docs/wire-form.md`).

Equal programs have equal bytes, and every byte string that `decode` accepts is what `encode` gives
for the program it holds; so have graphs. Purely structural: neither need be valid, only within the limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.wire.digest import byte_digest, meaning_digest
from vyre.wire.layout import GRAPH_MAGIC, MAGIC, MAX_STRING_BYTES, VERSION
from vyre.wire.writer import encode

if TYPE_CHECKING:
    from vyre.graph.graph import Graph
    from vyre.ir.program import Program

__all__ = [
    "GRAPH_MAGIC",
    "MAGIC",
    "MAX_STRING_BYTES",
    "VERSION",
    "byte_digest",
    "decode",
    "decode_graph",
    "encode",
    "encode_graph",
    "meaning_digest",
]


def decode(data: bytes | bytearray | memoryview) -> Program:
    """The program whose wire form `data` is; `WireError` for everything else."""
    from vyre.wire.reader import decode  # who runs programs reads none

    return decode(data)


def encode_graph(graph: Graph) -> bytes:
    """The one wire form of a graph; `WireError` when it is beyond the limits."""
    from vyre.wire.graph_writer import encode_graph  # who has programs alone does not wait for graphs

    return encode_graph(graph)


def decode_graph(data: bytes | bytearray | memoryview) -> Graph:
    """The graph whose wire form `data` is; `WireError` for everything else."""
    from vyre.wire.graph_reader import decode_graph

    return decode_graph(data)
