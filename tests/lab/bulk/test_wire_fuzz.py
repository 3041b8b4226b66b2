"""10^5 mutants on every run; `docs/wire-form.md` records the long runs of the same tool."""

from __future__ import annotations

from lab.bulk import wire
from vyre.errors import WireError
from vyre.ir import Program
from vyre.wire import decode, encode


def test_a_hundred_thousand_mutants_give_a_wire_error_or_a_canonical_program() -> None:
    tally = wire.fuzz(100_000, 1, 1)
    assert tally.failures == []
    assert tally.refused + tally.accepted == 100_000
    assert tally.accepted > 5_000
    beyond_the_frame = {r: n for r, n in tally.reasons.items() if "tag" in r or "expression" in r}
    assert sum(beyond_the_frame.values()) > 20_000


def test_an_input_is_a_function_of_seed_and_number() -> None:
    one = wire.replay(5, 700)
    assert one == wire.replay(5, 700)
    assert one != wire.replay(6, 700)
    assert one != wire.replay(5, 701)


def test_an_exception_that_escapes_is_a_failure() -> None:
    def leaky(data: bytes) -> Program:
        if len(data) % 7 == 0:
            raise KeyError(data)
        return decode(data)

    tally = wire.fuzz_chunk(0, seed=1, count=200, read=leaky)
    assert any(what.startswith("KeyError") for _, what, _ in tally.failures)


def test_accepting_what_is_not_canonical_is_a_failure() -> None:
    def lax(data: bytes) -> Program:
        try:
            return decode(data)
        except WireError:
            return Program([], (1,), [])

    tally = wire.fuzz_chunk(0, seed=1, count=200, read=lax)
    assert any("not canonical" in what for _, what, _ in tally.failures)


def test_an_error_without_a_place_and_a_writer_that_fails_are_failures() -> None:
    def vague(data: bytes) -> Program:
        raise WireError("something is wrong", fix="look harder")

    def broken(program: Program) -> bytes:
        raise ValueError(program)

    assert len(wire.fuzz_chunk(0, seed=1, count=50, read=vague).failures) == 50
    tally = wire.fuzz_chunk(0, seed=1, count=200, write=broken)
    assert any("ValueError" in what for _, what, _ in tally.failures)
    assert wire.fuzz_chunk(0, seed=1, count=200, write=encode).failures == []
