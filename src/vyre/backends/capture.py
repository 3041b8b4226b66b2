"""Many dispatches as one plan, which is launched again and again without binding anything anew.

    x, y, z = (vyre.to_device(array, backend="cuda") for array in arrays)
    with vyre.capture("cuda") as plan:
        first(x, y, backend="cuda")
        second(y, z, backend="cuda")
    x.copy_from(other)
    plan.replay()               # first and second again, on what the buffers hold now

The calls of the block run as they are made, so their errors come where they are written. A replay launches
them in the same order on the same buffers, and gives the same bytes as calling them again. All arrays of a
call must be device buffers. On `cuda` a plan is a CUDA graph, which one call of the driver launches;
elsewhere it is a list of bound launches. A plan keeps the memory of its buffers, even of one that is closed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from vyre.backends.device_buffer import resident
from vyre.backends.protocol import ReplayingBackend, able
from vyre.backends.recording import Recording, current
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from types import TracebackType

    from vyre.backends.protocol import Backend, ResidentBackend


class CapturedPlan:
    """The dispatches of one block, in their order."""

    def __init__(self, backend: ResidentBackend) -> None:
        self._backend = backend
        self._recording: Recording | None = None
        self._token: Token[Recording | None] | None = None
        self._replay: Callable[[], None] | None = None

    def __len__(self) -> int:
        """How many dispatches it holds."""
        return 0 if self._recording is None else len(self._recording.launches)

    def replay(self) -> None:
        """Launches every dispatch again. Like a dispatch it may return before the work is done."""
        if self._replay is None:
            raise DispatchError(
                "the plan is not complete: its block has not ended, or ended in an error.",
                fix="call replay() after a `with vyre.capture(…)` block that ran through.",
            )
        self._replay()

    def __enter__(self) -> Self:
        if self._recording is not None or current.get() is not None:
            raise DispatchError(
                "a block of vyre.capture is already open, or this plan was made before.",
                fix="open one block at a time, each with a vyre.capture(…) of its own.",
            )
        self._recording = Recording(self._backend)
        self._token = current.set(self._recording)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._token is not None
        assert self._recording is not None
        current.reset(self._token)
        if kind is None:
            launches = tuple(self._recording.launches)
            backend = self._backend
            if launches and able(backend, ReplayingBackend):
                self._replay = backend.replayed(launches)
            else:
                self._replay = _in_order(launches)


def capture(backend: str | Backend | None = None) -> CapturedPlan:
    """A plan of the dispatches in a `with` block on `backend`, the default one if None."""
    return CapturedPlan(resident(backend))


def _in_order(launches: tuple[Callable[[], None], ...]) -> Callable[[], None]:
    def replay() -> None:
        for launch in launches:
            launch()

    return replay
