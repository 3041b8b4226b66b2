"""The family `collection` as functions on arrays: order, keys, sets, tables and places.

    sort(x) argsort(x) sort_pairs(x, values) top_k(x, k)
    unique(x) reduce_by_key(keys, values) searchsorted(table, x) merge(a, b)
    union(a, b) intersection(a, b) difference(a, b)
    partition(x, flags) gather(x, indices) scatter(values, indices, into)
    HashTable(keys).find(x)

Keys are uint32, int32, uint64, int64, float32 or float64; floats are in IEEE's total order. What is given on
the device is answered there. All take `backend=` and `shape=`; the results depend on neither.
"""

from __future__ import annotations

from collections.abc import Sized
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends import registry
from vyre.backends.chosen import chosen, default_name, require_backend
from vyre.backends.device_buffer import DeviceBuffer
from vyre.engines.hashing import ABSENT, build_engine, find_engine
from vyre.engines.keyed import by_key_engine, unique_engine
from vyre.engines.monoids import ELEMENTS, monoid
from vyre.engines.moving import gather_engine, partition_engine, scatter_engine
from vyre.engines.order import element_of
from vyre.engines.pieces import (
    by_key,
    greatest,
    once,
    piece_of,
    require_countable,
    sorted_pairs,
    together,
)
from vyre.engines.plan import Shape
from vyre.engines.radix import sort_engine
from vyre.engines.run import runner_of
from vyre.engines.searching import member_engine, merge_engine, search_engine
from vyre.engines.selecting import top_engine
from vyre.errors import DispatchError, boundary, whole

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend, BackendLimits
    from vyre.ir.types import DataType

    Where = str | Backend | None

_PROCESSORS = ("cpu", "reference")
_WALK = Shape(1, 1 << 12)
_ROWS = Shape(256, 4)


def cut_for(backend: Where, shape: Shape | None, other: Shape | None = _ROWS) -> Shape | None:
    """The way to cut work that suits a backend: on a processor one invocation walks through a tile."""
    require_shape(shape)
    if shape is not None:
        return shape
    return _WALK if getattr(backend, "name", backend or default_name()) in _PROCESSORS else other


def require_shape(shape: Shape | None) -> None:
    """Raises `DispatchError` for what a user gave that is not a `Shape`."""
    if shape is not None and not isinstance(shape, Shape):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"shape is {shape!r}, not a Shape.", fix="pass engines.Shape(lanes, items), or leave it out."
        )


def walkers(backend: Where) -> int:
    """How many tiles a processor walks through at once: one alone needs no joins of tiles beforehand."""
    if backend is None or isinstance(backend, str):
        return _walkers(backend or default_name())
    return getattr(backend, "threads", 1)


@cache
def _walkers(backend: str) -> int:
    return getattr(chosen(backend), "threads", 1)


def limits_of(backend: Where) -> BackendLimits:
    """What a backend declares."""
    if backend is None or isinstance(backend, str):
        return _limits(backend or default_name())
    require_backend(backend)
    return registry.described(backend).limits


@cache
def _limits(backend: str) -> BackendLimits:
    return registry.described(chosen(backend)).limits


@boundary
def sort(
    keys: Any,
    *,
    descending: bool = False,
    out: Any = None,
    backend: Where = None,
    shape: Shape | None = None,
) -> Any:
    """The keys in order. `out` is written in place, and may not be the keys."""
    element, each = element_of(keys), piece_of(backend, keys)
    if each:

        def sort_part(part: Any, _: None) -> Any:
            return sort(part, descending=descending, backend=backend, shape=shape), None

        found, _ = sorted_pairs(keys, None, each, sort_part, descending=descending)
        return found if out is None else together([found], out, keys)
    engine = sort_engine(element, descending=descending, shape=cut_for(backend, shape, None))
    given = None if out is None else {"output": out}
    return runner_of(backend).run(engine, {"input": keys}, out=given)["output"]


@boundary
def argsort(keys: Any, *, descending: bool = False, backend: Where = None, shape: Shape | None = None) -> Any:
    """The places of the keys in their order, as uint32; equal keys keep theirs."""
    if piece_of(backend, keys):
        require_countable(keys)
        numbers = np.arange(keys.size, dtype=np.uint32)
        return sort_pairs(keys, numbers, descending=descending, backend=backend, shape=shape)[1]
    cut = cut_for(backend, shape, None)
    engine = sort_engine(element_of(keys), numbered=True, descending=descending, shape=cut)
    return runner_of(backend).run(engine, {"input": keys})["sorted_values"]


