"""Runtimes: the protocol they implement, how they are found, and how arrays reach them."""

from vyre.backends.chosen import default_backend, default_name, use
from vyre.backends.dispatch import Compiled, compile_program, dispatch
from vyre.backends.protocol import Backend, BackendInfo, BackendLimits, Executable
from vyre.backends.registry import BackendStatus, available, get

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
    "default_name",
    "dispatch",
    "get",
    "use",
]
