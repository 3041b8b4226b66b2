"""Rows of 32-bit integers made small: zigzag, differences, runs and bit packing; and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, engines, u32
from vyre.errors import DispatchError, boundary, whole
from vyre.library.decoding.result import Decoded, place_of
from vyre.library.messages import grid, native
from vyre.library.reading import owner, run_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend


@vyre.kernel
def _zigzag(x: In[u32], out: Out[u32], back: u32) -> None:
    """The sign goes to the lowest bit, and the others are flipped where it is set; or back."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(x):
        to = (x[i] << 1) ^ (0 - (x[i] >> 31))
        out[i] = (x[i] >> 1) ^ (0 - (x[i] & 1)) if back > 0 else to


@vyre.kernel
def _differences(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(x):
        out[i] = x[i] - (x[i - 1] if i > 0 else 0)


@vyre.kernel
def _begins(x: In[u32], out: Out[u32]) -> None:
    """1 where a run begins."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(x):
        out[i] = i == 0 or x[i] != x[i - 1]


@vyre.kernel
def _runs(x: In[u32], begins: In[u32], places: In[u32], values: Out[u32], starts: Out[u32]) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(x) and begins[i] == 1:
        values[places[i] - 1] = x[i]
        starts[places[i] - 1] = i


@vyre.kernel
def _spread(values: In[u32], starts: In[u32], out: Out[u32], each: u32) -> None:
    """An invocation looks for the run of the first of `each` elements, and goes on from there."""
    first = (vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)) * each
    if first >= len(out):
        return
    run = owner(starts, first)
    for i in range(first, min(first + each, len(out))):
        while vyre.bounded(i >= starts[run + 1], 0xFFFFFFFF):
            run += 1
        out[i] = values[run]


@vyre.kernel
def _pack(x: In[u32], out: Out[u32], error: Out[u32, Literal[1]], width: u32) -> None:
    """A word of the result an invocation: the elements of which it has some bits, each moved to its place."""
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i >= len(out):
        return
    first = i // width * 32 + i % width * 32 // width
    word = u32(0)
    for k in range(first, min(first + 33, len(x))):
        # Where element k begins, in bits after the first of this word; below it, as a large number.
        place = (k // 32 * width - i) * 32 + k % 32 * width
        if width < 32 and x[k] >> width > 0:
            vyre.atomic_max(error, 0, ~k)
        if place < 32:
            word |= x[k] << place
        elif place < 0x80000000:
            break
        elif 0 - place < 32:
            word |= x[k] >> (0 - place)
    out[i] = word


@vyre.kernel
def _unpack(words: In[u32], out: Out[u32], width: u32) -> None:
    i = vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)
    if i < len(out):
        bit = i % 32 * width
        place, shift = i // 32 * width + bit // 32, bit % 32
        both = words[place] >> shift | (words[place + 1] << 1) << (31 - shift)
        out[i] = both & (u32(0xFFFFFFFF) >> (32 - width))


def _row(values: Any, what: str, *kinds: type[np.generic]) -> NDArray[Any]:
    """A row of 32-bit integers, in the machine's own order of bytes, so that its memory is its bits."""
    given = native(what, values)
    if given.ndim != 1 or given.dtype.type not in kinds:
        raise DispatchError(
            f"{what} has the type {given.dtype} and the shape {given.shape}.",
            fix=f"pass a row of {' or '.join(np.dtype(k).name for k in kinds)}.",
        )
    return given


def _width(width: int) -> int:
    width = whole("width", width)
    if not 1 <= width <= 32:
        raise DispatchError(f"a width of {width} bits is not possible.", fix="pass 1 to 32.")
    return width


@boundary
def encode_zigzag(values: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint32]:
    """0, -1, 1, -2, … of int32 as 0, 1, 2, 3, … of uint32."""
    given = _row(values, "values", np.int32).view(np.uint32)
    return _zigzag(given, np.zeros_like(given), 0, workgroups=grid(len(given)), backend=backend)


@boundary
def decode_zigzag(values: Any, *, backend: str | Backend | None = None) -> NDArray[np.int32]:
    """The int32 of each uint32."""
    given = _row(values, "values", np.uint32)
    made = _zigzag(given, np.zeros_like(given), 1, workgroups=grid(len(given)), backend=backend)
    return made.view(np.int32)


@boundary
def encode_delta(values: Any, *, backend: str | Backend | None = None) -> NDArray[Any]:
    """Each element less the one before it, modulo 2^32; the first stays. int32 or uint32, as it was given."""
    given = _row(values, "values", np.uint32, np.int32)
    bits = given.view(np.uint32)
    made = _differences(bits, np.zeros_like(bits), workgroups=grid(len(bits)), backend=backend)
    return made.view(given.dtype)


@boundary
def decode_delta(values: Any, *, backend: str | Backend | None = None) -> NDArray[Any]:
    """The sums of what `encode_delta` gives."""
    given = _row(values, "values", np.uint32, np.int32)
    return engines.scan(given.view(np.uint32), backend=backend).view(given.dtype)


@boundary
def encode_runs(
    values: Any, *, backend: str | Backend | None = None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The value of each run of equal uint32, and how long it is."""
    given = _row(values, "values", np.uint32)
    if not len(given):
        return given.copy(), given.copy()
    turns = grid(len(given))
    begins = _begins(given, np.zeros_like(given), workgroups=turns, backend=backend)
    places = engines.scan(begins, backend=backend)
    count = int(places[-1])
    found, starts = _runs(
        given, begins, places, np.zeros(count, np.uint32), np.zeros(count, np.uint32),
        workgroups=turns, backend=backend,
    )  # fmt: skip
    return found, np.diff(starts, append=np.uint32(len(given)))


@boundary
def decode_runs(values: Any, lengths: Any, *, backend: str | Backend | None = None) -> NDArray[np.uint32]:
    """Each value as often as its length says, which may be 0."""
    given, counts = _row(values, "values", np.uint32), _row(lengths, "lengths", np.uint32)
    total = int(counts.sum(dtype=np.uint64))
    if len(given) != len(counts):
        raise DispatchError(f"got {len(counts)} lengths for {len(given)} values.", fix="pass one for each.")
    if total >= 1 << 32:
        raise DispatchError(
            f"the runs have {total} elements, more than one call gives.",
            fix="decode them in parts of under 2^32.",
        )
    if not total:
        return np.zeros(0, np.uint32)
    starts = np.concatenate([np.zeros(1, np.uint32), engines.scan(counts, backend=backend)])
    out, each = np.zeros(total, np.uint32), run_of(backend)
    return _spread(given, starts, out, each, workgroups=grid(-(-total // each)), backend=backend)


@boundary
def pack_bits(values: Any, width: int, *, backend: str | Backend | None = None) -> Decoded:
    """The low `width` bits of each uint32, one after another from the lowest bit of the first word on.

    An element that has more bits does not belong; the words then hold what comes before it.
    """
    given = _row(values, "values", np.uint32)
    words = -(-len(given) * _width(width) // 32)
    made, mark = _pack(
        given, np.zeros(words, np.uint32), width=width, workgroups=grid(words), backend=backend
    )
    error = place_of(mark)
    if error is not None:
        return Decoded(pack_bits(given[:error], width, backend=backend).values, error)
    return Decoded(made, None)


@boundary
def unpack_bits(words: Any, count: int, width: int, *, backend: str | Backend | None = None) -> Decoded:
    """`count` elements of `width` bits; where the words end before, the error is the first one missing."""
    given = _row(words, "words", np.uint32)
    count = whole("count", count)
    if count < 0:
        raise DispatchError(f"{count} elements cannot be unpacked.", fix="ask for 0 or more.")
    there = min(count, len(given) * 32 // _width(width))
    made = _unpack(given, np.zeros(there, np.uint32), width, workgroups=grid(there), backend=backend)
    return Decoded(made, None if there == count else there)
