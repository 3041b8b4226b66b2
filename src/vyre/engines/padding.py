"""Bytes on a device that do not fill whole words, copied there to memory that they do."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.backends.device_buffer import device_zeros
from vyre.backends.dispatch import recently_compiled
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, LitU32, Var
from vyre.ir.node import Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.backends.device_buffer import DeviceBuffer
    from vyre.backends.protocol import ResidentBackend
    from vyre.ir.expr import Expr

_LANES = 256
_ROW = 1 << 15
"""Workgroups in a row of the grid."""


@cache
def _program() -> Program:
    """A word an invocation, with zeros behind the last byte."""
    data = BufferDecl.read("data", 0, DataType.U8)
    out = BufferDecl.read_write("out", 1, DataType.U32)
    i = Var("i")
    word: Expr = LitU32(0)
    for byte in range(4):
        word = word | (data[i * LitU32(4) + LitU32(byte)] << LitU32(8 * byte))
    index = InvocationId(0) + InvocationId(1) * LitU32(_LANES * _ROW)
    return Program((data, out), (_LANES, 1, 1), [Let("i", index), Store("out", i, word)])


def filled_up(held: DeviceBuffer, backend: ResidentBackend) -> DeviceBuffer:
    """A copy where the bytes are, with zeros behind them."""
    words = -(-held.size // 4)
    out = device_zeros((words,), np.uint32, backend=backend)
    groups = -(-words // _LANES)
    recently_compiled(_program(), backend)(
        {"data": held, "out": out}, workgroups=(min(groups, _ROW), -(-groups // _ROW), 1)
    )
    return out.seen_as(np.dtype(np.uint8))