@boundary
def sort_pairs(
    keys: Any, values: Any, *, descending: bool = False, backend: Where = None, shape: Shape | None = None
) -> tuple[Any, Any]:
    """The keys in order, and with each its value; equal keys keep their order."""
    require_same("values", values, "keys", keys)
    kinds = element_of(keys), element_of(values, "values")
    each = piece_of(backend, keys, values)
    if each:

        def sort_part(part: Any, held: Any) -> Any:
            return sort_pairs(part, held, descending=descending, backend=backend, shape=shape)

        return sorted_pairs(keys, values, each, sort_part, descending=descending)
    engine = sort_engine(*kinds, descending=descending, shape=cut_for(backend, shape, None))
    found = runner_of(backend).run(engine, {"input": keys, "values": values})
    return found["output"], found["sorted_values"]


@boundary
def top_k(
    array: Any, k: int, *, least: bool = False, backend: Where = None, shape: Shape | None = None
) -> tuple[Any, Any]:
    """The `k` greatest elements, greatest first, and where they stand.

    NaN is greatest, and of equal elements the first comes first.
    """
    k = whole("k", k)
    if k < 0:
        raise DispatchError(f"top_k cannot give {k} elements.", fix="ask for 0 or more.")
    each = piece_of(backend, array)
    if each and 2 * k <= each:  # the greatest of all pieces are fewer than half of the elements
        return greatest(
            array,
            k,
            each,
            lambda part: top_k(part, min(k, len(part)), least=least, backend=backend, shape=shape),
        )
    engine = top_engine(element_of(array), k, least=least, shape=cut_for(backend, shape, None))
    found = runner_of(backend).run(engine, {"input": array})
    return found["output"], found["indices"]


