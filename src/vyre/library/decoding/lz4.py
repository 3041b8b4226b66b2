"""Blocks of LZ4, as its format describes them: an invocation a block, first to count and then to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import vyre
from vyre import In, InOut, Out, packed_bytes, u8, u32
from vyre.errors import DispatchError, boundary
from vyre.library.decoding.result import Unpacked, host
from vyre.library.messages import MOST_BYTES, grid, taken
from vyre.library.reading import byte_at

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

_MOST = 0x7FFFFFFF
"""Bytes that a block may unpack to."""

_NONE = 0xFFFFFFFF


@vyre.kernel
def _sizes(data: In[packed_bytes], bounds: In[u32], sizes: Out[u32], errors: Out[u32]) -> None:
    """The bytes that each block unpacks to, those before its error, and the place of that error."""
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    start, end = bounds[m], bounds[m + 1]
    at, made, error = start, u32(0), start
    done = u32(0)
    while vyre.bounded(done == 0, end - start + 1):
        begin = at
        error = begin
        done = 1
        if at < end:
            token = byte_at(data, at)
            at += 1
            literals, more = token >> 4, u32(0)
            if literals == 15:
                more = 255
            while vyre.bounded(more == 255 and at < end and literals <= _MOST, end - start):
                more = byte_at(data, at)
                literals += more
                at += 1
            # Where the last byte of a length is 255, or the literals are not all there, it is cut short.
            if more < 255 and literals <= end - at and literals <= _MOST - made:
                at += literals
                if at == end:
                    made += literals
                    error = _NONE
                elif end - at >= 2:
                    offset = byte_at(data, at) | (byte_at(data, at + 1) << 8)
                    if offset == 0 or offset > made + literals:
                        error = at
                    at += 2
                    length, again = token & 15, u32(0)
                    if length == 15:
                        again = 255
                    while vyre.bounded(again == 255 and at < end and length <= _MOST, end - start):
                        again = byte_at(data, at)
                        length += again
                        at += 1
                    fits = length <= _MOST - 4 and made + literals + length <= _MOST - 4
                    if error == begin and again < 255 and fits:
                        made += literals + length + 4
                        done = 0
    sizes[m] = made
    errors[m] = _NONE if error == _NONE else error - start


@vyre.kernel
def _filled(data: In[packed_bytes], bounds: In[u32], places: In[u32], out: InOut[u8]) -> None:
    """What each block unpacks to, from its place to the next; that all of it is there was seen before."""
    m = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if m >= len(bounds) - 1:
        return
    at, end = bounds[m], bounds[m + 1]
    to, stop = places[m], places[m + 1]
    while vyre.bounded(to < stop, stop - to):
        token = byte_at(data, at)
        at += 1
        literals, more = token >> 4, u32(0)
        if literals == 15:
            more = 255
        while vyre.bounded(more == 255, end - at):
            more = byte_at(data, at)
            literals += more
            at += 1
        for k in range(literals):
            out[to + k] = byte_at(data, at + k)
        at += literals
        to += literals
        if to < stop:
            offset = byte_at(data, at) | (byte_at(data, at + 1) << 8)
            at += 2
            length, more = token & 15, u32(0)
            if length == 15:
                more = 255
            while vyre.bounded(more == 255, end - at):
                more = byte_at(data, at)
                length += more
                at += 1
            for k in range(length + 4):
                out[to + k] = out[to + k - offset]
            to += length + 4


@boundary
def decode_lz4(blocks: Any, *, offsets: Any = None, backend: str | Backend | None = None) -> Unpacked:
    """What each block unpacks to; blocks are messages, each without the size that some programs put first.

    An error has the place in its block of an offset that is 0 or goes back beyond the beginning; of a
    sequence that is cut short, or with which a block has 2^31 bytes or more, the place where that begins.
    """
    found = taken(blocks, offsets, backend)
    n = found.count
    turns = grid(n)
    sizes = errors = np.zeros(0, np.uint32)
    if n:
        sizes, errors = _sizes(found.data, found.bounds, n, n, workgroups=turns, backend=found.backend)
        sizes, errors = host(sizes), host(errors)
    places = np.zeros(n + 1, np.uint64)
    np.cumsum(sizes, out=places[1:])
    if int(places[-1]) > MOST_BYTES:
        raise DispatchError(
            f"the blocks unpack to {int(places[-1])} bytes, more than the {MOST_BYTES} of one call.",
            fix="pass fewer blocks in each call.",
        )
    out = np.zeros(int(places[-1]), np.uint8)
    if out.size:
        out = _filled(
            found.data, found.bounds, places.astype(np.uint32), out,
            workgroups=turns, backend=found.backend,
        )  # fmt: skip
    return Unpacked(
        host(out), places.astype(np.uint32), np.where(errors == _NONE, -1, errors.astype(np.int64))
    )
