"""Only the thread that runs a canary compiles without an examination."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from vyre.backends.canaries import run
from vyre.backends.canaries.examined import Examined
from vyre.backends.protocol import CanaryVerdict
from vyre.ir import BufferDecl, DataType, InvocationId, Program

if TYPE_CHECKING:
    import pytest

OUT = BufferDecl.read_write("out", 0, DataType.U32)
PROGRAM = Program([OUT], (64,), [OUT.store(InvocationId(0), InvocationId(0))])


class Device(Examined):
    name = "device"

    def __init__(self) -> None:
        self.examine_later()


def test_another_thread_is_examined_while_canaries_run(monkeypatch: pytest.MonkeyPatch) -> None:
    device, seen = Device(), dict[str, bool]()

    def examine(*_: Any, **__: Any) -> CanaryVerdict:
        other = threading.Thread(target=lambda: seen.update(other=device.examines))
        other.start()
        other.join()
        seen["own"] = device.examines
        return CanaryVerdict({})

    monkeypatch.setattr(run, "examine", examine)
    device.require_sound(PROGRAM)
    assert seen == {"other": True, "own": False}
    assert device.examines


def test_a_device_that_is_believed_examines_nothing() -> None:
    class Believed(Examined):
        name = "believed"

    assert not Believed().examines
