"""The launches of a block, noted while they run (`vyre.backends.capture`)."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vyre.backends.protocol import Backend


class Recording:
    """What was launched on one backend, and what keeps its memory."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.launches: list[Callable[[], None]] = []
        self.kept: list[object] = []

    def require(self, backend: Backend, *, repeatable: bool, limited: bool = False) -> None:
        """Raises `DispatchError` for a call that cannot be launched again as it is."""
        if backend is not self.backend:
            raise DispatchError(
                f"a call on the backend {backend.name!r} cannot be part of a plan on {self.backend.name!r}.",
                fix="capture each backend in a block of its own, and pass its backend= to every call.",
            )
        if limited:
            raise DispatchError(
                "a call with step_limit= cannot be part of a plan.",
                fix="leave step_limit out, or make this call outside of the block.",
            )
        if not repeatable:
            raise DispatchError(
                "a plan holds calls whose arrays are all device buffers, outputs included.",
                fix="make them before the block with vyre.to_device and vyre.device_zeros, and pass each.",
            )

    def add(self, launch: Callable[[], None], kept: Iterable[object]) -> None:
        self.launches.append(launch)
        self.kept += kept


current: ContextVar[Recording | None] = ContextVar("vyre_recording", default=None)
"""The recording of the block that is being run, None outside of one."""


def refuse_in_capture(what: str) -> None:
    """Raises `DispatchError` for what a replay would leave out, inside of a block."""
    if current.get() is not None:
        raise DispatchError(
            f"{what} cannot be part of a plan: a replay launches kernels alone.",
            fix="make and fill the buffers before the block of vyre.capture.",
        )
