"""Hardware instructions as ops (Category C): declared, called like any op, emitted one to one or refused.

They are not part of `standard_ops`, which all compose; the default registry holds both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir.op import Op

__all__ = ["intrinsic_ops"]


def intrinsic_ops() -> list[Op]:
    """Every instruction, in the order of its documentation."""
    from vyre.ops.intrinsics import matrix, packed, subgroup

    return [*subgroup.ops(), *packed.ops(), *matrix.ops()]
