"""`intrinsic.packed.*`: dot products of the four bytes of two words, one instruction each.

What they compute is what `bytes.dot4_u8` and `bytes.dot4_i8` are composed to give; those run everywhere. Each
invocation computes for itself, so a call may stand anywhere.
"""

from __future__ import annotations

from vyre.ir.op import BackendAvailability, Category, Op, Param
from vyre.ir.types import DataType

_U32 = DataType.U32
_WHERE = BackendAvailability(
    ("reference", "cuda", "wgpu", "dawn", "opencl"), "dot products of four packed bytes in one instruction"
)

TWINS = {"dot4_u8": "bytes.dot4_u8", "dot4_i8": "bytes.dot4_i8"}
"""The composition that gives the same bits, by the name of the instruction."""

_DOCS = {
    "dot4_u8": "The sum of the products of bytes in the same place.",
    "dot4_i8": "The sum of the products of bytes in the same place, each from -128 to 127, modulo 2^32.",
}


def op_id(name: str) -> str:
    return f"intrinsic.packed.{name}"


def ops() -> list[Op]:
    return [
        Op(
            op_id(name),
            (Param("a", _U32), Param("b", _U32)),
            _U32,
            None,
            category=Category.C,
            doc=doc,
            hardware=f"packed.{name}",
            backend_availability=_WHERE,
        )
        for name, doc in _DOCS.items()
    ]
