"""Pieces of bytes that lie anywhere, brought together one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vyre
from vyre import In, Out, packed_bytes, u32
from vyre.library.messages import grid
from vyre.library.reading import byte_at, owner, run_of, word_at

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend


@vyre.kernel
def _joined(data: In[packed_bytes], starts: In[u32], offsets: In[u32], out: Out[u32], each: u32) -> None:
    """The bytes, four in a word, of pieces that begin at `starts` in `data`, and at `offsets` in the result.

    An invocation looks for the piece of the first of `each` words, and goes on from there.
    """
    first = (vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)) * each
    if first >= len(out):
        return
    row, size = owner(offsets, 4 * first), offsets[len(offsets) - 1]
    for i in range(first, min(first + each, len(out))):
        place = 4 * u32(i)
        while vyre.bounded(place >= offsets[row + 1], 0xFFFFFFFF):
            row += 1
        word = u32(0)
        if place + 4 <= offsets[row + 1]:
            word = word_at(data, starts[row] + place - offsets[row])
        else:
            for k in range(4):
                if place + u32(k) < size:
                    while vyre.bounded(place + u32(k) >= offsets[row + 1], 0xFFFFFFFF):
                        row += 1
                    word |= byte_at(data, starts[row] + place + u32(k) - offsets[row]) << (8 * u32(k))
        out[i] = word


def joined(
    data: Any, starts: NDArray[np.uint32], offsets: NDArray[np.uint32], backend: str | Backend | None
) -> Any:
    """Whole words of the result, with zeros behind the last byte, where `data` is; there is at least one."""
    words, each = -(-int(offsets[-1]) // 4), run_of(backend)
    return _joined(data, starts, offsets, words, each, workgroups=grid(-(-words // each)), backend=backend)
