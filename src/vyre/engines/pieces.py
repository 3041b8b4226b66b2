"""Arrays of the host that are larger than a buffer of the device may be: piece after piece, the same bits.

A piece has as many elements as fit a buffer, a power of two, so that the tree of floats splits where pieces
end. What an operation carries from one piece to the next goes through the engine again, as an element
in front: so every join is made by the device. Sorted pieces are merged in stretches that fit a buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.backends.chosen import chosen
from vyre.backends.foreign import plain_array
from vyre.backends.registry import described
from vyre.engines.memory import host_output
from vyre.engines.order import element_of
from vyre.engines.plan import Space
from vyre.errors import DispatchError
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Array = NDArray[Any]
    Pairs = tuple[Array, Array | None]

_FEWEST = 4
"""Elements of a piece below which a device can do nothing."""


def piece_of(backend: str | Backend | None, *arrays: Any) -> int:
    """Elements of a piece of these arrays, which are of equal length; 0 where they are taken as a whole: all
    fit, or some are not on the host."""
    if not all(isinstance(array, np.ndarray) for array in arrays):
        return 0
    most = described(chosen(backend)).limits.buffer_bytes
    if most is None or all(array.nbytes <= most for array in arrays):
        return 0
    count = most // max(array.itemsize for array in arrays)
    return 1 << (count.bit_length() - 1) if count >= _FEWEST else 0


def flat(array: Array) -> Array:
    """An array of any class, a file that is mapped to memory among them, as a plain row of its elements."""
    return plain_array("the array", array).reshape(-1)


def require_countable(array: Array) -> None:
    """Raises `DispatchError` for more elements than the results of an engine can number or count."""
    if array.size > U32_MAX:
        raise DispatchError(
            f"{array.size} elements are more than a uint32 can number.",
            fix="pass parts of the array, and put their results together.",
        )


def pieces(array: Array, each: int) -> Iterator[Array]:
    array = flat(array)
    return (array[first : first + each] for first in range(0, len(array), each))


def joined(array: Array, each: int, reduce: Callable[[Array], Any]) -> Any:
    """Of an operation whose joins may be grouped at multiples of `each`: that of the joins of all pieces."""
    return reduce(np.array([reduce(piece) for piece in pieces(array, each)]))


def scanned(
    array: Array, heads: Array | None, each: int, scan: Callable[..., Array], *, inclusive: bool
) -> Iterator[Array]:
    """The pieces of a scan. `scan(elements, heads, inclusive)` is that of a piece."""
    array, heads = flat(array), None if heads is None else flat(heads)
    before = array[:0]  # the join of all since the last head
    for first in range(0, len(array), each - 1):
        part = array[first : first + each - 1]
        marks = None
        if heads is not None:
            marks = np.concatenate([np.zeros(len(before), heads.dtype), heads[first : first + each - 1]])
        found = scan(np.concatenate([before, part]), marks, inclusive)[len(before) :]
        yield found
        before = found[-1:] if inclusive else scan(np.append(found[-1:], part[-1:]), None, True)[-1:]


def together(parts: Iterable[Array], out: Any, *given: Array) -> Any:
    """As many results as there are elements, in `out` or a new array; its type is that of the elements, which
    are given first."""
    elements = given[0]
    if out is not None:
        space = Space(element_of(elements, "elements"), elements.size)
        found = host_output("output", space, out, given)
    else:
        found = np.empty(elements.size, elements.dtype)
    place = 0
    for part in parts:
        found[place : place + len(part)] = part
        place += len(part)
    return found


def as_bytes(data: Any) -> Any:
    """Bytes as an array; what is none, and on the host, stays as it is."""
    return np.frombuffer(data, np.uint8) if isinstance(data, (bytes, bytearray)) else data


def counted(array: Array, each: int, histogram: Callable[[Array], Array]) -> Array:
    require_countable(array)
    parts = [histogram(piece) for piece in pieces(array, each)]
    return cast("Array", np.add.reduce(parts, dtype=parts[0].dtype))


def kept(array: Array, flags: Array, each: int, compact: Callable[[Array, Array], Array]) -> Array:
    both = zip(pieces(array, each), pieces(flags, each), strict=True)
    return np.concatenate([compact(*piece) for piece in both])


def sorted_pairs(
    keys: Array, values: Array | None, each: int, sort: Callable[..., Pairs], *, descending: bool
) -> Pairs:
    """Keys in order, and the values that go with them. `sort(keys, values)` does it with a piece, stably."""
    keys, values = flat(keys), None if values is None else flat(values)
    held = np.empty_like(keys), None if values is None else np.empty_like(values)
    for first in range(0, len(keys), each):
        part = slice(first, first + each)
        _put(held, part, sort(keys[part], None if values is None else values[part]))
    other = np.empty_like(keys), None if values is None else np.empty_like(values)
    length = each
    while length < len(keys):
        for first in range(0, len(keys), 2 * length):
            _merge(held, other, first, length, each, sort, descending)
        held, other = other, held
        length *= 2
    return held


def _merge(
    held: Pairs, into: Pairs, first: int, length: int, each: int, sort: Callable[..., Pairs], descending: bool
) -> None:
    """Two neighbouring stretches of `length` in order, as one; of equal keys those of the first come first.

    `each` elements of the result are a part of the one and a part of the other, which are sorted together.
    """
    keys, values = held
    middle, end = min(first + length, len(keys)), min(first + 2 * length, len(keys))
    left, right = keys[first:middle], keys[middle:end]
    codes = Codes(left, descending), Codes(right, descending)
    begun = 0
    for place in range(0, end - first, each):
        stop = min(place + each, end - first)
        taken = rank(*codes, stop)
        parts = (
            slice(first + begun, first + taken),
            slice(middle + place - begun, middle + stop - taken),
        )
        found = sort(
            np.concatenate([keys[part] for part in parts]),
            None if values is None else np.concatenate([values[part] for part in parts]),
        )
        _put(into, slice(first + place, first + stop), found)
        begun = taken


def _put(held: Pairs, part: slice, found: Pairs) -> None:
    for to, of in zip(held, found, strict=True):
        if to is not None:
            to[part] = of


class Codes:
    """Keys as numbers that compare as the engines' order does: floats in their total order, by their bits."""

    def __init__(self, keys: Array, descending: bool) -> None:
        self._bits = keys.view(f"u{keys.itemsize}")
        self._top = 1 << (8 * keys.itemsize - 1)
        self._kind = keys.dtype.kind
        self._sign = -1 if descending else 1

    def __len__(self) -> int:
        return len(self._bits)

    def __getitem__(self, place: int) -> int:
        word = int(self._bits[place])
        if self._kind == "i" or (self._kind == "f" and word < self._top):
            word ^= self._top
        elif self._kind == "f":
            word ^= 2 * self._top - 1
        return self._sign * word


