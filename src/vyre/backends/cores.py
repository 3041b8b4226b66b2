"""What the cores of a backend have, for who writes kernels for them: it changes no bit, only the tiles.

A backend on whose cores it depends has a property `registers`; all others have nothing to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from vyre.backends.protocol import able

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend

WIDE_REGISTERS = "wide registers"
"""A core has 32 registers of 64 bytes."""


@runtime_checkable
class RegisteredBackend(Protocol):
    @property
    def registers(self) -> frozenset[str]:
        """`WIDE_REGISTERS`, or nothing."""
        ...


def registers_of(backend: Backend) -> frozenset[str]:
    return backend.registers if able(backend, RegisteredBackend) else frozenset()
