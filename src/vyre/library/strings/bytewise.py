"""Bytes that become other bytes, each by itself."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, packed_bytes, u32
from vyre.errors import DispatchError, boundary
from vyre.library.matching.walking import host
from vyre.library.messages import grid, words_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

_UPPER = bytes(range(256)).upper()
_LOWER = bytes(range(256)).lower()


@vyre.kernel
def _translate(data: In[packed_bytes], table: In[u32, Literal[256]], out: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(out):
        word = data[i]
        low = table[word & 255] | table[word >> 8 & 255] << 8
        out[i] = low | table[word >> 16 & 255] << 16 | table[word >> 24] << 24


@boundary
def translate(data: Any, table: bytes, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """`table[b]` for each byte b, as `bytes.translate`."""
    whole, _ = words_of(table, "the table", backend)
    if whole.size != 256:
        raise DispatchError(
            f"the table has {whole.size} bytes, not 256.", fix="pass one for each value of a byte."
        )
    given, backend = words_of(data, "data", backend)
    words = -(-given.size // 4)
    if not words:
        return np.zeros(0, np.uint8)
    entries = host(whole).astype(np.uint32)
    made = host(_translate(given, entries, words, workgroups=grid(words), backend=backend))
    return made.view(np.uint8)[: given.size]


@boundary
def upper(data: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """ASCII letters in capitals, the other bytes as they are."""
    return translate(data, _UPPER, backend=backend)


@boundary
def lower(data: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """ASCII letters in small ones, the other bytes as they are."""
    return translate(data, _LOWER, backend=backend)


@boundary
def is_any(data: Any, members: bytes, *, backend: str | Backend | None = None) -> NDArray[np.uint8]:
    """1 for each byte that is one of `members`, else 0."""
    given: Any = members
    try:
        found = set(map(index, given))
    except TypeError:
        raise DispatchError(
            f"members is {type(given).__name__}, not bytes.",
            fix="pass bytes, such as b'0123456789'; encode text with x.encode().",
        ) from None
    return translate(data, bytes(int(b in found) for b in range(256)), backend=backend)
