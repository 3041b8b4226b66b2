"""What an op is tried on: every check of every op meets cases, whatever it reaches."""

from __future__ import annotations

from vyre.conform.registry import specs
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.units import graph_of
from vyre.conform.verify.cases import EXHAUSTIVE, kinds

DECIDING = set(EXHAUSTIVE)


def test_every_check_of_every_op_meets_random_cases_or_all_there_are() -> None:
    plan, missed = make_plan("cpu"), list[str]()
    for op in plan.ops:
        graph = graph_of(op)
        met: dict[str, set[str]] = {check.name: set() for check in graph.checks}
        for kind in kinds(graph, plan):
            for check in kind.checks if kind.count else ():
                met[check.name].add(kind.name)
        missed += [f"{op}: {name}" for name, by in met.items() if not by or not by & (DECIDING | {"random"})]
    assert len(plan.ops) == len(specs())
    assert not missed, "a law without such cases denies L2 to every backend"


def test_a_law_about_constants_is_one_kind_of_cases() -> None:
    plan = make_plan("cpu")
    for op in ("integer.gcd", "integer.pow_mod", "wide.i64.div"):
        graph = graph_of(op)
        constant = {check.name for check in graph.checks if not check.positions}
        where = {k.name for k in kinds(graph, plan) for check in k.checks if check.name in constant}
        assert constant
        assert len(where) == 1
