"""Engines: programs of several dispatches over whole arrays, with the same bytes on every backend."""

from vyre.engines.api import compact, histogram, match, reduce, reduce_strict, reduce_tree, scan
from vyre.engines.automaton import Dfa
from vyre.engines.elementwise import elementwise, workgroups
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, Window
from vyre.engines.run import Prepared, Runner

__all__ = [
    "Dfa",
    "Engine",
    "Plan",
    "Prepared",
    "Runner",
    "Shape",
    "Space",
    "Step",
    "Window",
    "compact",
    "elementwise",
    "histogram",
    "match",
    "reduce",
    "reduce_strict",
    "reduce_tree",
    "scan",
    "workgroups",
]
