"""The names of soft ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def prefix(fmt: FloatFormat) -> str:
    """What the ids of the ops of a format begin with."""
    return f"soft.{fmt.name.lower()}"
