"""Specs of what is found or moved: in sorted arrays, in hash tables, by flags and by indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.collection_cases import Subject, in_order, items_of, keys, ordered
from vyre.conform.registry.engine.engine_inputs import flags
from vyre.engines.compaction import compact_engine
from vyre.engines.hashing import ABSENT, table_engine
from vyre.engines.moving import gather_engine, partition_engine, scatter_engine
from vyre.engines.searching import member_engine, merge_engine, search_engine
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.registry.engine.collection_cases import Array, Inputs

_OTHERS = 300


def _other(rng: np.random.Generator, index: int, given: Array, kind: DataType) -> Array:
    """Other keys, of which some are among the given ones."""
    made = keys(rng, index, int(rng.integers(1, _OTHERS)), kind)
    if given.size:
        made[::3] = given[rng.integers(0, given.size, made[::3].size)]
    return made


def _tabled(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    given = keys(rng, index, count, kind)
    return {"input": given, "table": in_order(_other(rng, index, given, kind))}


def _build_search(kind: DataType, index: int, shape: Any) -> Any:
    return search_engine(kind, right=bool(index % 2), shape=shape)


def _searched(inputs: Inputs, index: int) -> Array:
    side = "right" if index % 2 else "left"
    return np.searchsorted(ordered(inputs["table"]), ordered(inputs["input"]), side).astype(np.uint32)


SEARCH = Subject(
    "searchsorted",
    "where each key can stand in a sorted table, before or after its equals",
    _build_search,
    _tabled,
    _searched,
)


def _build_merge(kind: DataType, index: int, shape: Any) -> Any:
    return merge_engine(kind, shape=shape)


def _two(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    given = in_order(keys(rng, index, count, kind))
    return {"input": given, "other": in_order(_other(rng, index, given, kind))}


def _merged(inputs: Inputs, index: int) -> Array:
    return items_of(in_order(np.concatenate([inputs["input"], inputs["other"]])))


MERGE = Subject(
    "merge",
    "the keys of two sorted arrays in order",
    _build_merge,
    _two,
    _merged,
    sorted_input=True,
)


def _build_members(kind: DataType, index: int, shape: Any) -> Any:
    return member_engine(kind, inside=bool(index % 2), shape=shape)


def _sorted_and_tabled(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    given = in_order(keys(rng, index, count, kind))
    return {"input": given, "table": in_order(_other(rng, index, given, kind))}


def _members(inputs: Inputs, index: int) -> Array:
    given, table = items_of(inputs["input"]), items_of(inputs["table"])
    inside = np.isin(given, table) == bool(index % 2)
    first = np.concatenate([np.ones(min(1, given.size), bool), given[1:] != given[:-1]])
    return given[inside & first]


MEMBERS = Subject(
    "members",
    "every key of a sorted array that another one has, or has not, once",
    _build_members,
    _sorted_and_tabled,
    _members,
    sorted_input=True,
)


def _build_partition(kind: DataType, index: int, shape: Any) -> Any:
    return partition_engine(kind, shape=shape)


def _flagged(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    return {"input": keys(rng, index, count, kind), "flags": flags(rng, index, count)}


def _parted(inputs: Inputs, index: int) -> Array:
    data, chosen = items_of(inputs["input"]), inputs["flags"] != 0
    return np.concatenate([data[chosen], data[~chosen]])


PARTITION = Subject(
    "partition",
    "the elements whose flag is set, then the others, each in their order",
    _build_partition,
    _flagged,
    _parted,
    elements=("input", "flags"),
)


def _build_gather(kind: DataType, index: int, shape: Any) -> Any:
    return gather_engine(kind, shape=shape)


def _indexed(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    places = rng.integers(0, 2 * _OTHERS, count, dtype=np.uint32)
    return {"input": keys(rng, index, _OTHERS, kind), "indices": places}


def _gathered(inputs: Inputs, index: int) -> Array:
    data = items_of(inputs["input"])
    return np.concatenate([data, np.zeros(2 * _OTHERS, data.dtype)])[inputs["indices"]]


def _build_keep(kind: DataType, index: int, shape: Any) -> Any:
    return compact_engine(kind, shape=shape)


def _kept(inputs: Inputs, index: int) -> Array:
    return items_of(inputs["input"])[inputs["flags"] != 0]


KEEP = Subject(
    "keep",
    "the elements whose flag is set, in an output that is made when they are counted",
    _build_keep,
    _flagged,
    _kept,
    elements=("input", "flags"),
    kinds=(DataType.F32, DataType.U64),
)


GATHER = Subject(
    "gather",
    "the elements at given places, and 0 for places past the end",
    _build_gather,
    _indexed,
    _gathered,
    elements=("indices",),
)


def _build_scatter(kind: DataType, index: int, shape: Any) -> Any:
    return scatter_engine(kind, shape=shape)


def _claimed(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    places = rng.integers(0, 2 * _OTHERS, count, dtype=np.uint32)
    into = keys(rng, index, _OTHERS, kind)
    return {"input": keys(rng, index, count, kind), "indices": places, "into": into}


def _scattered(inputs: Inputs, index: int) -> Array:
    data, into, places = items_of(inputs["input"]), items_of(inputs["into"]).copy(), inputs["indices"]
    inside = places < into.size
    into[places[inside]] = data[inside]  # NumPy, too, keeps the last of several
    return into


SCATTER = Subject(
    "scatter",
    "an array with elements put at given places, the last of several for each",
    _build_scatter,
    _claimed,
    _scattered,
    elements=("input", "indices"),
)


def _build_hash(kind: DataType, index: int, shape: Any) -> Any:
    return table_engine(kind, shape=shape)


def _looked_up(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    given = keys(rng, index, count, kind)
    return {"input": given, "keys": _other(rng, index, given, kind)}


def _found(inputs: Inputs, index: int) -> Array:
    first: dict[int, int] = {}
    for place, key in enumerate(items_of(inputs["keys"]).tolist()):
        first.setdefault(key, place)
    return np.array([first.get(key, ABSENT) for key in items_of(inputs["input"]).tolist()], np.uint32)


HASH = Subject(
    "hash",
    "the first place of each key in a table that atomics build",
    _build_hash,
    _looked_up,
    _found,
)

SPECS = tuple(subject.spec() for subject in (SEARCH, MERGE, MEMBERS, PARTITION, KEEP, GATHER, SCATTER, HASH))
