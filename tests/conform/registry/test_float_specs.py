"""The float specs: admitted, one meaning over every domain, laws proved, non-laws refuted, faults seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre.backends import get
from vyre.conform.algebra.checker import examine
from vyre.conform.oracle.floats.operands import operands
from vyre.conform.registry import lookup, replaced
from vyre.conform.registry import specs as registered
from vyre.conform.registry.float_.table import specs
from vyre.conform.spec import gates
from vyre.conform.spec.composed import definition
from vyre.conform.spec.law import label
from vyre.conform.spec.op import OpSpec, as_tuple
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.graph import graph
from vyre.conform.verify.operations import run_block
from vyre.errors import VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ops import standard_ops
from vyre.reference import run
from vyre.semantics.arrays import NUMPY
from vyre.semantics.domain import CONCRETE
from vyre.semantics.proof_cache import ProofCache
from vyre.semantics.solvers import Answer
from vyre.semantics.terms import SmtDomain
from vyre.semantics.words import fit

if TYPE_CHECKING:
    from vyre.conform.spec.law import AlgebraicLaw

BY_ID = {s.id: s for s in specs()}
SLOW = {"Sterbenz: exact for close operands"}
FRESH = ProofCache(None)


def test_they_are_the_float_ops_of_the_library() -> None:
    library = {op.id: op.signature for op in standard_ops() if op.id.startswith("float.")}
    ours = {s.id: s.signature for s in specs() if not s.id.startswith("float.convert.")}
    assert ours == library
    assert len(specs()) == len(BY_ID) == 191
    assert tuple(s for s in registered() if s.id in BY_ID) == specs()


def test_every_gate_admits_them() -> None:
    assert {s.id: found for s in specs() if (found := gates.check(s))} == {}


def sample(found: OpSpec, count: int) -> list[tuple[int, ...]]:
    columns = operands(found.signature.inputs[0], found.arity, 1 << 13)
    return list(zip(*(c[:: (1 << 13) // count].tolist() for c in columns), strict=True))


@pytest.mark.parametrize(
    "name", ["add", "f16.fma", "bf16.sqrt", "min", "f16.is_nan", "exp", "convert.f32.i32.floor"]
)
def test_one_meaning_over_every_domain(name: str) -> None:
    found = BY_ID[f"float.{name}"]
    rows = sample(found, 48)
    wanted = [found.apply(CONCRETE, *row)[0][0] for row in rows]
    columns = [np.asarray(c, np.uint32) for c in zip(*rows, strict=True)]
    assert found.apply(NUMPY, *columns)[0][0].tolist() == wanted
    lets, (result,) = definition(found, [Load(f"x{k}", Var("i")) for k in range(found.arity)])
    out = BufferDecl.read_write("out", found.arity, DataType.U32)
    inputs = [BufferDecl.read(f"x{k}", k, DataType.U32) for k in range(found.arity)]
    body = If(Var("i") < out.length, [*lets, Store("out", Var("i"), result)])
    program = Program([*inputs, out], (64,), [Let("i", InvocationId(0)), body])
    data = {f"x{k}": c.tobytes() for k, c in enumerate(columns)} | {"out": bytes(4 * len(rows))}
    got = run(program, data, (-(-len(rows) // 64), 1, 1)).buffers["out"]
    assert np.frombuffer(got, "<u4").tolist() == wanted


@pytest.mark.parametrize("name", ["add", "f16.fma", "bf16.floor", "convert.u32.f16"])
def test_classes_hold_every_input_and_samples_are_members(name: str) -> None:
    found = BY_ID[f"float.{name}"]
    d = SmtDomain()
    words = [fit(d, d.variable(f"x{k}"), m) for k, m in enumerate(found.masks)]
    outside = [f"(not {d.truth(c.contains(d, *words))})" for c in found.classes]
    moved = [(c, as_tuple(c.sample(d, *words))) for c in found.classes]
    stray = [f"(not {d.truth(c.contains(d, *w))})" for c, w in moved]
    wide = [d.truth(d.ult(d.const(m), x)) for _, w in moved for x, m in zip(w, found.masks, strict=True)]
    uncovered = f"(and {' '.join(outside)} true)"
    found_text = d.query(f"(or {uncovered} {' '.join([*stray, *wide])})")
    assert ProofCache(None).solve(found_text).answer is Answer.Unsat


def statements(prefix: str, roles: tuple[str, ...]) -> list[Any]:
    rows: list[Any] = []
    for found in specs():
        if not found.id.startswith(prefix) or found.id.count(".") != prefix.count("."):
            continue
        by_role: dict[str, tuple[AlgebraicLaw, ...]] = {
            "law": found.laws,
            "property": found.properties,
            "non-law": tuple(n.law for n in found.non_laws),
        }
        for role in roles:
            for law in by_role[role]:
                marks = [pytest.mark.slow] if label(law) in SLOW else []
                rows.append(pytest.param(found, role, law, id=f"{found.id} {label(law)}", marks=marks))
    return rows


@pytest.mark.parametrize(
    ("found", "role", "law"),
    [
        *statements("float.f16.", ("law", "property", "non-law")),
        *statements("float.bf16.", ("law",)),
        *statements("float.", ("law", "non-law")),
    ],
)
def test_laws_are_proved_and_non_laws_refuted(found: OpSpec, role: str, law: AlgebraicLaw) -> None:
    """Counterexamples of the solver are replayed with the oracle before they are believed."""
    assert examine(law, found, lookup, FRESH, role=role).as_declared


def test_a_law_that_is_only_almost_true_is_refuted() -> None:
    add = BY_ID["float.add"]
    zero = next(n.law for n in add.non_laws if label(n.law) == "Identity(0)")
    result = examine(zero, add, lookup, FRESH, role="law")
    assert not result.as_declared
    assert result.counterexample is not None


def test_a_definition_that_is_not_the_theory_is_seen() -> None:
    """An oracle that flushes subnormals does not confirm what the solver found with IEEE's addition."""

    def flushed(d: Any, a: Any, b: Any) -> Any:
        return BY_ID["float.add"].cpu_fn(d, a, b) if isinstance(d, SmtDomain) else d.const(0)

    wrong = replace(BY_ID["float.add"], cpu_fn=flushed)
    law = next(n.law for n in wrong.non_laws if label(n.law) == "Associative")
    with pytest.raises(VyreError, match="where it holds on plain integers"):
        examine(law, wrong, replaced(*specs(), wrong), FRESH, role="non-law")


