"""Every pair of the cast table, alone and through a program; every other pair is refused."""

from __future__ import annotations

import pytest

from tests.reference.reference_programs import evaluate, words
from vyre.errors import InterpreterError
from vyre.ir import BufferDecl, Cast, DataType, Load
from vyre.ir.types import VALUE_TYPES
from vyre.ir.typing import CAST_TABLE
from vyre.reference.casts import cast
from vyre.reference.memory import Buffer

T = DataType
LANES = 0x00000004_00000003_00000002_00000001
TOP = 0x80000000

ROWS: list[tuple[DataType, DataType, int, int]] = [
    (T.U32, T.I32, 0xFFFFFFFF, 0xFFFFFFFF),
    (T.U32, T.Bool, 0x100, 1),
    (T.U32, T.Bool, 0, 0),
    (T.U32, T.U64, 0xFFFFFFFF, 0xFFFFFFFF),
    (T.U32, T.Vec2U32, 7, 0x00000007_00000007),
    (T.U32, T.Vec4U32, 7, 0x00000007_00000007_00000007_00000007),
    (T.U32, T.U128, 0xFFFFFFFF, 0xFFFFFFFF),
    (T.U32, T.F32, 0x7FA00001, 0x7FA00001),
    (T.U32, T.F16, 0xABCD7E01, 0x7E01),
    (T.U32, T.BF16, 0xABCD7FC1, 0x7FC1),
    (T.I32, T.U32, TOP, TOP),
    (T.I32, T.Bool, TOP, 1),
    (T.I32, T.U64, TOP, 0xFFFFFFFF_80000000),
    (T.I32, T.U64, 5, 5),
    (T.I32, T.Vec2U32, 0xFFFFFFFF, 0xFFFFFFFF_FFFFFFFF),
    (T.I32, T.Vec4U32, TOP, 0x80000000_80000000_80000000_80000000),
    (T.I32, T.U128, TOP, 0xFFFFFFFF_FFFFFFFF_FFFFFFFF_80000000),
    (T.I32, T.U128, 9, 9),
    (T.Bool, T.U32, 1, 1),
    (T.Bool, T.I32, 1, 1),
    (T.Bool, T.U64, 1, 1),
    (T.Bool, T.Vec2U32, 1, 0x00000001_00000001),
    (T.Bool, T.Vec4U32, 1, 0x00000001_00000001_00000001_00000001),
    (T.Bool, T.U128, 1, 1),
    (T.U64, T.U32, 0x00000002_00000001, 1),
    (T.U64, T.I32, 0x00000002_FFFFFFFF, 0xFFFFFFFF),
    (T.U64, T.Bool, 1 << 63, 1),
    (T.U64, T.Bool, 0, 0),
    (T.U64, T.Vec2U32, 0x00000002_00000001, 0x00000002_00000001),
    (T.U64, T.U128, 1 << 63, 1 << 63),
    (T.Vec2U32, T.U32, 0x00000007_00000003, 3),
    (T.Vec2U32, T.I32, 0xFFFFFFFF, 0xFFFFFFFF),
    (T.Vec2U32, T.U64, 0x00000007_00000003, 0x00000007_00000003),
    (T.Vec2U32, T.Bool, 1 << 32, 1),
    (T.Vec2U32, T.U128, 0x00000007_00000003, 0x00000007_00000003),
    (T.Vec4U32, T.U32, LANES, 1),
    (T.Vec4U32, T.I32, LANES, 1),
    (T.Vec4U32, T.Vec2U32, LANES, 0x00000002_00000001),
    (T.Vec4U32, T.U64, LANES, 0x00000002_00000001),
    (T.Vec4U32, T.Bool, 1 << 127, 1),
    (T.Vec4U32, T.U128, LANES, LANES),
    (T.U128, T.U32, LANES, 1),
    (T.U128, T.I32, LANES, 1),
    (T.U128, T.U64, LANES, 0x00000002_00000001),
    (T.U128, T.Vec2U32, LANES, 0x00000002_00000001),
    (T.U128, T.Vec4U32, LANES, LANES),
    (T.U128, T.Bool, 1 << 96, 1),
    (T.F32, T.U32, 0xFFC00001, 0xFFC00001),
    (T.F32, T.F16, 0x3F800000, 0x3C00),
    (T.F32, T.F16, 0x477FF000, 0x7C00),
    (T.F32, T.F16, 0xFFA00001, 0x7E00),
    (T.F32, T.BF16, 0x3F808000, 0x3F80),
    (T.F32, T.BF16, 0x3F818000, 0x3F82),
    (T.F32, T.F64, 0x00000001, 0x36A0000000000000),
    (T.F64, T.F32, 0x3FF0000010000000, 0x3F800000),
    (T.F64, T.F32, 0xFFF0000000000001, 0x7FC00000),
    (T.F16, T.F32, 0x0001, 0x33800000),
    (T.F16, T.F32, 0xFE01, 0x7FC00000),
    (T.F16, T.U32, 0xFE01, 0xFE01),
    (T.BF16, T.F32, 0x3F80, 0x3F800000),
    (T.BF16, T.U32, 0xFFC1, 0xFFC1),
    *[(t, t, 1, 1) for t in (*VALUE_TYPES, T.Bytes)],
]


def test_every_pair_of_the_table_has_a_row() -> None:
    assert {(source, target) for source, target, _, _ in ROWS} == set(CAST_TABLE)


@pytest.mark.parametrize(("source", "target", "bits", "result"), ROWS)
def test_cast_rows(source: DataType, target: DataType, bits: int, result: int) -> None:
    assert cast(source, target, bits) == result
    given = BufferDecl.read("given", 1, source)
    data = bits.to_bytes(source.stride, "little")
    assert evaluate(Cast(target, given[0]), target.loaded, inputs=[given], buffers={"given": data}) == result


def test_a_pair_outside_the_table_is_refused() -> None:
    outside = [(s, t) for s in T for t in T if (s, t) not in CAST_TABLE]
    assert (T.U64, T.Vec4U32) in outside
    for source, target in outside:
        with pytest.raises(InterpreterError, match=f"{source.value} to {target.value}"):
            cast(source, target, 0)


def test_a_bool_from_the_host_is_normalised_when_it_is_loaded() -> None:
    given = BufferDecl.read("given", 1, T.Bool)
    bits = evaluate(
        Cast(T.U32, Load("given", given.length - 1)), inputs=[given], buffers={"given": words(0, 9)}
    )
    assert bits == 1


def test_a_bool_that_no_store_touches_keeps_its_bytes() -> None:
    buffer = Buffer(T.Bool, bytearray(words(9, 0)))
    assert (buffer.load(0), buffer.load(1)) == (1, 0)
    assert buffer.data == words(9, 0)
