"""Unique names: scopes can be forgotten, reserved prefixes vanish, nothing is a keyword."""

from __future__ import annotations

import pytest

from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Assign, Block, If, Let, Loop, Node
from vyre.ir.program import Program
from vyre.ir.walk import statements
from vyre.lower.languages import LANGUAGES, lower
from vyre.lower.names import NameSupply, rename_unique


def bound(entry: tuple[Node, ...]) -> list[str]:
    names = [n.name for _, n in statements(entry) if isinstance(n, Let)]
    return names + [n.var for _, n in statements(entry) if isinstance(n, Loop)]


def test_a_name_is_kept_where_it_is_free_and_numbered_where_it_is_not() -> None:
    supply = NameSupply(["acc_1"])
    assert [supply.fresh("acc") for _ in range(3)] == ["acc", "acc_2", "acc_3"]
    assert supply.fresh("acc_1") != "acc_1"


@pytest.mark.parametrize(
    ("given", "plain"), [("__call3_t", "call3_t"), ("_x", "x"), ("__", "v"), ("a__", "a__")]
)
def test_the_reserved_prefix_is_stripped(given: str, plain: str) -> None:
    assert NameSupply().fresh(given) == plain


def test_stripped_names_do_not_collide_with_plain_ones() -> None:
    entry = (Let("call3_t", LitU32(1)), Let("__call3_t", LitU32(2)), Let("x", Var("__call3_t")))
    renamed = rename_unique(entry, NameSupply())
    assert bound(renamed) == ["call3_t", "call3_t_1", "x"]
    assert renamed[2] == Let("x", Var("call3_t_1"))


def test_sibling_scopes_get_names_of_their_own() -> None:
    inner = (Let("t", LitU32(1)), Assign("t", Var("t") + 1))
    entry = (
        Block(inner),
        If(LitU32(1), inner, inner),
        Loop("t", LitU32(0), LitU32(3), (Let("u", Var("t")),)),
        Let("t", LitU32(9)),
    )
    renamed = rename_unique(entry, NameSupply())
    names = bound(renamed)
    assert len(names) == len(set(names)) == 6
    for _, node in statements(renamed):
        if isinstance(node, Assign):
            assert node.value == Var(node.name) + 1


def test_a_loop_bound_does_not_see_the_loop_variable() -> None:
    entry = (Let("k", LitU32(5)), Block((Loop("j", Var("k"), Var("k") + 1, (Let("x", Var("j")),)),)))
    block = rename_unique(entry, NameSupply())[1]
    assert isinstance(block, Block)
    loop = block.body[0]
    assert isinstance(loop, Loop)
    assert (loop.start, loop.stop) == (Var("k"), Var("k") + 1)


def test_thousands_of_nested_blocks_are_renamed() -> None:
    body: tuple[Node, ...] = (Let("x", LitU32(1)),)
    for _ in range(10_000):
        body = (Block(body),)
    assert bound(rename_unique(body, NameSupply(["x"]))) == ["x_1"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "word", ["target", "kernel", "return", "u32", "threadIdx", "define", "hidden", "main"]
)
def test_a_keyword_never_stands_alone_in_the_text(language: str, word: str) -> None:
    from vyre import BufferDecl, DataType

    out = BufferDecl.read_write(word, 0, DataType.U32)
    other = f"{word}_1"
    text = lower(Program([out], [1], [Let(other, out[0]), out.store(0, Var(other) + 1)]), language).text
    assert f"b_{word}" in text or f"b_{word}".upper() in text
    assert f" {word}_1 " not in text
