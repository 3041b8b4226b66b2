"""The garbage collector rests while a first kernel is loaded, and is as it was afterwards."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

import pytest

from vyre.frontend import collector
from vyre.frontend.collector import resting

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that has compiled nothing."""
    monkeypatch.setattr(collector, "_rest", collector._Rest())
    yield
    gc.enable()


def test_it_rests_inside_and_runs_behind_nested_blocks() -> None:
    with resting():
        assert not gc.isenabled()
        with resting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_wakes_it() -> None:
    with pytest.raises(KeyError), resting(last=True):
        raise KeyError
    assert gc.isenabled()
    with resting():
        assert not gc.isenabled()


def test_behind_the_last_block_it_never_rests() -> None:
    with resting(last=True):
        pass
    with resting():
        assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    with resting():
        pass
    assert not gc.isenabled()


def test_objects_that_a_user_froze_stay_frozen() -> None:
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        with resting():
            pass
        assert gc.get_freeze_count() >= before - 100
    finally:
        gc.unfreeze()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
def test_it_runs_in_the_child_of_a_fork_inside_of_a_block() -> None:
    with resting():
        collector._rest.wake()  # what a fork calls in the child
        assert gc.isenabled()
