"""Depth, sharing and length: nothing recurses, nothing that is shared is expanded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir import (
    Assign,
    Block,
    BufferDecl,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    LitU32,
    Load,
    Loop,
    Node,
    Program,
    Return,
    Store,
    Var,
)
from vyre.ir.limits import MAX_NAME_LENGTH
from vyre.optimize import optimize
from vyre.optimize.bounds import proven_accesses
from vyre.optimize.dead import drop_unused
from vyre.validate import validate

if TYPE_CHECKING:
    import pytest

OUT = BufferDecl.read_write("out", 0, DataType.U32)
ZERO = LitU32(0)


def program(*entry: Node) -> Program:
    return Program([OUT], (1, 1, 1), entry)


def test_a_chain_of_30_000_levels_folds() -> None:
    deep: Expr = InvocationId(0)
    for i in range(30_000):
        deep = deep + (i & 0xFF)
    result = optimize(program(OUT.store(0, deep)))
    assert result.entry == (OUT.store(0, InvocationId(0) + sum(i & 0xFF for i in range(30_000))),)


def test_a_chain_that_does_not_fold_stays_the_same() -> None:
    deep: Expr = InvocationId(0)
    for i in range(8_000):
        deep = (deep * 3) ^ Load("out", LitU32(i + 1))
    before = program(OUT.store(0, deep))
    assert optimize(before) == before
    assert proven_accesses(before.entry, before.buffers, before.workgroup_size).total == 8_001


def test_sharing_is_not_expanded() -> None:
    shared: Expr = InvocationId(0)
    for _ in range(200):
        shared = (shared + shared) * 3
    before = program(OUT.store(0, shared))
    assert optimize(before) == before


def test_ten_thousand_nested_blocks_are_opened() -> None:
    body: tuple[Node, ...] = (OUT.store(0, 1),)
    for _ in range(10_000):
        body = (Block(body),)
    assert optimize(program(*body)).entry == (OUT.store(0, 1),)


def test_deep_nesting_of_ifs_costs_no_stack() -> None:
    body: tuple[Node, ...] = (OUT.store(0, 1), Return())
    for i in range(1_000):
        body = (If(Load("out", LitU32(i)), body),)
    nested = program(*body)
    assert optimize(nested).entry[0].nesting == 1_000
    assert proven_accesses(nested.entry, nested.buffers, (1, 1, 1)).proven == {}


def test_a_long_chain_of_dead_variables_goes_at_once() -> None:
    lets: list[Node] = [Let("v0", Load("out", ZERO))]
    lets += [Let(f"v{i}", Var(f"v{i - 1}") * 3 + 1) for i in range(1, 5_000)]
    assert optimize(program(*lets, OUT.store(0, 1))).entry == (OUT.store(0, 1),)


def test_dead_branches_that_feed_each_other_take_one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each condition reads what the branch before it set; only the last store would keep them."""
    entry: list[Node] = []
    for i in range(300):
        entry.append(Let(f"v{i}", Load("out", LitU32(i))))
        condition = Var(f"v{i - 1}") if i else Load("out", ZERO)
        entry.append(If(condition, (Assign(f"v{i}", LitU32(i)),)))
    rounds: list[int] = []

    def counted(*args: Any) -> Any:
        rounds.append(1)
        return drop_unused(*args)

    monkeypatch.setattr("vyre.optimize.program.drop_unused", counted)
    assert optimize(program(*entry)).entry == ()
    assert len(rounds) <= 3


def test_names_used_again_in_many_scopes_are_kept_apart() -> None:
    loops: list[Node] = []
    for factor in range(3, 300):
        body = (Let("a", Var("i") * factor), Store("out", Var("i"), Var("a") + Var("a")))
        loops.append(Loop("i", ZERO, LitU32(4), body))
    result = optimize(program(*loops))
    names = [node.bodies[0][0] for node in result.entry if isinstance(node, Loop)]
    assert len({node.name for node in names if isinstance(node, Let)}) == 297


def test_a_long_name_used_twice_stays_within_the_limit() -> None:
    long = "n" * MAX_NAME_LENGTH
    scope = Block((Let(long, Load("out", ZERO)), OUT.store(0, Var(long) + Var(long))))
    assert validate(optimize(program(scope, scope, scope))) == []
