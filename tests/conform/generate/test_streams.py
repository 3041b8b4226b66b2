"""Cases by index: the same everywhere, in any order, on host and device."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from vyre.compose import Registry
from vyre.conform.generate.cases import KINDS, cases, law_cases
from vyre.conform.generate.counter import keys, word, word_op
from vyre.conform.registry import primitives, spec, specs
from vyre.conform.spec.law import Associative, Custom, Equation
from vyre.errors import OpError, VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, LitU32, Load, Var, call
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.reference import run
from vyre.semantics.domain import CONCRETE
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.registry.build import Func
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Term

DIV = spec("primitive.math.div")
SEED = 0x1234_5678_9ABC_DEF0


def rows(stream: CaseStream, start: int, count: int) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in zip(*stream.block(start, count), strict=True)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "op", ["primitive.math.div", "primitive.bitwise.clz", "value.select", "cast.f64.f32"]
)
def test_a_case_needs_none_of_the_earlier_ones(kind: str, op: str) -> None:
    stream = cases(kind, spec(op), SEED)
    end = min(stream.length or 1 << 20, 1 << 20)
    whole = rows(stream, 0, min(end, 500))
    assert rows(cases(kind, spec(op), SEED), 13, 40) == whole[13:53]
    for k in (0, 7, len(whole) - 1):
        assert stream.case(k) == whole[k]
    assert rows(stream, end - 1, 1) == [stream.case(end - 1)]


@pytest.mark.parametrize("kind", ["random", "equivalence", "adversarial", "correlated"])
def test_a_seed_makes_its_own_cases(kind: str) -> None:
    first, second = (rows(cases(kind, DIV, seed), 0, 200) for seed in (1, 2))
    assert first != second
    assert rows(cases(kind, DIV, 1), 0, 200) == first
    assert rows(cases(kind, DIV, 1 << 40), 0, 200) != rows(cases(kind, DIV, 0), 0, 200)


def test_indices_go_on_past_two_to_the_32() -> None:
    stream = cases("random", DIV, SEED)
    around = rows(stream, (1 << 32) - 3, 6)
    assert around == [stream.case((1 << 32) - 3 + k) for k in range(6)]
    assert rows(stream, 0, 3) != around[3:]


@pytest.mark.parametrize("kind", ["random", "equivalence", "adversarial", "correlated", "exhaustive"])
@pytest.mark.parametrize("op", ["primitive.bitwise.shl", "primitive.bitwise.not", "cast.f16.f32"])
def test_a_device_makes_the_same_cases(kind: str, op: str) -> None:
    stream = cases(kind, spec(op), SEED)
    assert stream.on_device
    count, start = 70, 180
    i = Var("i")
    lets, words = stream.statements(LitU32(start) + i, LitU32(0))
    outputs = [BufferDecl.read_write(f"out{k}", k, DataType.U32) for k in range(len(words))]
    stores = [Store(b.name, i, w) for b, w in zip(outputs, words, strict=True)]
    program = Program(
        outputs, (64,), [Let("i", InvocationId(0)), If(i < outputs[0].length, [*lets, *stores])]
    )
    assert validate(program) == []
    got = run(program, {b.name: bytes(4 * count) for b in outputs}, (2, 1, 1)).buffers
    columns = [np.frombuffer(got[b.name], "<u4") for b in outputs]
    assert all(np.array_equal(a, b) for a, b in zip(columns, stream.block(start, count), strict=True))


def test_the_random_word_is_an_op_a_device_can_call() -> None:
    op = word_op()
    registry = Registry([op])
    key0, key1 = keys(SEED, 3)
    i = Var("i")
    value = call(op.id, Load("low", i), 5, key0, key1)
    buffers = [BufferDecl.read("low", 0, DataType.U32), BufferDecl.read_write("out", 1, DataType.U32)]
    program = Program(buffers, (64,), [Let("i", InvocationId(0)), Store("out", i, value)])
    lows = [0, 1, 2, 0x8000_0000, 0xFFFF_FFFF]
    data = {"low": np.asarray(lows, "<u4").tobytes(), "out": bytes(20)}
    got = run(program, data, (1, 1, 1), registry=registry).buffers["out"]
    wanted = [word(CONCRETE, low, 5, seed=SEED, stream=3) for low in lows]
    assert np.frombuffer(got, "<u4").tolist() == wanted


@pytest.mark.parametrize("start", [0, (7 << 32) - 100])
def test_a_random_word_tells_its_case(start: int) -> None:
    stream = cases("random", DIV, SEED)
    assert stream.undo is not None
    assert stream.can_undo([0, 1])
    words = stream.block(start, 200)
    for k, number in enumerate(range(start, start + 200)):
        for position in (0, 1):
            found = int(words[position][k])
            low = stream.undo(CONCRETE, position, found, number >> 32)
            assert low == number & 0xFFFF_FFFF
            assert stream.undo(CONCRETE, position, found ^ 1, number >> 32) != low


def test_words_that_are_cut_tell_nothing() -> None:
    halves = cases("random", spec("cast.f16.f32"), SEED)
    assert not halves.can_undo([0])
    assert not cases("correlated", DIV, SEED).can_undo([0, 1])


def test_the_random_words_look_uniform() -> None:
    """Each bit half the time, neighbours and operands unrelated: six deviations are one in 10^9."""
    count = 1 << 16
    a, b = cases("random", DIV, 11).block(0, count)
    for words in (a, b, a ^ b, a[1:] ^ a[:-1], np.bitwise_count(a) & 1):
        ones = [(words >> np.uint32(k) & np.uint32(1)).sum() for k in range(32 if words.max() > 1 else 1)]
        assert all(abs(int(n) - len(words) / 2) < 6 * (len(words) ** 0.5) / 2 for n in ones)
    assert len(np.unique(a)) > count * 0.999


def test_exhaustive_is_every_case_once() -> None:
    stream = cases("exhaustive", DIV, bits=4)
    assert stream.length == 256
    assert rows(stream, 0, 256) == list(product(range(16), repeat=2))
    law = law_cases("exhaustive", Associative(), DIV)
    assert law.length == 1 << 24
    assert law.case((3 << 16) + (5 << 8) + 7) == (3, 5, 7)
    unary = cases("exhaustive", spec("primitive.bitwise.not"), bits=32)
    assert unary.length == 1 << 32
    assert unary.case(0xFFFF_FFFF) == (0xFFFF_FFFF,)
    with pytest.raises(VyreError, match="too many"):
        cases("exhaustive", DIV, bits=32)


@pytest.mark.parametrize("found", primitives(), ids=lambda s: s.id)
def test_boundaries_are_every_declared_combination(found: OpSpec) -> None:
    stream = cases("boundary", found)
    assert set(rows(stream, 0, stream.length or 0)) == set(product(*found.boundaries))


@pytest.mark.parametrize("found", specs(), ids=lambda s: s.id)
def test_every_class_gets_its_members(found: OpSpec) -> None:
    stream = cases("equivalence", found, 5)
    for k in range(3 * len(found.classes)):
        member = found.classes[k % len(found.classes)]
        words = stream.case(k)
        assert member.contains(CONCRETE, *words), (member.name, words)
        assert all(w & ~m == 0 for w, m in zip(words, found.masks, strict=True))


def test_an_op_without_classes_has_no_equivalence_cases() -> None:
    from dataclasses import replace

    with pytest.raises(OpError, match="no equivalence class"):
        cases("equivalence", replace(DIV, classes=()))


def test_correlated_pairs_meet_where_random_ones_do_not() -> None:
    a, b = cases("correlated", DIV, 3).block(0, 8192)
    assert (a == b).sum() >= 256
    assert (a == ~b).sum() >= 256
    assert (a + b == 0).sum() >= 256
    assert (np.bitwise_count(a ^ b) == 1).sum() >= 256
    assert np.unique(a ^ b, return_counts=True)[1].max() >= 256
    assert np.unique(a + b, return_counts=True)[1].max() >= 256
    for edge in (3, 0x7FFF_FFFF, 0xAAAA_AAAA):
        assert (a ^ b == edge).sum() >= 16
        assert (a - b == edge).sum() >= 16
        assert (a + b == edge).sum() >= 16
    random = cases("random", DIV, 3).block(0, 4096)
    assert (random[0] == random[1]).sum() == 0


def test_adversarial_cases_hold_the_known_traps() -> None:
    a, b = cases("adversarial", DIV, 3).block(0, 1 << 14)
    assert ((b & 31) == 0).any()
    assert (b == 32).any()
    assert (b == 0).any()
    assert ((a == 0xFFFF_FFFF) & (b == 0xFFFF_FFFF)).any()
    divisors = np.where(b > 1, b, 2)
    assert (a % divisors == divisors - 1).mean() > 0.02
    assert ((a == 0x0100_0001) | (b == 0x0100_0001)).any()


def test_law_cases_have_the_types_of_the_variables() -> None:
    def same(f: Func, a: Term, b: Term) -> Equation:
        return Equation(a, b)

    law = Custom("same", same, (DataType.Bool, DataType.F16))
    stream = law_cases("random", law, DIV, 1)
    a, b = stream.block(0, 1000)
    assert set(a.tolist()) == {0, 1}
    assert b.max() <= 0xFFFF
    assert b.max() > 0xFF00


def test_what_does_not_exist_is_refused() -> None:
    with pytest.raises(VyreError, match="no generator 'guess'"):
        cases("guess", DIV)
    stream = cases("boundary", DIV)
    with pytest.raises(VyreError, match="do not exist"):
        stream.block(stream.length or 0, 1)
    with pytest.raises(VyreError, match="come from a table"):
        stream.statements(LitU32(0), LitU32(0))
