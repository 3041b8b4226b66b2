"""Runtimes: the protocol they implement, how they are found, and how arrays reach them."""

from vyre.backends.dispatch import Compiled, compile_program, dispatch
from vyre.backends.protocol import Backend, BackendInfo, BackendLimits, Executable
from vyre.backends.registry import BackendStatus, available, default_backend, get

__all__ = [
    "Backend",
    "BackendInfo",
    "BackendLimits",
    "BackendStatus",
    "Compiled",
    "Executable",
    "available",
    "compile_program",
    "default_backend",
    "dispatch",
    "get",
]
