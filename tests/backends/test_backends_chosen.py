"""Which backend a call takes that names none: a block, a choice, the environment, else cpu."""

from __future__ import annotations

import threading
from contextlib import suppress

import numpy as np
import pytest

import vyre
from vyre import engines
from vyre.backends import chosen, get, registry
from vyre.backends.packages import Point
from vyre.engines.run import runner_of
from vyre.errors import BackendUnavailable, DispatchError


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen, "_everywhere", [None])
    monkeypatch.delenv(chosen.VARIABLE, raising=False)


@vyre.kernel
def doubled(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] * 2


def test_nothing_said_is_cpu() -> None:
    assert chosen.default_backend() == "cpu"


def test_a_choice_holds_in_every_thread() -> None:
    vyre.use("reference")
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(chosen.default_name()))
    thread.start()
    thread.join()
    assert seen == ["reference"] == [chosen.default_name()]


def test_a_block_holds_in_its_own_thread_alone() -> None:
    inside, go_on = threading.Event(), threading.Event()
    seen: list[str] = []

    def other() -> None:
        with vyre.use("reference"):
            seen.append(chosen.default_name())
            inside.set()
            go_on.wait(10)
        seen.append(chosen.default_name())

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    assert chosen.default_name() == "cpu"
    go_on.set()
    thread.join()
    assert seen == ["reference", "cpu"]


def test_blocks_nest_and_end_with_errors() -> None:
    with vyre.use("reference"):
        with suppress(ZeroDivisionError), vyre.use("cpu"):
            assert chosen.default_name() == "cpu"
            raise ZeroDivisionError
        assert chosen.default_name() == "reference"
    assert chosen.default_name() == "cpu"


def test_the_same_kernel_follows_the_choice() -> None:
    """What was compiled for one choice is not taken for the next."""
    words = np.array([1, 2, 3], np.uint32)
    program = doubled.source_program
    for name in ("reference", "cpu", "reference"):
        with vyre.use(name):
            assert doubled(words).tolist() == [2, 4, 6]
            assert vyre.compile_program(program).backend.name == name
            assert runner_of(None).backend == name
            assert doubled._compile(None).backend.name == name


def test_the_environment_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "reference")
    assert chosen.default_backend() == "reference"
    with vyre.use("cpu"):
        assert chosen.default_backend() == "cpu"


def test_a_wrong_name_in_the_environment_is_called_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chosen.VARIABLE, "cudda")
    with pytest.raises(DispatchError, match="VYRE_BACKEND is 'cudda', and no backend") as caught:
        doubled(np.zeros(1, np.uint32))
    assert "'cuda'" in caught.value.fix
    with pytest.raises(DispatchError, match="VYRE_BACKEND is 'cudda', and no backend"):
        engines.sort(np.zeros(1, np.uint32))


def test_a_wrong_name_is_refused_at_once() -> None:
    with pytest.raises(DispatchError, match="no backend is called 'reverence'"):
        vyre.use("reverence")
    for given in (3, None, get("cpu")):
        with pytest.raises(DispatchError, match=r"vyre\.use takes the name of a backend, not"):
            vyre.use(given)  # pyright: ignore[reportArgumentType]
    assert chosen.default_name() == "cpu"


def test_the_interpreter_is_never_taken_silently(monkeypatch: pytest.MonkeyPatch) -> None:
    points = {
        "cpu": (Point("cpu", "not_there_at_all:Nothing", "vyre"),),
        "reference": (Point("reference", "vyre.backends.reference.backend:ReferenceBackend", "vyre"),),
    }
    monkeypatch.setattr(registry, "_points", lambda: points)
    with pytest.raises(BackendUnavailable, match="'cpu' is not available") as caught:
        chosen.default_backend()
    assert "vyre doctor" in caught.value.fix
    assert chosen.VARIABLE in caught.value.fix
