"""Each admission gate lets the registry pass and rejects one spec made to fail it."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from vyre.compose import default_registry
from vyre.conform.registry import spec, specs
from vyre.conform.spec.gates import GATES, admit, check
from vyre.conform.spec.op import Alternate, ExpressionForm, OpSpec
from vyre.errors import OpError
from vyre.ir.expr import Call, Expr, LitU32
from vyre.ir.signature import OpSignature
from vyre.ir.types import DataType

ADD = spec("primitive.math.add")


def one_operand(d: Any, a: Any) -> Any:
    return a


def nothing(d: Any, a: Any, b: Any) -> Any:
    return ()


def no_value(d: Any, a: Any, b: Any) -> Any:
    return None


def on_cuda(backend: str) -> bool:
    return backend == "cuda"


def names(rejected: OpSpec) -> set[str]:
    return {failure.name for failure in check(rejected)}


@pytest.mark.parametrize("found", specs(), ids=lambda s: s.id)
def test_every_registered_spec_passes(found: OpSpec) -> None:
    known = default_registry()
    assert admit(found, lambda op: known[op].signature if op in known else None) is found


def test_there_are_six_gates() -> None:
    assert list(GATES) == ["category", "signature", "zero overhead", "deterministic", "observable", "rules"]


def test_a_runtime_abstraction_is_rejected() -> None:
    assert names(replace(ADD, category="B")) == {"category"}


@pytest.mark.parametrize(
    "wrong",
    [
        replace(ADD, signature=OpSignature((), DataType.U32)),
        replace(ADD, signature=OpSignature((DataType.U32, DataType.U32), DataType.U64)),
        replace(ADD, signature=OpSignature((DataType.F32, DataType.F32), DataType.F32)),
        replace(ADD, signature=OpSignature((DataType.Bytes, DataType.U32), DataType.U32)),
        replace(ADD, boundaries=((0, 1),)),
        replace(ADD, cpu_fn=one_operand),
    ],
)
def test_a_signature_that_does_not_fit_is_rejected(wrong: OpSpec) -> None:
    assert "signature" in names(wrong)


def called(operands: tuple[Expr, ...]) -> Expr:
    return Call("acme.math.add", operands)


def endless(operands: tuple[Expr, ...]) -> Expr:
    value: Expr = operands[0]
    for _ in range(40):
        value = value + value
    return value + operands[1]


@pytest.mark.parametrize(
    "wrong",
    [
        replace(ADD, form=ExpressionForm(called)),
        replace(ADD, form=ExpressionForm(endless)),
        replace(ADD, hardware="adder"),
        replace(ADD, category="C"),
        replace(ADD, category="C", hardware="adder"),
        replace(
            ADD,
            category="C",
            hardware="adder",
            availability=on_cuda,
            alternates=(Alternate("soft", lambda x: LitU32(0)),),
        ),
    ],
)
def test_overhead_and_fallbacks_are_rejected(wrong: OpSpec) -> None:
    assert "zero overhead" in names(wrong)


def test_an_instruction_that_says_where_it_exists_passes() -> None:
    good = replace(ADD, category="C", hardware="adder", availability=on_cuda, alternates=())
    assert check(good) == []


def test_a_definition_that_changes_its_mind_is_rejected() -> None:
    calls = count()

    def wavering(d: Any, a: Any, b: Any) -> Any:
        return d.add(d.add(a, b), d.const(next(calls)))

    assert names(replace(ADD, cpu_fn=wavering)) == {"deterministic"}


def test_a_definition_that_gives_nothing_is_rejected() -> None:
    assert "observable" in names(replace(ADD, cpu_fn=nothing))
    assert "observable" in names(replace(ADD, cpu_fn=no_value))


def test_a_spec_without_rules_is_rejected() -> None:
    bare = replace(ADD, laws=(), classes=(), boundaries=(), alternates=(), properties=())
    assert names(bare) == {"rules"}
    with pytest.raises(OpError, match=r"gate 6 \(rules\)"):
        admit(bare)
