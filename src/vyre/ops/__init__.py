"""The standard library: ops as data, one small file per family, every one a composition (Category A).

Ids are permanent: a bare id is version 1 for ever (decision 20). Atomics access buffers, so the
`atomic.*` names of the conformance tables are expressions (`Atomic`) and no ops of a registry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.ir.op import Op

__all__ = ["standard_ops"]


def standard_ops() -> list[Op]:
    """Every op of the standard library, in the order of its documentation."""
    from vyre.ops import (
        bytelanes,
        floats,
        integer,
        modular,
        primitive,
        quantised,
        signed,
        wide,
        wide_bits,
        wide_division,
        wide_signed,
    )

    families = (
        primitive,
        integer,
        modular,
        signed,
        wide,
        wide_bits,
        wide_signed,
        wide_division,
        bytelanes,
        floats,
        quantised,
    )
    return [op for family in families for op in family.ops()]
