"""Specs of tables: `vyre.library.tables`. The oracles go through rows of Python numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre import library
from vyre.conform.registry.engine.called import SORTING, CallSubject, numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.registry.engine.called import Array, Inputs

_KEYS, _VALUES = 1 << 8, 1 << 24
_OTHERS = 20
"""Rows of the right table of a join."""


def _draw(rng: np.random.Generator, index: int, count: int) -> Inputs:
    """Few keys or many, in any order; values that tell rows apart."""
    most = (4, 20, 200)[index % 3]
    return {
        "key": rng.integers(0, most, count, dtype=np.uint32),
        "value": rng.integers(0, _VALUES, count, dtype=np.uint32),
    }


def _draw_flags(rng: np.random.Generator, index: int, count: int) -> Inputs:
    flags = rng.integers(0, 4, count) < (2, 4, 1, 0)[index % 4]
    return {**_draw(rng, index, count), "flags": flags.astype(np.uint32)}


def _draw_two(rng: np.random.Generator, index: int, count: int) -> Inputs:
    right = {f"right_{name}": array for name, array in _draw(rng, index, _OTHERS).items()}
    return {**_draw(rng, index, count), **right}


def _rows(inputs: Inputs, prefix: str = "") -> list[tuple[int, int]]:
    return list(zip(inputs[f"{prefix}key"].tolist(), inputs[f"{prefix}value"].tolist(), strict=True))


def _small(inputs: Inputs) -> bool:
    """Whether a row can be told by one number."""
    return all(int(a.max(initial=0)) < (_KEYS if n.endswith("key") else _VALUES) for n, a in inputs.items())


def _table(inputs: Inputs) -> Mapping[str, Any]:
    return {"key": inputs["key"], "value": inputs["value"].astype(np.int64)}


def _columns(made: Any) -> Mapping[str, Any]:
    return {name: column.to_numpy() for name, column in made.columns.items()}


def _told(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    """A number for each row."""
    return outputs["key"].astype(np.uint64) << np.uint64(32) | outputs["value"].astype(np.uint64)


def _numbered(rows: list[tuple[int, int]]) -> Array:
    return numbers(key << 32 | value for key, value in rows)


def _filter(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    return _columns(library.tables.filter(_table(inputs), inputs["flags"] != 0, backend=backend))


def _filtered(inputs: Inputs, index: int) -> Array:
    flags = inputs["flags"].tolist()
    return _numbered([row for row, flag in zip(_rows(inputs), flags, strict=True) if flag])


FILTER = CallSubject(
    "table_filter",
    "the rows whose flag is set, in their order",
    _draw_flags,
    _filter,
    _filtered,
    _told,
    elements=("key", "value", "flags"),
    lawful=_small,
)


def _sort(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    found = library.tables.sort(_table(inputs), "key", descending=bool(index % 2), backend=backend)
    return _columns(found)


def _sorted(inputs: Inputs, index: int) -> Array:
    return _numbered(sorted(_rows(inputs), key=lambda row: -row[0] if index % 2 else row[0]))


SORT = CallSubject(
    "table_sort",
    "rows in the order of a key; those with equal keys keep theirs",
    _draw,
    _sort,
    _sorted,
    _told,
    elements=("key", "value"),
    fixed=SORTING,
    lawful=_small,
)


def _group(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    asked = {what: ("value", what) for what in ("count", "sum", "min", "max")}
    return _columns(library.tables.group_by(_table(inputs), "key", asked, backend=backend))


def _groups(inputs: Inputs, index: int) -> Array:
    found: dict[int, list[int]] = {}
    for key, value in _rows(inputs):
        found.setdefault(key, []).append(value)
    told = [(key, (len(x), sum(x), min(x), max(x))) for key, x in sorted(found.items())]
    return numbers(key << 40 | value for key, values in told for value in values)


def _aggregates(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    names = ("count", "sum", "min", "max")
    values = np.stack([outputs[name].astype(np.uint64) for name in names], axis=1)
    return (outputs["key"].astype(np.uint64)[:, None] << np.uint64(40) | values).reshape(-1)


GROUP = CallSubject(
    "group_by",
    "a row for each key, with how many values it has, their sum, the least and the greatest",
    _draw,
    _group,
    _groups,
    _aggregates,
    elements=("key", "value"),
    fixed=SORTING,
    lawful=_small,
)


def _join(inputs: Inputs, index: int, backend: Any) -> Mapping[str, Any]:
    right = {"key": inputs["right_key"], "other": inputs["right_value"]}
    how = ("inner", "left")[index % 2]
    made = library.tables.join(_table(inputs), right, "key", how=how, backend=backend)
    other = made["other"]
    there = other.flags()
    return {**_columns(made), "other": np.where(there, other.to_numpy(), _VALUES), "there": there}


def _joined(inputs: Inputs, index: int) -> Array:
    right = _rows(inputs, "right_")
    found: list[int] = []
    for key, value in _rows(inputs):
        others = [other for k, other in right if k == key] or ([_VALUES] if index % 2 else [])
        found += [key << 56 | value << 32 | other for other in others]
    return numbers(found)


def _beside(inputs: Inputs, outputs: Mapping[str, Any]) -> Array:
    left = outputs["key"].astype(np.uint64) << np.uint64(56) | outputs["value"].astype(
        np.uint64
    ) << np.uint64(32)
    return left | outputs["other"].astype(np.uint64)


JOIN = CallSubject(
    "join",
    "rows of two tables side by side wherever their keys agree",
    _draw_two,
    _join,
    _joined,
    _beside,
    elements=("key", "value"),
    growth=_OTHERS,
    fixed=SORTING,
    lawful=_small,
)

SPECS = tuple(s.spec() for s in (FILTER, SORT, GROUP, JOIN))
