"""`sort`, `top_k`, `unique`, `reduce_by_key` and `segmented_scan`: specs of what is in order or has keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry.engine.collection_cases import (
    Subject,
    in_order,
    items_of,
    keys,
    ordered,
    pairs,
    whole,
)
from vyre.conform.registry.engine.engine_inputs import words
from vyre.engines.keyed import by_key_engine, unique_engine
from vyre.engines.monoids import monoid
from vyre.engines.prefix import scan_engine
from vyre.engines.radix import sort_engine
from vyre.engines.selecting import top_engine
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.registry.engine.collection_cases import Array, Inputs

_FEW = 20
_SEGMENT = 9


def _only_keys(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    return {"input": keys(rng, index, count, kind)}


def _sorted_keys(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    return {"input": in_order(keys(rng, index, count, kind))}


def _build_sort(kind: DataType, index: int, shape: Any) -> Any:
    return sort_engine(kind, numbered=True, descending=bool(index % 2), shape=shape)


def _sorted(inputs: Inputs, index: int) -> Array:
    given = ordered(inputs["input"])
    places = np.argsort(~given if index % 2 else given, kind="stable")
    return pairs(inputs["input"][places], places)


def _numbered(outputs: Mapping[str, Any]) -> Array:
    return pairs(outputs["output"], outputs["sorted_values"])


SORT = Subject(
    "sort",
    "keys in order, ascending or descending, each with the place it came from",
    _build_sort,
    _only_keys,
    _sorted,
    _numbered,
    kinds=(DataType.F32, DataType.U64),
)


def _build_top(kind: DataType, index: int, shape: Any) -> Any:
    return top_engine(kind, _FEW, least=bool(index % 2), shape=shape)


def _by_value(array: Array) -> Array:
    """Numbers in the order of values: NaN is greatest, and both zeros are one."""
    if array.dtype.kind != "f":
        return ordered(array)
    plain = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return ordered(np.where(plain == 0, np.zeros(1, array.dtype), plain))


def _first_few(inputs: Inputs, index: int) -> Array:
    given = _by_value(inputs["input"])
    places = np.argsort(given if index % 2 else ~given, kind="stable")[:_FEW]
    return pairs(inputs["input"][places], places)


def _indexed(outputs: Mapping[str, Any]) -> Array:
    return pairs(outputs["output"], outputs["indices"])


TOP = Subject(
    "top_k",
    "the greatest or least elements and their places; NaN is greatest, the first of equals comes first",
    _build_top,
    _only_keys,
    _first_few,
    _indexed,
    kinds=(DataType.F32,),
)


def _build_unique(kind: DataType, index: int, shape: Any) -> Any:
    return unique_engine(kind, shape=shape)


def _starts(array: Array) -> Array:
    bits = items_of(array)
    return np.flatnonzero(np.concatenate([np.ones(min(1, bits.size), bool), bits[1:] != bits[:-1]]))


def _once(inputs: Inputs, index: int) -> Array:
    return items_of(inputs["input"])[_starts(inputs["input"])]


UNIQUE = Subject(
    "unique",
    "the first key of every run of equal ones",
    _build_unique,
    _sorted_keys,
    _once,
    kinds=(DataType.F32,),
)


def _build_by_key(kind: DataType, index: int, shape: Any) -> Any:
    return by_key_engine(kind, monoid("add"), shape=shape)


def _keyed(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    return {"input": in_order(keys(rng, index, count, kind)), "values": words(rng, index, count)}


def _sums(inputs: Inputs, index: int) -> Array:
    starts = _starts(inputs["input"])
    sums = np.add.reduceat(inputs["values"], starts, dtype=np.uint32) if starts.size else inputs["values"]
    return pairs(inputs["input"][starts], sums)


def _with_results(outputs: Mapping[str, Any]) -> Array:
    return pairs(outputs["output"], outputs["results"])


BY_KEY = Subject(
    "reduce_by_key",
    "for every run of equal keys the key and the sum of its values",
    _build_by_key,
    _keyed,
    _sums,
    _with_results,
    elements=("input", "values"),
    kinds=(DataType.U64,),
)


def _build_segmented(kind: DataType, index: int, shape: Any) -> Any:
    return scan_engine(monoid("add", kind), inclusive=bool(index % 2), segmented=True, shape=shape)


def _segments(rng: np.random.Generator, index: int, count: int, kind: DataType) -> Inputs:
    heads = (rng.integers(0, _SEGMENT, count) == 0).astype(np.uint32)
    return {"input": keys(rng, index, count, kind), "heads": heads}


def _segment_sums(inputs: Inputs, index: int) -> Array:
    """Sums from the start, less the sum before the segment."""
    data, heads = inputs["input"], inputs["heads"]
    bits = items_of(data)
    before = np.concatenate([np.zeros(1, bits.dtype), np.cumsum(bits, dtype=bits.dtype)])
    starts = np.maximum.accumulate(np.where(heads != 0, np.arange(bits.size), 0))
    return (before[1:] if index % 2 else before[:-1]) - before[:-1][starts] if bits.size else bits


SEGMENTED = Subject(
    "segmented_scan",
    "the sum up to, or before, each element from the last head on",
    _build_segmented,
    _segments,
    _segment_sums,
    whole,
    elements=("input", "heads"),
    kinds=(DataType.U32, DataType.U64, DataType.I32),
)

SPECS = tuple(subject.spec() for subject in (SORT, TOP, UNIQUE, BY_KEY, SEGMENTED))
