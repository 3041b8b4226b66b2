"""Join: rows of two tables side by side, wherever their keys agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import vyre
from vyre import In, Out, engines, u32
from vyre.errors import DispatchError, boundary
from vyre.library.messages import grid
from vyre.library.reading import owner, run_of
from vyre.library.tables.grouping import grouped
from vyre.library.tables.moving import ABSENT, stacked, taken, taken_column
from vyre.library.tables.named import MOST_ROWS, Table, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend
    from vyre.library.tables.columns import Column

    Where = str | Backend | None
    Numbers = NDArray[np.uint32]


@vyre.kernel
def _paired(
    ends: In[u32],
    begins: In[u32],
    counts: In[u32],
    rows: In[u32],
    lefts: Out[u32],
    rights: Out[u32],
    each: u32,
) -> None:
    """Pair i is of the left row whose pairs it is among, and of its next right row, or of none.

    An invocation looks for the row of the first of `each` pairs, and goes on from there.
    """
    first = (vyre.invocation_id(0) + vyre.invocation_id(1) * vyre.num_invocations(0)) * each
    if first >= len(lefts):
        return
    left = owner(ends, first)
    for i in range(first, min(first + each, len(lefts))):
        while vyre.bounded(i >= ends[left + 1], 0xFFFFFFFF):
            left += 1
        lefts[i] = left
        rights[i] = vyre.select(counts[left] == 0, u32(0xFFFFFFFF), rows[begins[left] + i - ends[left]])


@boundary
def join(
    left: Any,
    right: Any,
    on: str | Sequence[str],
    *,
    how: Literal["inner", "left"] = "inner",
    suffix: str = "_right",
    backend: Where = None,
) -> Table:
    """The rows of `left`, each with every row of `right` that has the same keys, in the order of both.

    `how="left"` keeps rows without such a one, once, and what would be from `right` is missing. A missing key
    agrees with none; NaN agrees with NaN, and -0 with 0. A column that both have gets `suffix` on the right.
    """
    ours, theirs = Table(left), Table(right)
    keys = keys_of(on)
    if not keys or how not in ("inner", "left"):
        raise DispatchError(
            f"a join {how!r} on {len(keys)} keys.", fix='name one key or several, and "inner" or "left".'
        )
    if not isinstance(suffix, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(f"suffix is {type(suffix).__name__}, not text.", fix='pass text, as "_right".')
    pairs = [_same_kind(key, ours[key], theirs[key]) for key in keys]
    lefts, rights = _pairs(pairs, ours.rows, theirs.rows, how == "left", backend)
    made = dict(taken(ours, lefts, backend).columns)
    for name, column in theirs.columns.items():
        if name not in keys:
            shown = name + suffix if name in made else name
            if shown in made:
                raise DispatchError(f"two columns would be called {shown!r}.", fix="pass another suffix.")
            made[shown] = taken_column(column, rights, backend, beyond=how == "left")
    return Table(made)


def _same_kind(key: str, left: Column, right: Column) -> tuple[Column, Column]:
    if left.kind != right.kind:
        raise DispatchError(
            f"the key {key!r} is {left.kind} on the left and {right.kind} on the right.",
            fix="convert one of them.",
        )
    return left, right


def _pairs(
    keys: Sequence[tuple[Column, Column]], ours: int, theirs: int, keep: bool, backend: Where
) -> tuple[Numbers, Numbers]:
    """The numbers of the left and the right row of each pair."""
    none = np.zeros(0, np.uint32)
    if not ours or (not theirs and not keep):
        return none, none
    found = grouped([stacked(*both) for both in keys], backend)
    ids = found.ids
    for first, second in keys:
        if first.valid is not None or second.valid is not None:
            flags = np.concatenate([first.flags(), second.flags()])
            ids = np.where(flags, ids, np.uint32(found.count))
    mine, other = ids[:ours], ids[ours:]
    if not theirs:
        return np.arange(ours, dtype=np.uint32), np.full(ours, ABSENT, np.uint32)
    _, rows = engines.sort_pairs(other, np.arange(theirs, dtype=np.uint32), backend=backend)
    met = engines.histogram(other, bins=found.count, backend=backend)
    begins = engines.scan(met, inclusive=False, backend=backend)
    counts = engines.gather(met, mine, backend=backend)  # a missing key is past the end: none
    pairs = np.maximum(counts, 1) if keep else counts
    total = int(pairs.sum(dtype=np.uint64))
    if total > MOST_ROWS:
        raise DispatchError(f"the join has {total} rows; {MOST_ROWS} are the most.", fix="join in parts.")
    if not total:
        return none, none
    starts = engines.gather(begins, mine, backend=backend)
    ends = np.zeros(ours + 1, np.uint32)
    np.cumsum(pairs, out=ends[1:], dtype=np.uint32)
    lefts, rights = np.zeros(total, np.uint32), np.zeros(total, np.uint32)
    each = run_of(backend)
    return _paired(
        ends, starts, counts, rows, lefts, rights, each,
        workgroups=grid(-(-total // each)), backend=backend,
    )  # fmt: skip
