"""Whatever the bytes are, `decode` answers with a program or a `WireError` that says where and why."""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import Any

import pytest

from tests.wire.wire_bytes import (
    BARRIER,
    HEADER,
    RETURN,
    add,
    frame,
    let,
    lit,
    payload_of,
    program_bytes,
    text,
    varint,
)
from tests.wire.wire_programs import golden_programs
from vyre.errors import WireError
from vyre.ir import Program, Return
from vyre.wire import decode, encode

X = text("x")
GOOD = program_bytes(strings=[X], exprs=[lit(1), lit(2), add(2, 1)], nodes=[let(0, 2)], entry=[b"\x00"])


def refused(data: Any) -> WireError:
    with pytest.raises(WireError) as caught:
        decode(data)
    error = caught.value
    assert error.fix
    assert error.offset is not None
    assert f"byte {error.offset}: " in str(error)
    assert "Fix: " in str(error)
    return error


def body(data: bytes) -> int:
    """Offset of the payload, where the offsets of most errors are counted from."""
    return len(data) - len(payload_of(data))


def test_the_example_of_these_tests_is_accepted() -> None:
    assert encode(decode(GOOD)) == GOOD


@pytest.mark.parametrize("value", [None, 5, "text", [1, 2], object(), Program([], (1,), [])])
def test_what_is_not_bytes_is_refused(value: object) -> None:
    assert "bytes" in refused(value).fix


def test_a_released_view_is_refused() -> None:
    view = memoryview(GOOD)
    view.release()
    assert "released" in str(refused(view))


@pytest.mark.parametrize("name", ["empty", "statements", "literals", "sharing"])
def test_truncation_anywhere_is_refused(name: str) -> None:
    data = encode(golden_programs()[name])
    for length in range(len(data)):
        error = refused(data[:length])
        assert error.offset is not None
        assert error.offset <= length


@pytest.mark.parametrize("name", ["empty", "statements", "literals", "sharing"])
def test_truncation_under_a_right_digest_is_refused(name: str) -> None:
    payload = payload_of(encode(golden_programs()[name]))
    for length in range(len(payload)):
        error = refused(frame(payload[:length]))
        assert error.offset is not None
        assert error.offset <= len(frame(payload[:length]))


def test_any_flipped_bit_is_noticed() -> None:
    data = encode(golden_programs()["statements"])
    for position in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << position % 8
        refused(damaged)


def test_the_frame_is_checked_piece_by_piece() -> None:
    assert refused(b"").offset == 0
    assert "not the wire form" in str(refused(b"PK\x03\x04"))
    assert refused(HEADER[:3] + b"!").offset == 3
    unknown = HEADER[:-1] + b"\x02" + GOOD[len(HEADER) :]
    assert "version 2" in str(refused(unknown))
    assert refused(unknown).offset == len(HEADER) - 1
    assert "follow the program" in str(refused(GOOD + b"\x00"))
    assert refused(GOOD + b"\x00").offset == len(GOOD)
    assert "promised" in str(refused(GOOD[:-1]))
    digest_changed = bytearray(GOOD)
    digest_changed[len(HEADER) + 5] ^= 1
    assert "digest" in str(refused(digest_changed))
    absurd_length = HEADER + varint((1 << 63) - 1) + bytes(40)
    assert "promised" in str(refused(absurd_length))
    assert "over" in str(refused(HEADER + b"\xff" * 9 + b"\x7f" + bytes(40)))
    assert "longer than" in str(refused(HEADER + b"\x80" * 40))


