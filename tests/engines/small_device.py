"""A device that takes small buffers only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.backends.cpu.backend import CpuBackend

if TYPE_CHECKING:
    from vyre.backends.protocol import BackendInfo

ROOM = 1 << 16
"""Bytes of its buffers."""


class Small(CpuBackend):
    def describe(self) -> BackendInfo:
        info = super().describe()
        return replace(info, limits=replace(info.limits, buffer_bytes=ROOM))
