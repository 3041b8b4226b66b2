"""Golden rows are green on the reference backend, and red on a backend that breaks what they promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

from vyre.backends import Backend, BackendInfo, Executable
from vyre.backends.reference.backend import ReferenceBackend
from vyre.conform.oracle.golden import Row, load_rows
from vyre.conform.oracle.golden.rows import variables
from vyre.conform.verify.golden.operations import ELEMENT_KINDS, within
from vyre.conform.verify.golden.outcome import Outcome, Status
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS, replay, replay_all, replay_through_calls
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import Atomic, BinOp, Cast, Convert, Expr, FMulAdd, FReduce, Lane, LitU32, MakeVec, Select
from vyre.ir.operators import AtomicOp, BinaryOp, ReduceOrder, RoundMode, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.node import Node

ROWS = load_rows()
BY_ID = {row.id: row for row in ROWS}


@dataclass(frozen=True)
class _Flipped:
    """Runs a program and inverts every bit it wrote."""

    inner: Executable
    program: Program

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self.inner.run(buffers, workgroups)
        for buffer in self.program.buffers:
            if buffer.name in buffers and not buffers[buffer.name].readonly:
                view = buffers[buffer.name]
                view[:] = bytes(byte ^ 0xFF for byte in view)


class Flipping:
    name = "flipping"

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a wrong interpreter")

    def compile(self, program: Program) -> Executable:
        return _Flipped(ReferenceBackend().compile(program), program)


class Rewriting:
    """The reference backend, except that one expression is replaced by another."""

    name = "rewriting"

    def __init__(self, rule: Callable[[Expr], Expr]) -> None:
        self._rule = rule

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a wrong interpreter")

    def compile(self, program: Program) -> Executable:
        entry = self._rewritten(program.entry)
        return ReferenceBackend().compile(Program(program.buffers, program.workgroup_size, entry))

    def _rewritten(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            with_parts(
                node,
                tuple(transform(e, self._rule) for e in node.exprs),
                tuple(self._rewritten(body) for body in node.bodies),
            )
            for node in nodes
        )


class Refusing(Flipping):
    name = "refusing"

    def compile(self, program: Program) -> Executable:
        raise UnsupportedByBackend("Store", self.name)


class Crashing(Flipping):
    name = "crashing"

    def compile(self, program: Program) -> Executable:
        raise ZeroDivisionError("a bug of its own")


def speaks_of_all_values(row: Row) -> bool:
    return row.kind in ELEMENT_KINDS and bool(variables(row["inputs"]))


def test_every_row_holds_on_the_reference_backend(reference_outcomes: list[Outcome]) -> None:
    broken = [(o.row.id, o.inputs, o.expected, o.actual) for o in reference_outcomes if not o.ok]
    assert broken == []
    assert [o.row.id for o in reference_outcomes] == [row.id for row in ROWS]


def test_rows_for_all_values_are_checked_on_many(reference_outcomes: list[Outcome]) -> None:
    general = [o for o in reference_outcomes if speaks_of_all_values(o.row)]
    assert len(general) > 80
    assert min(o.cases for o in general) >= 1000


def test_rows_of_library_ops_hold_through_calls() -> None:
    small = [row for row in ROWS if not speaks_of_all_values(row)]
    outcomes = replay_through_calls(small, "reference")
    assert [o.row.id for o in outcomes if not o.ok] == []
    called = {o.row.stem for o in outcomes}
    assert {"primitive.math.div", "primitive.bitwise.reverse_bits", "float.fma", "float.f16.sin"} <= called


def _sample(kind: str) -> list[Row]:
    found = [row for row in ROWS if row.kind == kind]
    plain = [row for row in found if not speaks_of_all_values(row)]
    return plain if kind in ("program", "layout", "atomic") else plain[:: max(1, len(plain) // 20)]


@pytest.mark.parametrize("kind", sorted(EXECUTABLE_KINDS))
def test_wrong_results_turn_every_kind_red(kind: str) -> None:
    outcomes = replay_all(_sample(kind), Flipping())
    assert outcomes
    assert [o.row.id for o in outcomes if o.status is not Status.Failed] == []
    assert all(o.expected and o.actual and "entry {" in o.program for o in outcomes)


def _swap(op: object, other: Callable[[Any], Expr]) -> Callable[[Expr], Expr]:
    return lambda e: other(e) if getattr(e, "op", None) is op else e


def _signed_less(e: BinOp) -> Expr:
    top = LitU32(0x80000000)
    return BinOp(BinaryOp.Lt, e.left ^ top, e.right ^ top)


def _fuse(e: Expr) -> Expr:
    match e:
        case BinOp(op=BinaryOp.FAdd, left=BinOp(op=BinaryOp.FMul, left=a, right=b), right=c):
            return FMulAdd(a, b, c)
        case _:
            return e


def _unfuse(e: Expr) -> Expr:
    if isinstance(e, FMulAdd):
        return BinOp(BinaryOp.FAdd, BinOp(BinaryOp.FMul, e.a, e.b), e.c)
    return e


def _reorder(e: Expr) -> Expr:
    if isinstance(e, FReduce):
        return FReduce(ReduceOrder.Strict, e.op, e.buffer, e.start, e.stop)
    return e


def _zero_extend(e: Expr) -> Expr:
    if isinstance(e, Cast) and e.target is DataType.U64:
        return MakeVec(DataType.U64, (Cast(DataType.U32, e.value), LitU32(0)))
    return e


def _truncate(e: Expr) -> Expr:
    if isinstance(e, Convert) and e.target is DataType.I32:
        return Convert(e.target, RoundMode.Truncate, e.value)
    return e


def _wrong_lane(e: Expr) -> Expr:
    return Lane(e.value, 0) if isinstance(e, Lane) else e


def _negate_condition(e: Expr) -> Expr:
    return Select(e.condition, e.if_false, e.if_true) if isinstance(e, Select) else e


def _without_equal(e: Atomic) -> Expr:
    return Atomic(AtomicOp.Exchange, e.buffer, e.index, e.value)


MISTAKES: list[tuple[str, Callable[[Expr], Expr], str, str]] = [
    (
        "division by zero gives all ones",
        _swap(BinaryOp.Div, lambda e: Select(e.right, e, LitU32(0xFFFFFFFF))),
        "primitive.math.div/golden/2",
        "primitive.math.div/golden/1",
    ),
    (
        "modulo by zero gives the dividend",
        _swap(BinaryOp.Mod, lambda e: Select(e.right, e, e.left)),
        "primitive.math.mod/golden/2",
        "primitive.math.mod/golden/1",
    ),
    (
        "a shift by 32 gives zero",
        _swap(BinaryOp.Shl, lambda e: Select(e.right < 32, e, LitU32(0))),
        "primitive.bitwise.shl/golden/4",
        "primitive.bitwise.shl/golden/3",
    ),
    (
        "less is signed",
        _swap(BinaryOp.Lt, _signed_less),
        "primitive.compare.lt/golden/6",
        "primitive.compare.lt/golden/1",
    ),
    (
        "logical and is bitwise",
        _swap(BinaryOp.And, lambda e: e.left & e.right),
        "primitive.logical.and/golden/5",
        "primitive.logical.and/golden/4",
    ),
    (
        "one bit of one value is wrong",
        _swap(BinaryOp.BitAnd, lambda e: e ^ (e.right.eq(0x55555555) & e.left.eq(0xFFFFFFFF))),
        "primitive.bitwise.and/golden/2",
        "primitive.bitwise.and/golden/1",
    ),
    (
        "leading zeros of zero are 31",
        _swap(UnaryOp.Clz, lambda e: Select(e.operand, e, LitU32(31))),
        "primitive.bitwise.clz/golden/2",
        "primitive.bitwise.clz/golden/3",
    ),
    ("multiply-add is fused", _fuse, "float.unfused/golden/1", "float.fma/golden/1"),
    ("fma rounds twice", _unfuse, "float.fma/golden/2", "float.fma/golden/1"),
    (
        "the tree is a chain",
        _reorder,
        "float.reduce.tree_binary.add/golden/6",
        "float.reduce.tree_binary.add/golden/4",
    ),
    ("the sign is not extended", _zero_extend, "cast.i32.u64/golden/1", "cast.i32.u64/golden/3"),
    (
        "every conversion truncates",
        _truncate,
        "convert.f32.i32.floor/golden/4",
        "convert.f32.i32.truncate/golden/4",
    ),
    ("every lane is lane 0", _wrong_lane, "value.lane/golden/3", "value.lane/golden/1"),
    ("the condition is inverted", _negate_condition, "value.select/golden/1", "value.lane/golden/1"),
    (
        "compare-exchange always stores",
        _swap(AtomicOp.CompareExchange, _without_equal),
        "atomic.compare_exchange/golden/2",
        "atomic.compare_exchange/golden/1",
    ),
]


@pytest.mark.parametrize(("mistake", "rule", "red", "green"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_one_mistake_turns_its_row_red_and_no_other(
    mistake: str, rule: Callable[[Expr], Expr], red: str, green: str
) -> None:
    backend: Backend = Rewriting(rule)
    assert replay(BY_ID[red], "reference").ok
    outcome = replay(BY_ID[red], backend)
    assert outcome.status is Status.Failed, mistake
    assert outcome.expected != outcome.actual
    assert replay(BY_ID[green], backend).ok, mistake


WRONG: dict[str, dict[str, Any]] = {
    "type": {"min_bytes": 3},
    "tensor": {"element_at": 1234},
    "signature": {"min_input_bytes": 1234},
    "convention": {"fields": {"lookup_binding": 4, "output_binding": 1}},
    "convention_kept": {"convention": "V2(9)"},
    "law": {
        "law": "Commutative",
        "cases": [{"args": [], "op": "primitive.math.sub", "at": [5, 3], "satisfied": 1}],
    },
    "access": {"code": "V001"},
    "cast_refused": {"code": "V001"},
    "cast_identity": {"to": "U32"},
    "cast_pairs": {"pairs": ["U32->U32"]},
    "call_type": {"code": "V001"},
    "invalid": {"codes": ["V001", "V042"]},
    "op": {"codes": ["V001"]},
    "inline": {"inlined": ["vyre 1", "workgroup 1 1 1", "entry {", "}"]},
}


@pytest.mark.parametrize("kind", sorted({row.kind for row in ROWS} - EXECUTABLE_KINDS))
def test_a_wrong_promise_about_the_language_is_red(kind: str) -> None:
    row = next(row for row in reversed(ROWS) if row.kind == kind)
    assert replay(row, "reference").ok
    wrong = replace(row, fields={**row.fields, **WRONG[kind]})
    outcome = replay(wrong, "reference")
    assert outcome.status is Status.Failed
    assert outcome.expected != outcome.actual


def test_wrong_advice_is_red() -> None:
    row = BY_ID["call.error/golden/2"]
    wrong = replace(row, fields={**row.fields, "fix_mentions": ["pass 3 arguments"]})
    outcome = replay(wrong, "reference")
    assert outcome.status is Status.Failed
    assert "pass 2 arguments to primitive.bitwise.xor" in outcome.actual


def test_a_tolerance_is_no_licence() -> None:
    row = BY_ID["float.sin_approx/golden/1"]
    near = replace(row, fields={**row.fields, "expected": "0x3F576AA8"})
    assert replay(near, "reference").ok
    far = replace(row, fields={**row.fields, "expected": "0x3F576AB4"})
    assert replay(far, "reference").status is Status.Failed


@pytest.mark.parametrize(
    ("expected", "actual", "good"),
    [
        (0x3F800000, 0x3F800004, True),
        (0x3F800000, 0x3F7FFFFC, True),
        (0x3F800000, 0x3F800005, False),
        (0x00000001, 0x80000001, False),
        (0x00000000, 0x80000000, False),
        (0x7F7FFFFF, 0x7F800000, True),
        (0x7F7FFFF0, 0x7F800000, False),
        (0x7F800000, 0x7F800001, False),
        (0x7FC00000, 0x7FC00001, False),
        (0x7FC00000, 0x7FC00000, True),
    ],
)
def test_a_tolerance_counts_floats_and_neither_nans_nor_signs(expected: int, actual: int, good: bool) -> None:
    assert within(expected, actual, DataType.F32, 4) is good
    assert within(expected, actual, DataType.F32, 0) is (expected == actual)


def test_integers_have_no_tolerance() -> None:
    assert not within(7, 8, DataType.U32, 4)


def test_a_refusal_is_neither_green_nor_red() -> None:
    outcome = replay(BY_ID["primitive.math.add/golden/1"], Refusing())
    assert outcome.status is Status.Refused
    assert "refusing" in outcome.actual


def test_an_error_of_the_backend_is_red_with_its_text() -> None:
    row = BY_ID["node.let/golden/1"]
    wrong = replace(row, fields={**row.fields, "buffers": {"out": [0]}})
    outcome = replay(wrong, "reference")
    assert outcome.status is Status.Failed
    assert "'a'" in outcome.actual


def test_a_crash_of_the_backend_is_red_and_stops_nothing() -> None:
    rows = [BY_ID["primitive.math.add/golden/1"], BY_ID["type.u32/golden/1"]]
    crashed, language = replay_all(rows, Crashing())
    assert crashed.status is Status.Failed
    assert crashed.actual == "ZeroDivisionError: a bug of its own"
    assert language.ok
