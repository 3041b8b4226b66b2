"""An error that a user causes ends at the user's line; a fault of ours, or of a device, shows every frame."""

from __future__ import annotations

import os
import traceback
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from vyre import DispatchError, In, InOut, Out, Program, VyreError, engines, u32
from vyre.errors import DeviceError
from vyre.validate import check

if TYPE_CHECKING:
    from collections.abc import Callable

OURS = os.path.dirname(vyre.__file__) + os.sep


@vyre.kernel
def doubled(x: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] * 2


@vyre.kernel
def raised(x: InOut[u32]) -> None:
    x[vyre.invocation_id(0)] += 1


def wrong_kernel() -> Any:
    @vyre.kernel
    def broken(x: In[u32], out: Out[u32]) -> None:
        out[0] = x[0] + y  # type: ignore[name-defined] # noqa: F821 # pyright: ignore

    return broken


def wrong_op() -> Any:
    @vyre.op(id="acme.broken")
    def broken(x: u32) -> u32:
        while x:  # type: ignore[truthy-bool]
            pass
        return x

    return broken


X = np.zeros(4, np.uint32)
NOTHING = Program.from_text("vyre 1 workgroup 1 buffer out: readwrite U32 @0 entry { out[0] = j }")
MISTAKES: dict[str, Callable[[], Any]] = {
    "no argument": lambda: doubled(),
    "dtype": lambda: doubled(np.zeros(4)),
    "shared memory": lambda: doubled(X, X),
    "backend": lambda: doubled(X, backend="gpu"),
    "grid": lambda: doubled(X, workgroups=-1),
    "unwritable": lambda: raised(bytes(4)),
    "launch": lambda: doubled[1],
    "dispatch": lambda: vyre.dispatch(doubled.program, {"y": X}),
    "compile": lambda: vyre.compile_program(NOTHING),
    "compiled": lambda: vyre.compile_program(doubled.program)({"x": X}),
    "kernel": wrong_kernel,
    "kernel size": lambda: vyre.kernel(workgroup_size=0),
    "op": wrong_op,
    "builtin": lambda: vyre.popcount(3),  # type: ignore[arg-type]
    "type": lambda: u32(3),
    "array": lambda: vyre.array([-1], u32),
    "text": lambda: Program.from_text("vyre 7"),
    "wire": lambda: Program.from_wire(b"nothing"),
    "program": lambda: Program([], (1, 1, 1, 1), []),
    "expression": lambda: vyre.LitU32(-1),
    "statement": lambda: vyre.Let("x", 3),  # pyright: ignore[reportArgumentType]
    "validate": lambda: check(NOTHING),
    "to_device": lambda: vyre.to_device(np.zeros(3, np.complex64)),
    "device_zeros": lambda: vyre.device_zeros(-1, u32),
    "copy_from": lambda: vyre.device_zeros(1, u32).copy_from(np.zeros(2, np.uint32)),
    "engine": lambda: engines.reduce(np.zeros(3)),
    "registry": lambda: vyre.default_registry()["no.such.op"],
    "step limit": lambda: doubled(X, step_limit=-1),
    "no backend": lambda: doubled(X, backend=3),  # type: ignore[arg-type]
    "class of a backend": lambda: doubled(X, backend=Faulty),  # type: ignore[arg-type]
    "no program": lambda: vyre.dispatch(doubled, {"x": X}),  # type: ignore[arg-type]
    "no program at all": lambda: vyre.dispatch([], {}),  # type: ignore[arg-type]
    "elements of a number": lambda: u32[3],  # type: ignore[misc]
}


def frames(error: BaseException) -> list[str]:
    return [f.filename for f in traceback.extract_tb(error.__traceback__)]


@pytest.fixture(autouse=True)
def as_users_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VYRE_TRACEBACK", raising=False)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_traceback_of_a_mistake_ends_at_the_users_line(mistake: str) -> None:
    with pytest.raises(VyreError) as caught:
        MISTAKES[mistake]()
    assert set(frames(caught.value)) == {__file__}
    shown = "".join(traceback.format_exception(caught.value))
    assert OURS not in shown
    assert "During handling" not in shown


@pytest.mark.parametrize("mistake", ["dtype", "kernel", "text"])
def test_all_frames_can_be_had(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_TRACEBACK", "full")
    with pytest.raises(VyreError) as caught:
        MISTAKES[mistake]()
    assert any(name.startswith(OURS) for name in frames(caught.value))


class Faulty:
    """A backend of somebody else's, which fails in the way it is told."""

    name = "faulty"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def describe(self) -> vyre.BackendInfo:
        return vyre.BackendInfo("faulty", "1", "none")

    def compile(self, program: Program) -> Any:
        raise self.error


def test_faults_keep_their_frames() -> None:
    for error in (TypeError("a fault"), DeviceError("it is gone.", fix="try again.")):
        with pytest.raises(type(error)) as caught:
            doubled(X, backend=Faulty(error))
        assert any(name.startswith(OURS) for name in frames(caught.value))


def test_frames_of_others_stay() -> None:
    """The user's own backend refuses: its line is where the user looks."""
    with pytest.raises(DispatchError) as caught:
        doubled(X, backend=Faulty(DispatchError("not today.", fix="come again.")))
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)][1:] == ["compile"]


def test_what_the_user_was_handling_stays_in_sight() -> None:
    def handling() -> None:
        try:
            raise KeyError("mine")
        except KeyError:
            doubled(np.zeros(4))

    with pytest.raises(DispatchError) as caught:
        handling()
    assert isinstance(caught.value.__context__, KeyError)
