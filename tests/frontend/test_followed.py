"""A kernel whose work follows its input is not run over a part of it in silence."""

from __future__ import annotations

import re

import numpy as np
import pytest

import vyre
from vyre import In, InOut, Out, u32
from vyre.errors import DispatchError

WORDS = np.arange(1000, dtype=np.uint32)


@vyre.kernel
def histogram(data: In[u32], counts: InOut[u32]) -> None:
    i = vyre.invocation_id(0)
    if i < len(data):
        vyre.atomic_add(counts, data[i] % 8, 1)


@vyre.kernel
def kept(data: In[u32], places: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    if places[i] < len(out):
        out[places[i]] = data[i]


@vyre.kernel
def group_sums(data: In[u32], out: Out[u32]) -> None:
    tile = vyre.shared(u32, 64)
    k = vyre.local_id(0)
    tile[k] = data[vyre.invocation_id(0)]
    vyre.barrier()
    if k == 0:
        s = 0
        for j in range(64):
            s += tile[j]
        out[vyre.workgroup_id(0)] = s


@vyre.kernel
def neighbours(data: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = data[i] + data[i + 1]


@vyre.kernel
def by_place(data: In[u32], out: Out[u32]) -> None:
    i = vyre.workgroup_id(0) * 64 + vyre.local_id(0)
    j = i
    out[j] = data[vyre.invocation_id(0)]


def test_the_call_is_refused_with_the_workgroups_to_write() -> None:
    with pytest.raises(DispatchError, match=r"64 invocations.*1,000 elements") as error:
        histogram(WORDS, np.zeros(8, np.uint32), backend="cpu")
    found = re.search(r"workgroups=(\d+)", error.value.fix)
    assert found is not None
    counts = histogram(WORDS, np.zeros(8, np.uint32), backend="cpu", workgroups=int(found[1]))
    assert counts.tolist() == [125] * 8


def test_what_the_grid_covers_runs_as_before() -> None:
    assert histogram(WORDS[:64], np.zeros(8, np.uint32), backend="cpu").tolist() == [8] * 8


def test_places_that_come_from_data_are_not_the_invocations_own() -> None:
    with pytest.raises(DispatchError, match="'places'"):
        kept(WORDS, WORDS, 10, backend="cpu")
    assert kept(WORDS, WORDS, 10, backend="cpu", workgroups=16).tolist() == list(range(10))


def test_an_output_of_each_workgroup_is_not_the_invocations_own() -> None:
    with pytest.raises(DispatchError, match="workgroups=16"):
        group_sums(WORDS, 16, backend="cpu")
    sums = group_sums(WORDS, 16, backend="cpu", workgroups=16)
    assert sums.sum() == WORDS.sum()


@pytest.mark.parametrize("kernel", [neighbours, by_place])
def test_a_part_of_an_input_is_asked_for_by_a_short_output(kernel: vyre.Kernel) -> None:
    assert len(kernel(WORDS, 9, backend="cpu")) == 9
