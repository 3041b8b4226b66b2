"""What an op is tried on: every check of every op meets cases, whatever it reaches."""

from __future__ import annotations

from vyre.conform.registry import specs
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import kinds


def test_every_check_of_every_op_meets_a_case() -> None:
    plan, missed = make_plan("cpu"), list[str]()
    for op in plan.ops:
        graph = graph_of(op)
        met = {check.name for kind in kinds(graph, plan) if kind.count for check in kind.checks}
        missed += [f"{op}: {check.name}" for check in graph.checks if check.name not in met]
    assert len(plan.ops) == len(specs())
    assert not missed, "a law without a case denies L2 to every backend"


def test_a_law_about_constants_is_one_kind_of_cases() -> None:
    plan = make_plan("cpu")
    for op in ("integer.gcd", "integer.pow_mod", "wide.i64.div"):
        graph = graph_of(op)
        constant = {check.name for check in graph.checks if not check.positions}
        where = {k.name for k in kinds(graph, plan) for check in k.checks if check.name in constant}
        assert constant
        assert len(where) == 1
