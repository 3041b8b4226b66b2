"""Buffers, workgroup sizes and names that a program may declare, and values that are not programs."""

from __future__ import annotations

import pytest

from vyre.errors import VyreError
from vyre.ir import (
    Assign,
    Barrier,
    BufferAccess,
    BufferDecl,
    DataType,
    Let,
    LitU32,
    Loop,
    Node,
    Program,
    Store,
    Var,
)
from vyre.validate import validate


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [
        (BufferDecl("b", None, BufferAccess.Uniform, DataType.U32), ["V037"]),
        (BufferDecl("b", 3, BufferAccess.Workgroup, DataType.U32, 4), ["V037"]),
        (BufferDecl("b", 3, BufferAccess.WorkgroupAtomic, DataType.U32, 0), ["V037", "V024"]),
        (BufferDecl("b", 1 << 32, BufferAccess.ReadOnly, DataType.U32), ["V042"]),
        (BufferDecl("b", 0, BufferAccess.ReadOnly, DataType.U32, 1 << 32), ["V042"]),
        (BufferDecl("b", 0, BufferAccess.ReadOnly, DataType.U32, -1), ["V042"]),
        (BufferDecl("b", True, BufferAccess.ReadOnly, DataType.U32), ["V042"]),
        (BufferDecl.uniform("b", 0, DataType.F16, count=32_768), []),
        (BufferDecl.uniform("b", 0, DataType.Bytes, count=16_385), ["V033"]),
        (BufferDecl.uniform("b", 0, DataType.F16, count=32_769), ["V033"]),
        (BufferDecl.read("b", 0, DataType.U32, count=1 << 31), []),
        (BufferDecl.workgroup("b", DataType.U128, (1 << 22) + 1), ["V035"]),
        (BufferDecl.read("", 0, DataType.U32), ["V032"]),
        (BufferDecl.read("a b", 0, DataType.U32), ["V032"]),
        (BufferDecl.read("a\n", 0, DataType.U32), ["V032"]),
        (BufferDecl.read("é", 0, DataType.U32), ["V032"]),
    ],
)
def test_declarations(buffer: BufferDecl, expected: list[str]) -> None:
    found = validate(Program([buffer], (1, 1, 1), []))
    assert [d.code for d in found] == expected
    assert all(d.path in ("buffers[0]", "buffers") for d in found)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((1024, 1, 1), []),
        ((1025, 1, 1), ["V039"]),
        ((0, 0, 5000), ["V003", "V003"]),
        ((1 << 32, 1, 1), ["V042"]),
        ((-1, 1, 1), ["V042"]),
        (((1 << 32) - 1, 1, 1), ["V039"]),
    ],
)
def test_workgroup_sizes(size: tuple[int, int, int], expected: list[str]) -> None:
    assert [d.code for d in validate(Program([], size, []))] == expected


def test_values_that_are_no_program_are_refused_with_a_fix() -> None:
    wrong_entry: list[Node] = [3]  # pyright: ignore[reportAssignmentType]
    with pytest.raises(VyreError, match=r"entry\[0\].*Fix:"):
        validate(Program([], (1, 1, 1), wrong_entry))
    wrong_element: DataType = "U32"  # pyright: ignore[reportAssignmentType]
    with pytest.raises(VyreError, match=r"buffers\[0\].*Fix:"):
        validate(Program([BufferDecl.read("b", 0, wrong_element)], (1, 1, 1), []))


def test_names_that_are_no_text_are_malformed() -> None:
    number: str = 3  # pyright: ignore[reportAssignmentType]
    entry: list[Node] = [
        Let(number, LitU32(0)),
        Loop(number, LitU32(0), LitU32(4), (Assign(number, Var("y")), Barrier())),
        Store(number, LitU32(0), LitU32(1)),
    ]
    found = [d.code for d in validate(Program([], (1, 1, 1), entry))]
    assert found == ["V032", "V032", "V008", "V006", "V004"]
