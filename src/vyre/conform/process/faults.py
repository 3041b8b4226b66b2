"""How a backend in a process of its own ends badly, as errors."""

from __future__ import annotations

from vyre.errors import VyreError


class BackendCrash(VyreError):
    """The process of a backend died while it worked."""


class BackendHang(VyreError):
    """A backend gave no answer in time, and its process was ended."""


class DeviceChanged(VyreError):
    """A backend that was started again is not the one it was: another device, driver or toolchain."""


class MemoryGone(VyreError):
    """Memory of a device was asked for after the process that held it had ended."""


class BackendFault(VyreError):
    """A backend raised an exception of its own; `kind` is its type."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(f"{kind}: {message}", fix="repair the backend; the program is valid.")
