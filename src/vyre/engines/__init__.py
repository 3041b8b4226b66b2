"""Engines: programs of several dispatches over whole arrays, with the same bytes on every backend."""

from vyre.engines.api import compact, histogram, match, reduce, reduce_strict, reduce_tree, scan
from vyre.engines.automaton import Dfa
from vyre.engines.collection import (
    HashTable,
    argsort,
    difference,
    gather,
    intersection,
    merge,
    partition,
    reduce_by_key,
    scatter,
    searchsorted,
    sort,
    sort_pairs,
    top_k,
    union,
    unique,
)
from vyre.engines.elementwise import elementwise, workgroups
from vyre.engines.plan import Count, Covering, Engine, Plan, Repeated, Shape, Space, Step, Window
from vyre.engines.run import Prepared, Runner

__all__ = [
    "Count",
    "Covering",
    "Dfa",
    "Engine",
    "HashTable",
    "Plan",
    "Prepared",
    "Repeated",
    "Runner",
    "Shape",
    "Space",
    "Step",
    "Window",
    "argsort",
    "compact",
    "difference",
    "elementwise",
    "gather",
    "histogram",
    "intersection",
    "match",
    "merge",
    "partition",
    "reduce",
    "reduce_by_key",
    "reduce_strict",
    "reduce_tree",
    "scan",
    "scatter",
    "searchsorted",
    "sort",
    "sort_pairs",
    "top_k",
    "union",
    "unique",
    "workgroups",
]
