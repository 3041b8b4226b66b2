"""`intrinsic.mma_*`: a product of small matrices added to a third, by the 32 lanes of a subgroup together.

Every lane holds a few elements of each matrix. With g = lane // 4 and t = lane % 4:

    a, 16 rows of k   element i: row g + 8 * (i % 2), column t + 4 * (i // 2)
    b, k rows of 8    element i: row t + 4 * i, column g
    c, 16 rows of 8   element i: row g + 8 * (i // 2), column 2 * t + i % 2

An element of F64 is one double. Of `mma_s8` an element of `a` and `b` is a word of four bytes that follow
each other along k, so that k counts words there.

No value holds four doubles, so an op of `mma_f64` gives one element of the result, and its id ends in the
element's number. Calls that stand behind each other and differ in that number alone are one instruction.
"""

from __future__ import annotations

from vyre.ir.op import BackendAvailability, Category, Op, Param
from vyre.ir.types import DataType

T = DataType
LANES = 32
DEPTHS = (4, 8, 16)
"""How far `mma_f64` reaches along k."""
ELEMENTS = 4
"""Elements of the result that a lane holds."""

_F64 = BackendAvailability(
    ("reference", "cuda"), "matrix instructions that add products of doubles with k ascending, one by one"
)
_S8 = BackendAvailability(("reference", "cuda"), "matrix instructions for bytes")


def op_id(hardware: str) -> str:
    return f"intrinsic.{hardware}"


def f64_hardware(depth: int, element: int) -> str:
    return f"mma_f64.m16n8k{depth}_{element}"


S8_HARDWARE = "mma_s8.m16n8k32"


def ops() -> list[Op]:
    return [*(_f64(depth, element) for depth in DEPTHS for element in range(ELEMENTS)), _s8()]


def _f64(depth: int, element: int) -> Op:
    sizes = {"a": depth // 2, "b": depth // 4, "c": ELEMENTS}
    params = tuple(Param(f"{name}{i}", T.F64) for name, size in sizes.items() for i in range(size))
    doc = (
        f"Element {element} of `c` after FMulAdd(a, b, c) for each of the {depth} k, ascending, of the "
        f"matrices of 16 x {depth} and {depth} x 8 that 32 lanes hold."
    )
    return _op(f64_hardware(depth, element), params, T.F64, doc, _F64)


def _s8() -> Op:
    params = (Param("a", T.Vec4U32), Param("b", T.Vec2U32), Param("c", T.Vec4U32))
    doc = (
        "`c` and the product of the matrices of 16 x 32 and 32 x 8 bytes, each from -128 to 127, that 32 "
        "lanes hold, modulo 2^32."
    )
    return _op(S8_HARDWARE, params, T.Vec4U32, doc, _S8)


def _op(
    hardware: str, params: tuple[Param, ...], output: DataType, doc: str, where: BackendAvailability
) -> Op:
    return Op(
        op_id(hardware),
        params,
        output,
        None,
        category=Category.C,
        doc=doc,
        hardware=hardware,
        backend_availability=where,
        lanes=LANES,
    )