MALFORMED: dict[str, tuple[bytes, int, str]] = {
    "unknown expression tag": (program_bytes(exprs=[b"\x18\x00"]), 6, "not a tag of an expression"),
    "tag zero": (program_bytes(exprs=[b"\x00\x00"]), 6, "not a tag of an expression"),
    "unknown operator": (program_bytes(exprs=[lit(1), b"\x0b\x7f\x01\x01"]), 9, "not a tag of this field"),
    "literal of a narrow type": (program_bytes(exprs=[b"\x04\x01" + bytes(4)]), 7, "not a tag of this field"),
    "unknown statement tag": (program_bytes(nodes=[b"\x0a"]), 7, "not a tag of a statement"),
    "unknown access": (program_bytes(strings=[X], buffers=[b"\x00\x08\x01\x00\x00"]), 8, "tag of an access"),
    "cut table": (program_bytes(strings=[X], buffers=[b"\x00\x07\x01\x00\x40"]), 12, "runs past the end"),
    "large tables": (
        program_bytes(strings=[X], buffers=2 * [b"\x00\x07\x01\x00" + varint(9000) + bytes(36_000)]),
        72_019,
        "V050: 72000 bytes",
    ),
    "unknown type": (program_bytes(strings=[X], buffers=[b"\x00\x01\x12\x00\x00"]), 9, "tag of a type"),
    "self reference": (program_bytes(exprs=[lit(1), b"\x0c\x01\x00"]), 10, "before it"),
    "reference before the table": (
        program_bytes(exprs=[lit(1), b"\x0c\x01\x02"]),
        10,
        "before it",
    ),
    "forward reference": (program_bytes(exprs=[b"\x0c\x01\x01", lit(1)]), 8, "before it"),
    "block that holds itself": (program_bytes(nodes=[b"\x07\x01\x00"]), 9, "before it"),
    "block that holds a later one": (program_bytes(nodes=[b"\x07\x01\x01", BARRIER]), 9, "before it"),
    "unknown expression": (program_bytes(strings=[X], nodes=[let(0, 0)], entry=[b"\x00"]), 11, "not exist"),
    "unknown statement": (program_bytes(nodes=[RETURN], entry=[b"\x01"]), 9, "does not exist"),
    "unknown string": (program_bytes(exprs=[b"\x05\x00"]), 7, "does not exist"),
    "axis over a byte": (program_bytes(exprs=[b"\x08\x80\x02"]), 7, "over 255"),
    "literal over u32": (program_bytes(exprs=[b"\x01" + varint(1 << 32)]), 7, "over 4294967295"),
    "boolean two": (program_bytes(exprs=[b"\x03\x02"]), 7, "not in 0..1"),
    "tolerance zero": (program_bytes(exprs=[lit(1), b"\x17\x01\x00\x01"]), 10, "not in 1.."),
    "workgroup over u32": (program_bytes(workgroup=varint(1 << 32) + b"\x01\x01"), 1, "over 4294967295"),
    "binding over u32": (
        program_bytes(strings=[X], buffers=[b"\x00\x01\x01" + varint((1 << 32) + 1) + b"\x00"]),
        10,
        "over 4294967296",
    ),
    "invalid UTF-8": (program_bytes(strings=[b"\x03a\xff\x80"]), 3, "UTF-8"),
    "half a surrogate pair": (program_bytes(strings=[b"\x03\xed\xa0\x80"]), 2, "UTF-8"),
    "string past the end": (frame(b"\x01\x20abc"), 1, "past the end"),
    "string over the limit": (frame(b"\x01" + varint(1025) + b"a" * 1025), 1, "over 1024"),
    "varint of two bytes for one": (program_bytes(exprs=[b"\x01\x80\x00"]), 7, "longer than its number"),
    "varint without end": (program_bytes(exprs=[b"\x01" + b"\x80" * 20]), 7, "longer than any number"),
    "bytes after the entry list": (program_bytes(tail=b"\x00"), 8, "follow the entry list"),
    "string twice": (program_bytes(strings=[X, X]), 3, "repeats"),
    "string never used": (program_bytes(strings=[X]), 10, "never used"),
    "strings out of order": (
        program_bytes(strings=[X, text("y")], exprs=[b"\x05\x01", b"\x05\x00"]),
        11,
        "out of order",
    ),
    "expression never used": (program_bytes(exprs=[lit(1)]), 6, "unused"),
    "statement never used": (program_bytes(nodes=[BARRIER]), 7, "unused"),
    "expression twice": (
        program_bytes(strings=[X], exprs=[lit(1), lit(1), add(2, 1)], nodes=[let(0, 2)], entry=[b"\x00"]),
        10,
        "repeats",
    ),
    "statement twice": (program_bytes(nodes=[BARRIER, BARRIER], entry=[b"\x00", b"\x01"]), 8, "repeats"),
    "expressions out of order": (
        program_bytes(strings=[X], exprs=[lit(1), lit(2), add(1, 2)], nodes=[let(0, 2)], entry=[b"\x00"]),
        8,
        "first use",
    ),
    "statements out of order": (
        program_bytes(nodes=[BARRIER, RETURN], entry=[b"\x01", b"\x00"]),
        7,
        "first use",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_payloads_are_refused_at_the_byte_at_fault(name: str) -> None:
    data, offset, message = MALFORMED[name]
    error = refused(data)
    assert message in error.message
    assert (error.offset or 0) - body(data) == offset


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\x00\x01\x01\x01",
        b"\x00\x01\x01\x01\x00",
        b"\x00\x01\x01\x01\x00\x00",
        b"\x00\x01\x01\x01\x00\x00\x00",
        b"\x00\x01\x01\x01\x00\x00\x01\x07",
        b"\x01\x01x\x01\x01\x01\x00\x01\x0d\x00",
        b"\x00\x01\x01\x01\x00\x01\x12\x01",
    ],
    ids=["strings", "buffers", "expressions", "statements", "entry", "body", "arguments", "lanes"],
)
@pytest.mark.parametrize("count", [30, 1 << 20, 1 << 40, (1 << 63) - 1, 1 << 70])
def test_a_count_beyond_the_bytes_is_refused_before_anything_is_made(head: bytes, count: int) -> None:
    data = frame(head + varint(count) + b"\x01" * 8)
    tracemalloc.start()
    refused(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 1024


def hostile_inputs() -> dict[str, bytes]:
    """Large inputs that are refused as late as possible."""
    n = 90_000
    many = [lit(i) for i in range(n)]
    return {
        "unused expressions": program_bytes(exprs=many),
        "unused statements": program_bytes(nodes=[BARRIER] * n),
        "bodies": program_bytes(nodes=[BARRIER, *[b"\x07\x01\x01"] * 60, b"\x07" + varint(n) + b"\x01" * n]),
        "operands": program_bytes(strings=[X], exprs=[lit(1), b"\x0d\x00" + varint(n) + b"\x01" * n]),
        "entry": program_bytes(nodes=[RETURN, BARRIER], entry=[b"\x00"] * n),
        "random": frame(b"\x00\x01\x01\x01\x00" + varint(n) + Random(1).randbytes(4 * n)),
        "no magic": bytes(500_000),
        "no digest": HEADER + varint(500_000) + bytes(500_032),
    }


@pytest.mark.parametrize("name", hostile_inputs())
def test_refusing_large_input_takes_a_small_multiple_of_its_size(name: str) -> None:
    data = hostile_inputs()[name]
    tracemalloc.start()
    refused(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * len(data) + 64 * 1024


def test_the_memory_guard_can_fail() -> None:
    """The same measure over an accepted program, whose nodes are worth more than its bytes."""
    data = program_bytes(
        strings=[X],
        exprs=[lit(i) for i in range(5_000)],
        nodes=[let(0, i) for i in range(5_000)],
        entry=[varint(i) for i in range(5_000)],
    )
    tracemalloc.start()
    decode(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak > 40 * len(data)


@pytest.mark.parametrize("seed", range(8))
def test_random_payloads_never_escape(seed: int) -> None:
    rng = Random(seed)
    for _ in range(300):
        refused_or_valid(frame(rng.randbytes(rng.randrange(60))))


def refused_or_valid(data: bytes) -> None:
    try:
        program = decode(data)
    except WireError:
        return
    assert encode(program) == data


def test_an_error_in_the_reader_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only IndexError means the end of the bytes; any other exception would be a defect and shows."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("vyre.wire.reader.scan_exprs", broken)
    with pytest.raises(ZeroDivisionError):
        decode(encode(Program([], (1,), [Return()])))