def rank(left: Codes, right: Codes, count: int) -> int:
    """How many of the first `count` of both, merged, are of `left`, whose come first among equals."""
    low, high = max(0, count - len(right)), min(count, len(left))
    while low < high:
        middle = (low + high) // 2
        if left[middle] <= right[count - middle - 1]:
            low = middle + 1
        else:
            high = middle
    return low


def once(keys: Array, each: int, unique: Callable[[Array], Array]) -> Array:
    """Every key once of keys in order."""
    found: list[Array] = []
    for piece in pieces(keys, each):
        part = unique(piece)
        same = bool(found) and found[-1][-1:].tobytes() == part[:1].tobytes()
        found.append(part[same:])
        if not len(found[-1]):
            found.pop()
    return np.concatenate(found)


def by_key(
    keys: Array, values: Array, each: int, reduce: Callable[[Array, Array], tuple[Array, Array]]
) -> tuple[Array, Array]:
    """Runs of equal keys and their joins; a run that goes on in the next piece is joined with its rest."""
    found: list[tuple[Array, Array]] = []
    for piece in zip(pieces(keys, each), pieces(values, each), strict=True):
        runs, joins = reduce(*piece)
        if found and found[-1][0][-1:].tobytes() == runs[:1].tobytes():
            last, before = found.pop()
            pair = reduce(np.append(last[-1:], runs[:1]), np.append(before[-1:], joins[:1]))
            found.append((last[:-1], before[:-1]))
            runs, joins = runs.copy(), joins.copy()
            joins[:1] = pair[1]
        found.append((runs, joins))
    return np.concatenate([run for run, _ in found]), np.concatenate([join for _, join in found])


def greatest(
    array: Array, k: int, each: int, top: Callable[[Array], tuple[Array, Array]]
) -> tuple[Array, Array]:
    """The greatest of the greatest of every piece; equal ones are in the order of their pieces."""
    require_countable(array)
    found = [top(piece) for piece in pieces(array, each)]
    places = [part.astype(np.uint32) + np.uint32(n * each) for n, (_, part) in enumerate(found)]
    values, picked = top(np.concatenate([part for part, _ in found]))
    return values, np.concatenate(places)[picked]
