"""Calling conventions: declared by a backend, kept by a program, and found without being asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import V1, V2, BackendInfo, BufferDecl, DataType, Program
from vyre.backends.reference.backend import ReferenceBackend
from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir.convention import arranged, breach, kept

U32 = DataType.U32
INPUT = BufferDecl.read("input", 0, U32)
OUTPUT = BufferDecl.read_write("output", 1, U32)
PARAMS = BufferDecl.uniform("params", 2, U32, count=4)
TABLE = BufferDecl.read("table", 3, U32)
TILE = BufferDecl.workgroup("tile", U32, 4)


def program(*buffers: BufferDecl) -> Program:
    output = next(b for b in buffers if b.access.writable)
    value = buffers[-1][1] if buffers[-1].name == "table" else 7
    return Program(buffers, [1], [output.store(0, value)])


PLAIN = program(INPUT, OUTPUT, PARAMS)
LOOKING = program(INPUT, OUTPUT, PARAMS, TABLE)


class Declaring(ReferenceBackend):
    def __init__(self, *conventions: str) -> None:
        self._conventions = conventions

    def describe(self) -> BackendInfo:
        return BackendInfo("declaring", "1", "none", conventions=self._conventions)


def arrays(of: Program) -> dict[str, Any]:
    return {b.name: np.array([5, 7, 0, 0], np.uint32) for b in of.buffers if not b.access.shared}


@pytest.mark.parametrize("asked", [None, V1()])
def test_a_convention_that_is_kept_changes_no_result(asked: V1 | None) -> None:
    assert vyre.dispatch(PLAIN, arrays(PLAIN), backend="reference", convention=asked)["output"][0] == 7


def test_it_is_found_without_being_asked_for() -> None:
    assert vyre.compile_program(PLAIN, backend="reference").convention == V1()
    assert vyre.compile_program(LOOKING, backend="reference").convention == V2(lookup_binding=3)
    assert vyre.dispatch(LOOKING, arrays(LOOKING), backend="reference")["output"][0] == 7


def test_a_program_of_another_shape_is_bound_by_name() -> None:
    other = program(BufferDecl.read_write("output", 7, U32))
    for backend in (Declaring("V1", "V2"), Declaring("V1"), Declaring()):
        assert vyre.compile_program(other, backend=backend).convention is None


def test_a_missing_convention_is_refused_before_anything_is_compiled() -> None:
    assert vyre.compile_program(PLAIN, backend=Declaring("V1"), convention=V1()).convention == V1()
    for asked in (V2(lookup_binding=3), None):
        with pytest.raises(
            UnsupportedByBackend, match="convention V2 is not supported by the backend declar"
        ):
            vyre.compile_program(LOOKING, backend=Declaring("V1"), convention=asked)
    with pytest.raises(UnsupportedByBackend, match=r"convention V1 .*it declares none"):
        vyre.compile_program(PLAIN, backend=Declaring())


def test_a_backend_with_v2_alone_takes_an_input_for_the_table() -> None:
    two = program(INPUT, BufferDecl.read("more", 1, U32), BufferDecl.read_write("output", 2, U32))
    assert kept(two.buffers) == (V1(), V2(1), V2(0))
    assert vyre.compile_program(two, backend=Declaring("V2")).convention == V2(1)


WRONG: list[tuple[str, V1 | V2, list[BufferDecl], str]] = [
    ("one output far away", V1(), [BufferDecl.read_write("out", 7, U32)], "at least one input"),
    ("one output", V1(), [BufferDecl.read_write("out", 0, U32)], "at least one input"),
    ("no output", V1(), [INPUT], "at least one output"),
    ("a gap", V1(), [INPUT, BufferDecl.read_write("out", 2, U32)], "'out' .ReadWrite. is on binding 2"),
    (
        "not from 0",
        V1(),
        [BufferDecl.read("a", 1, U32), BufferDecl.read_write("b", 2, U32)],
        "is on binding 1",
    ),
    (
        "output first",
        V1(),
        [BufferDecl.read_write("out", 0, U32), BufferDecl.read("a", 1, U32)],
        "declare a @0, out @1",
    ),
    (
        "params in between",
        V1(),
        [INPUT, BufferDecl.uniform("p", 1, U32, count=4), BufferDecl.read_write("out", 2, U32)],
        "declare input @0, out @1, p @2",
    ),
    (
        "two blocks of params",
        V1(),
        [INPUT, OUTPUT, PARAMS, BufferDecl.uniform("more", 3, U32, count=4)],
        "one block of params",
    ),
    (
        "a table besides",
        V1(),
        [INPUT, OUTPUT, PARAMS, TABLE],
        "declare input @0, table @1, output @2, params @3",
    ),
    ("no table", V2(3), [INPUT, OUTPUT, PARAMS], "no buffer there.*ReadOnly buffers are on 0"),
    ("a negative binding", V2(-1), [INPUT, OUTPUT, PARAMS], "no buffer there"),
    ("a table that is written", V2(1), [INPUT, OUTPUT, PARAMS], "'output', which is ReadWrite"),
    ("a table of params", V2(2), [INPUT, OUTPUT, PARAMS], "'params', which is Uniform"),
    ("the only input", V2(0), [INPUT, OUTPUT, PARAMS], "at least one input .* besides its table"),
    ("two tables", V2(3), [INPUT, OUTPUT, PARAMS, TABLE, BufferDecl.read("t", 4, U32)], "'t' .*binding 4|@1"),
]


@pytest.mark.parametrize(("name", "asked", "buffers", "said"), WRONG, ids=[w[0] for w in WRONG])
def test_a_program_that_does_not_keep_it_is_told_what_to_declare(
    name: str, asked: V1 | V2, buffers: list[BufferDecl], said: str
) -> None:
    entry = [b.store(0, 1) for b in buffers if b.access.writable]
    with pytest.raises(DispatchError, match=f"does not keep the convention {type(asked).__name__}: .*{said}"):
        vyre.compile_program(Program(buffers, [1], entry), backend="reference", convention=asked)
    assert vyre.compile_program(Program(buffers, [1], entry), backend="reference")


@pytest.mark.parametrize("asked", ["V1", V1, 2])
def test_what_is_no_convention_is_refused(asked: Any) -> None:
    with pytest.raises(DispatchError, match=r"is not a convention\. Fix: pass convention=V1\(\)"):
        vyre.compile_program(PLAIN, backend="reference", convention=asked)


def test_buffers_are_arranged_as_the_convention_has_them() -> None:
    more, count = BufferDecl.read("more", 9, U32), BufferDecl.read_write("count", 8, U32)
    plain = arranged((OUTPUT, PARAMS, INPUT, TILE, more, count))
    assert {b.name: b.binding for b in plain} == {
        "output": 2, "params": 4, "input": 0, "tile": None, "more": 1, "count": 3,
    }  # fmt: skip
    assert breach(plain, V1()) is None
    looking = arranged((OUTPUT, PARAMS, INPUT, TABLE, TILE, more, count), lookup="table")
    assert {b.name: b.binding for b in looking} == {
        "output": 2, "params": 5, "input": 0, "table": 3, "tile": None, "more": 1, "count": 4,
    }  # fmt: skip
    assert breach(looking, V2(3)) is None
    assert kept(looking) == (V2(3),)
