"""What the ops of codes compute, by the other hand of `lab.floats.codes`; bits in, bits out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lab.floats.codes import DTYPES, ENCODERS, NF4, decoded

if TYPE_CHECKING:
    from collections.abc import Callable


def _decode(name: str) -> Callable[[int], int]:
    table = decoded(name)
    return lambda a: int(table[a % 256])


def _encode(op_id: str) -> Callable[[int], int]:
    return lambda a: int(ENCODERS[op_id](np.array([a], np.uint32))[0])


CODES: dict[str, Callable[[int], int]] = {
    **{f"fp8.{name}.decode": _decode(name) for name in DTYPES},
    "nf4.decode": lambda a: int(NF4.astype(np.float32).view(np.uint32)[a % 16]),
    **{op_id: _encode(op_id) for op_id in ENCODERS},
}
