"""Encoding and decoding are inverse, on valid and invalid programs alike."""

from __future__ import annotations

import pickle
from random import Random

import pytest

from tests.wire.wire_bytes import BARRIER, RETURN, add, let, lit, program_bytes, text
from tests.wire.wire_programs import golden_programs, random_program
from vyre.errors import SourceLocation
from vyre.ir import Barrier, BufferAccess, BufferDecl, DataType, If, Let, LitU32, Program, Return, Store
from vyre.ir.interning import interned_count
from vyre.wire import MAGIC, byte_digest, decode, encode


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_of_any_structure_round_trip(seed: int) -> None:
    rng = Random(seed)
    for _ in range(25):
        program = random_program(rng)
        data = encode(program)
        assert decode(data) == program
        assert encode(decode(data)) == data


def test_the_bytes_of_a_small_program_are_the_documented_ones() -> None:
    one = LitU32(1)
    program = Program(
        [BufferDecl("out", 0, BufferAccess.ReadWrite, DataType.U32, 4)],
        (64, 1, 1),
        [Let("x", one + one), If(one, (Store("out", one, one + one), Barrier()), (Return(),))],
    )
    assert encode(program) == program_bytes(
        strings=[text("out"), text("x")],
        workgroup=b"\x40\x01\x01",
        buffers=[b"\x00\x02\x01\x01\x04"],
        exprs=[lit(1), add(1, 1)],
        nodes=[
            let(1, 1),
            b"\x03\x00\x00\x01",
            BARRIER,
            RETURN,
            b"\x04\x00" + b"\x02\x03\x02" + b"\x01\x01",
        ],
        entry=[b"\x00", b"\x04"],
    )


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_every_bytes_like_argument_is_accepted(wrap: type) -> None:
    data = encode(golden_programs()["statements"])
    assert decode(wrap(data)) == golden_programs()["statements"]


def test_a_strided_view_is_read_by_its_elements() -> None:
    data = encode(golden_programs()["ids"])
    doubled = bytes(byte for pair in zip(data, data, strict=True) for byte in pair)
    assert decode(memoryview(doubled)[::2]) == golden_programs()["ids"]


def test_source_locations_are_not_shipped() -> None:
    located = Program([], (1, 1, 1), [Return()], locations={"entry[0]": SourceLocation("k.py", 1, 1)})
    assert encode(located) == encode(Program([], (1, 1, 1), [Return()]))
    assert decode(encode(located)).locations == {}


def test_equal_programs_built_apart_have_equal_bytes_and_digests() -> None:
    for name, program in golden_programs().items():
        again = golden_programs()[name]
        assert again is not program
        assert encode(program) == encode(again)
        assert byte_digest(program) == byte_digest(again)
    digests = {byte_digest(program) for program in golden_programs().values()}
    assert len(digests) == len(golden_programs())


def test_a_workgroup_size_may_be_short_and_a_bool_counts_as_a_number() -> None:
    assert decode(encode(Program([], (), []))).workgroup_size == (1, 1, 1)
    assert encode(Program([], (True, 1, 1), [])) == encode(Program([], (1, 1, 1), []))


def test_a_program_survives_pickling_and_its_own_methods() -> None:
    program = golden_programs()["sharing"]
    assert pickle.loads(pickle.dumps(program)) == program
    assert program.to_wire().startswith(MAGIC)
    assert Program.from_wire(program.to_wire()) == program


def test_decoding_leaves_no_node_behind() -> None:
    data = program_bytes(exprs=[lit(0xABCDEF01)], strings=[text("t")], nodes=[let(0, 0)], entry=[b"\x00"])
    before = interned_count()
    program = decode(data)
    assert interned_count() == before + 2
    del program
    assert interned_count() == before
