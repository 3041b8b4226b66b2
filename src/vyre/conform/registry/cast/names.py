"""The ids of the casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir.types import DataType


def cast_id(source: DataType, target: DataType) -> str:
    return f"cast.{source.value.lower()}.{target.value.lower()}"
