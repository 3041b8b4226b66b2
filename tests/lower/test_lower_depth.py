"""Deep expressions are cut into bindings, nests that no compiler takes are refused."""

from __future__ import annotations

import pytest

from vyre import BufferDecl, DataType, InvocationId, Program
from vyre.compose import Op, Param, Registry
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import Call, Expr, LitU32, Var
from vyre.ir.node import Assign, If, Let, Node, Store
from vyre.ir.walk import statements
from vyre.lower.depth import MAX_EMITTED_DEPTH, split_deep
from vyre.lower.languages import LANGUAGES, lower
from vyre.lower.names import NameSupply
from vyre.lower.prepare import prepare
from vyre.lower.support import MAX_LOWERED_NESTING

OUT = BufferDecl.read_write("out", 0, DataType.U32)
ID = InvocationId(0)


def chain(levels: int) -> Expr:
    x: Expr = Var("x")
    while x.depth < levels:
        x = x + x.depth
    return x


def deepest(entry: tuple[Node, ...]) -> int:
    return max(root.depth for _, node in statements(entry) for root in node.exprs)


def test_shallow_statements_stay_as_they_are() -> None:
    entry = (Let("x", LitU32(1)), Store("out", ID, chain(MAX_EMITTED_DEPTH)))
    assert split_deep(entry, NameSupply()) == entry


@pytest.mark.parametrize("levels", [MAX_EMITTED_DEPTH + 1, 100, 1_024, 10_000])
def test_no_expression_stays_deeper_than_the_limit(levels: int) -> None:
    out = split_deep((Store("out", ID, chain(levels)),), NameSupply())
    assert deepest(out) <= MAX_EMITTED_DEPTH
    assert len(out) == pytest.approx(levels / (MAX_EMITTED_DEPTH - 1), abs=2)


def test_shared_parts_are_cut_once() -> None:
    x: Expr = Var("x")
    for _ in range(100):
        x = x + x
    out = split_deep((Store("out", ID, x),), NameSupply())
    assert len(out) == 4
    assert deepest(out) <= MAX_EMITTED_DEPTH


def test_cutting_stays_inside_its_block() -> None:
    inner = Store("out", ID, chain(100))
    (branch,) = split_deep((If(LitU32(1), (inner,), ()),), NameSupply())
    assert isinstance(branch, If)
    assert len(branch.then) > 1
    assert branch.orelse == ()


@pytest.mark.parametrize("language", LANGUAGES)
def test_1024_levels_are_emitted_shallow(language: str) -> None:
    program = Program([OUT], [1], [Let("x", OUT[ID]), OUT.store(ID, chain(1_024))])
    text = lower(program, language).text
    level = most = 0
    for character in text:
        level += {"(": 1, ")": -1}.get(character, 0)
        most = max(most, level)
    assert most < 100


def nest(levels: int, inner: Node) -> tuple[Node, ...]:
    body: tuple[Node, ...] = (inner,)
    for level in range(levels):
        body = (If(Var("p").ne(level), body),)
    return body


@pytest.mark.parametrize("language", ["cuda", "opencl"])
def test_nests_that_inlining_makes_too_deep_are_refused(language: str) -> None:
    p = Param("p", DataType.U32)
    x = (Let("t", Var("p")), *nest(60, Assign("t", Var("t") + 1)))
    ops = [Op("deep.a0", (p,), DataType.U32, Var("t"), x)]
    for k in range(1, 6):
        step = (Let("t", Var("p")), *nest(60, Assign("t", Call(f"deep.a{k - 1}", (Var("t"),)))))
        ops.append(Op(f"deep.a{k}", (p,), DataType.U32, Var("t"), step))
    registry = Registry(ops)
    program = Program([OUT], [1], [OUT.store(ID, Call("deep.a5", (OUT[ID],)))])
    prepared = prepare(program, registry=registry)
    assert max(node.nesting for node in prepared.entry) > MAX_LOWERED_NESTING
    with pytest.raises(UnsupportedByBackend, match="a nest of"):
        LANGUAGES[language].emit(prepared)
