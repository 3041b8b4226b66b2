"""The one rewriter of statements: its order, its scopes, and that depth costs no stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.blocks import keep, rewrite_blocks
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Block, If, Let, Loop, Return

if TYPE_CHECKING:
    from vyre.ir.node import Node

ZERO, ONE = LitU32(0), LitU32(1)


def test_a_program_that_is_kept_is_the_same() -> None:
    entry = (Let("a", ZERO), If(Var("a"), (Return(),), (Block((Return(),)),)), Loop("i", ZERO, ONE, ()))
    assert rewrite_blocks(entry, keep, None) == entry


def test_statements_are_entered_in_program_order_and_left_inside_out() -> None:
    seen: list[str] = []

    def enter(node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        seen.append(f"enter {type(node).__name__}")
        return node, None

    def leave(node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        seen.append(f"leave {type(node).__name__}")
        return (node,) if not bodies else bodies[0]

    inner = Loop("i", ZERO, ONE, (Return(),))
    assert rewrite_blocks((If(ONE, (inner,)), Let("a", ZERO)), enter, None, leave=leave) == (
        Return(),
        Let("a", ZERO),
    )
    wanted = "enter If, enter Loop, enter Return, leave Return, leave Loop, leave If, enter Let, leave Let"
    assert ", ".join(seen) == wanted


def test_every_body_has_a_scope_of_its_own() -> None:
    places: list[str] = []

    def enter(node: Node, place: str, _: list[Node]) -> tuple[Node, str]:
        places.append(place)
        return node, place + "/" + type(node).__name__

    def body(place: str, name: str) -> str:
        return f"{place}.{name}"

    entry = (If(ONE, (Loop("i", ZERO, ONE, (Return(),)),), (Return(),)), Return())
    rewrite_blocks(entry, enter, "top", body=body)
    assert places == ["top", "top/If.then", "top/If.then/Loop.body", "top/If.orelse", "top"]


def test_statements_can_be_put_in_front_and_left_out() -> None:
    def enter(node: Node, _: None, out: list[Node]) -> tuple[Node, None] | None:
        if isinstance(node, Return):
            return None
        out.append(Let("before", ZERO))
        return node, None

    branch = If(ONE, (Let("a", ZERO), Return()))
    made = rewrite_blocks((branch, Return()), enter, None)
    assert made == (Let("before", ZERO), If(ONE, (Let("before", ZERO), Let("a", ZERO))))


def test_a_new_statement_is_rebuilt_over_its_own_bodies() -> None:
    def enter(node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        return (Block(node.then), None) if isinstance(node, If) else (node, None)

    deep = If(ONE, (If(ONE, (Return(),), (Let("a", ZERO),)),), (Let("b", ZERO),))
    assert rewrite_blocks((deep,), enter, None) == (Block((Block((Return(),)),)),)


def test_depth_costs_no_stack() -> None:
    node: Node = Return()
    for _ in range(20_000):
        node = Block((node,))

    def block(body: list[Node]) -> tuple[Node, ...]:
        return (Let("a", ZERO), *body)

    made = rewrite_blocks((node,), keep, None, block=block)
    assert sum(isinstance(x, Let) for x in _flat(made)) == 20_001


def _flat(entry: tuple[Node, ...]) -> list[Node]:
    found: list[Node] = []
    stack = list(entry)
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(child for body in node.bodies for child in body)
    return found
