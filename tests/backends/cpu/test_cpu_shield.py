"""An interrupt while LLVM works: nothing is freed twice, and the interrupt is not lost."""

from __future__ import annotations

import signal
import threading

import pytest

from vyre.backends.interrupts import aside, undisturbed


def test_an_interrupt_comes_behind_the_block() -> None:
    done: list[str] = []

    def work() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["all of it"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_an_error_in_the_block_is_raised() -> None:
    with pytest.raises(ValueError, match="own"), undisturbed():
        raise ValueError("its own")


def test_waiting_for_work_ends_at_an_interrupt_and_the_work_goes_on() -> None:
    began, go, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> int:
        began.set()
        go.wait(20)
        ended.set()
        return 1

    threading.Thread(target=lambda: (began.wait(20), signal.raise_signal(signal.SIGINT))).start()
    with pytest.raises(KeyboardInterrupt):
        aside(work)
    assert not ended.is_set()
    go.set()
    assert ended.wait(20)


def test_results_and_errors_come_through() -> None:
    assert aside(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 // 0)
