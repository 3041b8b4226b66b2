"""Lanes and casts that are wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.parts import element, on_expr
from vyre.ir.expr import Cast, Expr, Lane, LitU32, Load, MakeVec, Select
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.mutant import Mutant
    from lab.mutants.parts import ExprFault
    from vyre.ir.program import Program

U32, I32, U64, U128 = DataType.U32, DataType.I32, DataType.U64, DataType.U128
VEC2, VEC4, BOOL = DataType.Vec2U32, DataType.Vec4U32, DataType.Bool
F16, F32 = DataType.F16, DataType.F32
ZERO = LitU32(0)


def mutants() -> Iterator[Mutant]:
    yield from _lanes()
    for kind, source, target, build, words in _CASTS:
        names = f"{source.value.lower()}.{target.value.lower()}"
        yield on_expr(kind, names, _cast(source, target, build), f"cast.{names}/inputs/{words}")


def _lanes() -> Iterator[Mutant]:
    def lane(pick: Callable[[int], int]) -> ExprFault:
        return lambda program, x: Lane(x.value, pick(x.index)) if isinstance(x, Lane) else x

    four = "inputs/0x1,0x2,0x3,0x4"
    yield on_expr("swapped lanes", "0 and 1", lane(lambda k: k ^ 1), "value.lane.u64.0/inputs/0x1,0x2")
    yield on_expr(
        "swapped lanes", "2 and 3", lane(lambda k: k ^ 1 if k > 1 else k), f"value.lane.vec4u32.2/{four}"
    )
    yield on_expr("swapped lanes", "always 0", lane(lambda k: 0), f"value.lane.u128.3/{four}")
    for of in (U64, VEC2, VEC4, U128):

        def reverse(program: Program, x: Expr, of: DataType = of) -> Expr:
            return MakeVec(of, x.lanes[::-1]) if isinstance(x, MakeVec) and x.type is of else x

        words = ",".join(f"0x{k + 1:X}" for k in range(of.lanes))
        name = of.value.lower()
        yield on_expr("lanes made in reverse", name, reverse, f"value.make_vec.{name}/inputs/{words}")


def _cast(source: DataType, target: DataType, build: Callable[[Expr], Expr]) -> ExprFault:
    """What is emitted for a cast of a loaded value of one type to another."""

    def fault(program: Program, x: Expr) -> Expr:
        if not isinstance(x, Cast) or x.target is not target or not isinstance(x.value, Load):
            return x
        return build(x.value) if element(program, x.value.buffer) is source else x

    return fault


def _sign(word: Expr) -> Expr:
    return Select(word >> 31, LitU32(0xFFFF_FFFF), ZERO)


def _half_sign(x: Expr) -> Expr:
    word = Cast(U32, x)
    return word | Select(word >> 15, LitU32(0xFFFF_0000), ZERO)


_CASTS: tuple[tuple[str, DataType, DataType, Callable[[Expr], Expr], str], ...] = (
    ("cast not sign-extended", I32, U64, lambda x: MakeVec(U64, (Cast(U32, x), ZERO)), "0x80000000"),
    ("cast not sign-extended", I32, U128, lambda x: MakeVec(U128, (Cast(U32, x), *[ZERO] * 3)), "0x80000000"),
    ("cast sign-extended", U32, U64, lambda x: MakeVec(U64, (x, _sign(x))), "0x80000000"),
    ("cast sign-extended", U32, U128, lambda x: MakeVec(U128, (x, *[_sign(x)] * 3)), "0x80000000"),
    ("cast sign-extended", F16, U32, _half_sign, "0x8000"),
    ("cast not broadcast", U32, VEC2, lambda x: MakeVec(VEC2, (x, ZERO)), "0x5"),
    ("cast not broadcast", U32, VEC4, lambda x: MakeVec(VEC4, (x, ZERO, ZERO, ZERO)), "0x5"),
    ("cast to Bool of the lowest bit", U32, BOOL, lambda x: Cast(BOOL, x & 1), "0x2"),
    ("cast to Bool of a byte", U32, BOOL, lambda x: Cast(BOOL, x & 0xFF), "0x100"),
    ("cast to Bool of one lane", U64, BOOL, lambda x: Cast(BOOL, Lane(x, 0)), "0x0,0x1"),
    ("cast to Bool of one lane", VEC4, BOOL, lambda x: Cast(BOOL, Lane(x, 0)), "0x0,0x0,0x0,0x1"),
    ("cast takes the high lane", U64, U32, lambda x: Lane(x, 1), "0x1,0x2"),
    ("cast takes the high lane", VEC2, U32, lambda x: Lane(x, 1), "0x1,0x2"),
    ("cast swaps lanes", U64, VEC2, lambda x: MakeVec(VEC2, (Lane(x, 1), Lane(x, 0))), "0x1,0x2"),
    ("cast drops the sign", U32, F32, lambda x: Cast(F32, x & 0x7FFF_FFFF), "0x80000000"),
    ("cast of the high half", U32, F16, lambda x: Cast(F16, x >> 16), "0x10002"),
)
