"""Filter and sort: rows chosen by a flag, and rows in the order of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from vyre import engines
from vyre.errors import DispatchError, boundary
from vyre.library.tables.arrow import column_of
from vyre.library.tables.codes import codes_of
from vyre.library.tables.moving import taken
from vyre.library.tables.named import Table, keys_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend

    Where = str | Backend | None


@boundary
def filter(table: Any, flags: Any, *, backend: Where = None) -> Table:
    """The rows whose flag is true, in their order. A missing flag is not true."""
    given, chosen = Table(table), column_of("flags", flags)
    # Where all are missing, nothing says that they are truths.
    if (chosen.kind != "bool" and chosen.flags().any()) or chosen.length != given.rows:
        raise DispatchError(
            f"the flags are {chosen.length} {chosen.kind} for {given.rows} rows.",
            fix="pass one bool for each row.",
        )
    rows = np.arange(given.rows, dtype=np.uint32)
    kept = engines.compact(rows, chosen.to_numpy().astype(np.bool_) & chosen.flags(), backend=backend)
    return taken(given, kept, backend)


@boundary
def sort(
    table: Any,
    by: str | Sequence[str],
    *,
    descending: bool | Sequence[bool] = False,
    nulls: Literal["last", "first"] = "last",
    backend: Where = None,
) -> Table:
    """The rows in the order of the keys `by`, the first one first; rows with equal keys keep their order.

    Numbers are ordered by value, -0 as 0 and NaN as greatest, and texts by their bytes. `descending` is for
    all keys, or one for each. Missing keys come last, or first, whichever way the others are ordered.
    """
    given = Table(table)
    keys = keys_of(by)
    many = isinstance(descending, (Sequence, np.ndarray)) and not isinstance(descending, str)
    down: list[Any] = list(cast("Sequence[Any]", descending)) if many else [descending] * len(keys)
    for turned in down:
        if not isinstance(turned, (bool, np.bool_)):
            raise DispatchError(
                f"descending has {turned!r}, which is not a bool.", fix="pass a bool, or one for each key."
            )
    if not keys or len(down) != len(keys):
        raise DispatchError(
            f"{len(keys)} keys are sorted by, with {len(down)} directions.",
            fix="name at least one key, and a direction for all or for each.",
        )
    if nulls not in ("last", "first"):
        raise DispatchError(f"nulls is {nulls!r}.", fix='use "last" or "first".')
    places = np.arange(given.rows, dtype=np.uint32)
    for key, turned in reversed(list(zip([given[key] for key in keys], down, strict=True))):
        flags, codes = key.flags(), codes_of(key, backend)
        places = _by_codes(places, np.where(flags, codes, np.uint64(0)), bool(turned), backend)
        if key.valid is not None:
            there = engines.gather(flags.astype(np.uint32), places, backend=backend)
            chosen = there if nulls == "last" else 1 - there
            places = engines.partition(places, chosen, backend=backend)[0]
    return taken(given, places, backend)


def _by_codes(
    places: NDArray[np.uint32], codes: NDArray[np.uint64], descending: bool, backend: Where
) -> NDArray[np.uint32]:
    """The rows `places` in the order of their codes; equal ones stay as they are."""
    mine = engines.gather(codes, places, backend=backend)
    return engines.sort_pairs(mine, places, descending=descending, backend=backend)[1]