def test_functions_have_no_theory() -> None:
    d = SmtDomain()
    with pytest.raises(VyreError, match="no solver knows FExp"):
        BY_ID["float.exp"].apply(d, d.variable("x"))


class Flushing:
    """A backend whose results lose their subnormals."""

    name = "flushing"

    def __init__(self) -> None:
        self._inner = get("cpu")

    def describe(self) -> Any:
        return self._inner.describe()

    def compile(self, program: Program) -> Any:
        inner = self._inner.compile(program)

        class Executable:
            def run(self, buffers: Any, workgroups: Any) -> None:
                inner.run(buffers, workgroups)
                out = np.frombuffer(buffers["out"], np.uint32)
                out[out & 0x7F80_0000 == 0] &= np.uint32(0x8000_0000)

        return Executable()


@pytest.mark.parametrize(
    ("backend", "good"), [(get("cpu"), True), (Flushing(), False)], ids=["cpu", "flushing"]
)
def test_the_suite_runs_them_and_sees_flushed_results(backend: Any, good: bool) -> None:
    bench = Bench(backend)
    found = graph(BY_ID["float.mul"], lookup)
    kind = kind_of(found, "equivalence", make_plan("cpu", seed=1, cases=1, ops=("primitive.math.add",)))
    record = run_block(bench, kind, 0, kind.count, bench.memory())
    assert record.stop is None
    assert (record.fails == ()) is good