@boundary
def unique(keys: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """Every key once, in order; floats that differ in any bit are different keys."""
    sorted_keys = sort(keys, backend=backend, shape=shape)
    each = piece_of(backend, sorted_keys)
    if each:
        return once(sorted_keys, each, lambda part: unique(part, backend=backend, shape=shape))
    engine = unique_engine(element_of(keys), shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": sorted_keys})["output"]


@boundary
def reduce_by_key(
    keys: Any, values: Any, *, op: str = "add", backend: Where = None, shape: Shape | None = None
) -> tuple[Any, Any]:
    """For each run of equal keys the key, and the join of its values: add mul min max and or xor."""
    require_same("values", values, "keys", keys)
    joins = monoid(op, joinable(values))
    each = piece_of(backend, keys, values)
    if each:

        def part(keys: Any, values: Any) -> tuple[Any, Any]:
            return reduce_by_key(keys, values, op=op, backend=backend, shape=shape)

        return by_key(keys, values, each, part)
    engine = by_key_engine(element_of(keys), joins, shape=cut_for(backend, shape))
    found = runner_of(backend).run(engine, {"input": keys, "values": values})
    return found["output"], found["results"]


@boundary
def searchsorted(
    table: Any, keys: Any, *, side: str = "left", backend: Where = None, shape: Shape | None = None
) -> Any:
    """Where each key can stand in the sorted `table`, before its equals or (`side="right"`) after them."""
    if side not in ("left", "right"):
        raise DispatchError(f"side is {side!r}.", fix='use "left" or "right".')
    engine = search_engine(_one_type(table, keys), right=side == "right", shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"table": table, "input": keys})["output"]


@boundary
def merge(first: Any, second: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """The keys of two sorted arrays in order; of equal ones those of the first array come first."""
    engine = merge_engine(_one_type(first, second), shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": first, "other": second})["output"]


@boundary
def union(first: Any, second: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """Every key of two sorted arrays once, in order."""
    both = merge(first, second, backend=backend, shape=shape)
    engine = unique_engine(element_of(first), shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": both})["output"]


@boundary
def intersection(first: Any, second: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """Every key that both of two sorted arrays have once, in order."""
    return _members(first, second, True, backend, shape)


@boundary
def difference(first: Any, second: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """Every key of the first sorted array that the second does not have once, in order."""
    return _members(first, second, False, backend, shape)


def _members(first: Any, second: Any, inside: bool, backend: Where, shape: Shape | None) -> Any:
    engine = member_engine(_one_type(first, second), inside=inside, shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": first, "table": second})["output"]


@boundary
def partition(
    array: Any, flags: Any, *, backend: Where = None, shape: Shape | None = None
) -> tuple[Any, int]:
    """The elements whose flag is not zero, then the others, each in their order; and how many are set."""
    require_same("flags", flags, "elements", array)
    engine = partition_engine(element_of(array, "elements"), shape=cut_for(backend, shape))
    found = runner_of(backend).run(engine, {"input": array, "flags": words_of(flags)})
    return found["output"], int(on_host(found["count"])[0])


@boundary
def gather(array: Any, indices: Any, *, backend: Where = None, shape: Shape | None = None) -> Any:
    """`array[indices]`; an index past the end gives 0."""
    engine = gather_engine(element_of(array, "elements"), shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": array, "indices": indices})["output"]


@boundary
def scatter(
    values: Any, indices: Any, into: Any, *, backend: Where = None, shape: Shape | None = None
) -> Any:
    """A copy of `into` with `values[i]` at `indices[i]`.

    Of several values for a place the last one stays; one past the end is dropped.
    """
    require_same("indices", indices, "values", values)
    engine = scatter_engine(_one_type(values, into), shape=cut_for(backend, shape))
    return runner_of(backend).run(engine, {"input": values, "indices": indices, "into": into})["output"]


class HashTable:
    """Keys that can be looked up. It keeps the array of keys, which must not change."""

    absent = ABSENT

    @boundary
    def __init__(self, keys: Any, *, backend: Where = None, shape: Shape | None = None) -> None:
        self._key, self._keys = element_of(keys), keys
        self._backend, self._shape = backend, cut_for(backend, shape)
        engine = build_engine(self._key, shape=self._shape)
        self._slots = runner_of(backend).run(engine, {"input": keys})["output"]

    @boundary
    def find(self, keys: Any) -> Any:
        """For each key the place of the first equal one in the table, or `HashTable.absent`."""
        _one_type(self._keys, keys)
        given = {"input": keys, "keys": self._keys, "slots": self._slots}
        engine = find_engine(self._key, shape=self._shape)
        return runner_of(self._backend).run(engine, given)["output"]


def on_host(found: Any) -> Any:
    """An array of the host, wherever the result is."""
    return found.numpy() if isinstance(found, DeviceBuffer) else found


def words_of(flags: Any) -> Any:
    """Flags as words; booleans of NumPy are taken, too."""
    return flags.astype(np.uint32) if getattr(flags, "dtype", None) == np.bool_ else flags


def joinable(array: Any) -> DataType:
    """The type of elements that are joined. Raises `DispatchError` for floats: their order would matter."""
    found = element_of(array, "elements")
    if found not in ELEMENTS:
        raise DispatchError(
            f"the elements are {found.value}, and joins of floats depend on their order.",
            fix="pass integers, or use reduce_tree or reduce_strict for floats.",
        )
    return found


def _one_type(first: Any, second: Any) -> DataType:
    kinds = element_of(first), element_of(second)
    if kinds[0] is not kinds[1]:
        raise DispatchError(
            f"the keys are {kinds[0].value} and {kinds[1].value}.", fix="pass two arrays of one type."
        )
    return kinds[0]


def require_same(what: str, given: Any, of: str, others: Any, fix: str = "pass one for each.") -> None:
    """Refuses what does not belong element by element. Rows are taken flat, so lengths tell nothing."""
    counts = count_of(what, given), count_of(of, others)
    if counts[0] != counts[1]:
        raise DispatchError(f"got {counts[0]} {what} for {counts[1]} {of}.", fix=fix)


def count_of(what: str, array: Any) -> int:
    """How many elements an array has, of the host's or a device's; a list is as long as it is."""
    shape = getattr(array, "shape", None)
    if shape is not None:
        return prod(shape)
    if not isinstance(array, Sized):
        raise DispatchError(f"the {what} are {type(array).__name__}, not an array.", fix="pass an array.")
    return len(array)
