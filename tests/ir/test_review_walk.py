"""Walks and reprs stay small on programs whose trees are astronomically large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.compose.inline import inline
from vyre.errors import ValidationError, VyreError
from vyre.ir import Barrier, Block, BufferDecl, Call, DataType, Let, LitU32, Load, Node, Program, Store, Var
from vyre.ir.walk import expressions
from vyre.reference import run

if TYPE_CHECKING:
    from collections.abc import Callable

OUT = BufferDecl.read_write("out", 0, DataType.U32, count=1)


def doubled_blocks(levels: int) -> Program:
    body: list[Node] = [Store("out", LitU32(0), Load("out", LitU32(0)) + 1)]
    for _ in range(levels):
        body = [Block([*body, *body])]
    return Program([OUT], (1,), body)


def test_shared_statements_are_visited_once() -> None:
    assert len(list(expressions(doubled_blocks(60).entry))) == 4


def test_a_bomb_of_statements_is_refused_at_once() -> None:
    with pytest.raises(ValidationError, match="V019"):
        run(doubled_blocks(60), {}, (1, 1, 1))


def test_expressions_come_operands_first_in_program_order() -> None:
    entry = [Let("a", Load("out", LitU32(3))), Let("b", Var("a") + Load("out", LitU32(3)))]
    assert list(expressions(entry)) == [
        LitU32(3),
        Load("out", LitU32(3)),
        Var("a"),
        Var("a") + Load("out", LitU32(3)),
    ]


def test_a_repr_shows_the_first_statements() -> None:
    text = repr(Program([OUT], (1,), [Store("out", LitU32(i), LitU32(i)) for i in range(50_000)]))
    assert len(text) < 5_000
    assert "49980 more" in text
    assert "more" not in repr(Program([], (1,), [Barrier()]))


def test_a_fourth_dimension_is_refused_instead_of_dropped() -> None:
    with pytest.raises(VyreError, match="three dimensions, not 4"):
        Program([], (1, 1, 1, 8), [])


ODD: Any = object()
NEGATIVE = BufferDecl.read_write("b", 0, DataType.U32, count=-1)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: inline(Program([], (1,), [ODD])),
        lambda: run(Program([], (1,), [ODD]), {}, (1, 1, 1)),
        lambda: run(Program([ODD], (1,), []), {}, (1, 1, 1), check=False),
        lambda: run(Program([], (ODD,), []), {}, (1, 1, 1), check=False),
        lambda: run(Program([NEGATIVE], (1,), []), {}, (1, 1, 1), check=False),
        lambda: inline(Program([OUT], (1,), [Let(ODD, Call("primitive.math.add", (LitU32(1),)))])),
        lambda: Program.from_text(ODD),
    ],
)  # fmt: skip
def test_values_of_the_wrong_kind_are_refused_with_a_fix(attempt: Callable[[], object]) -> None:
    with pytest.raises(VyreError, match="Fix: "):
        attempt()
