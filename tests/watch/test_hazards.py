"""Races that are plain to see warn when a kernel is decorated; what may be meant does not."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

import vyre
from vyre import In, Out, f32, u32
from vyre.errors import KernelWarning
from vyre.watch.hazards import hazards

if TYPE_CHECKING:
    from collections.abc import Callable


def total(a: In[f32], out: Out[f32]) -> None:
    out[0] += a[vyre.invocation_id(0)]


def total_in_a_loop(a: In[f32], out: Out[f32]) -> None:
    for turn in range(4):
        out[turn] = a[vyre.invocation_id(0)]


def flag(a: In[u32], out: Out[u32]) -> None:
    seen = vyre.shared(u32, 1)
    seen[0] = a[vyre.invocation_id(0)]
    vyre.barrier()
    out[vyre.invocation_id(0)] = seen[0]


def group_sum(a: In[u32], out: Out[u32]) -> None:
    out[vyre.workgroup_id(0)] = a[vyre.invocation_id(0)]


def unbarred(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    tile[k] = a[vyre.invocation_id(0)]
    out[vyre.invocation_id(0)] = tile[63 - k]


def unbarred_on_the_way_back(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    s = u32(0)
    for turn in range(4):
        tile[k] = a[vyre.invocation_id(0) + turn]
        vyre.barrier()
        s += tile[63 - k]
    out[vyre.invocation_id(0)] = s


def from_private(a: In[u32], out: Out[u32]) -> None:
    kept = vyre.private(u32, 4)
    kept[1] = a[vyre.invocation_id(0)]
    out[0] = kept[1]


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (total, "out[0] += a[vyre.invocation_id(0)]"),
        (total_in_a_loop, "out[turn] = a[vyre.invocation_id(0)]"),
        (flag, "seen[0] = a[vyre.invocation_id(0)]"),
        (group_sum, "out[vyre.workgroup_id(0)] = a[vyre.invocation_id(0)]"),
        (from_private, "out[0] = kept[1]"),
        (unbarred, "out[vyre.invocation_id(0)] = tile[63 - k]"),
        (unbarred_on_the_way_back, "tile[k] = a[vyre.invocation_id(0) + turn]"),
    ],
)
def test_a_plain_race_warns_at_its_line(function: Callable[..., None], line: str) -> None:
    with pytest.warns(KernelWarning, match=r"Fix:") as caught:
        made = vyre.kernel(function)
    (found,) = hazards(made.source_program)
    assert found.location is not None
    assert found.location.text.strip() == line
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, found.location.line)]


def one_stores(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i == 0:
        out[0] = a[i]


def others_left(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if i != 0:
        return
    out[0] = a[i]


def own_element(a: In[u32], out: Out[u32]) -> None:
    k = u32(0)
    if a[vyre.invocation_id(0)] > 3:
        k = 1
    out[k] = 1


def barred(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    for turn in range(4):
        tile[k] = a[vyre.invocation_id(0) + turn]
        vyre.barrier()
        out[vyre.invocation_id(0)] = tile[63 - k]
        vyre.barrier()


def reduced(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    tile[k] = a[vyre.invocation_id(0)]
    vyre.barrier()
    for step in range(6):
        half = u32(32) >> step
        if k < half:
            tile[k] += tile[k + half]
        vyre.barrier()
    if k == 0:
        out[vyre.workgroup_id(0)] = tile[0]


def sorted_alike(a: In[u32], out: Out[u32]) -> None:
    kept = vyre.private(u32, 4)
    for turn in range(4):
        kept[turn] = a[turn]
    for turn in range(4):
        out[turn] = kept[3 - turn]


def same_value(a: In[u32], out: Out[u32]) -> None:
    out[0] = a[0]


def same_element(a: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    tile[k] = a[vyre.invocation_id(0)]
    tile[k] += 1
    out[vyre.invocation_id(0)] = tile[k]


def exchanged(a: In[u32], out: Out[u32]) -> None:
    """Each invocation has two elements for itself, which are others in the second turn."""
    tile = vyre.shared(u32, 128)
    k = vyre.local_id(0)
    tile[k] = a[k]
    tile[k + 64] = a[k + 64]
    for turn in range(2):
        vyre.barrier()
        at = 2 * k - (k & turn)
        if tile[at] > tile[at + 1 + turn]:
            tile[at], tile[at + 1 + turn] = tile[at + 1 + turn], tile[at]
    vyre.barrier()
    out[k] = tile[k]


@pytest.mark.parametrize(
    "function",
    [
        one_stores,
        others_left,
        own_element,
        barred,
        reduced,
        sorted_alike,
        same_value,
        same_element,
        exchanged,
    ],
)
def test_what_may_be_meant_does_not_warn(function: Callable[..., None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vyre.kernel(function)


def test_one_invocation_cannot_race_with_itself() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vyre.kernel(workgroup_size=1)(total)
