"""The shared limits bind both directions: what is written can be read, what is beyond is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.wire.wire_bytes import add, let, lit, program_bytes, text, varint
from vyre.errors import WireError
from vyre.ir import Barrier, Block, BufferAccess, BufferDecl, DataType, Expr, Let, LitU32, Node, Program, Var
from vyre.ir.limits import MAX_BUFFERS, MAX_EXPR_DEPTH, MAX_NESTING, MAX_NODES
from vyre.wire import MAX_STRING_BYTES, decode, encode, meaning_digest

if TYPE_CHECKING:
    from collections.abc import Callable


def chain(levels: int) -> Expr:
    expr: Expr = Var("x")
    for _ in range(levels - 1):
        expr = ~expr
    return expr


def nested(levels: int) -> Node:
    node: Node = Barrier()
    for _ in range(levels):
        node = Block((node,))
    return node


def doubled(times: int) -> Expr:
    expr: Expr = LitU32(1)
    for _ in range(times):
        expr = expr + expr
    return expr


def entry(*nodes: Node) -> Program:
    return Program([], (1, 1, 1), nodes)


def buffers(count: int) -> Program:
    return Program([BufferDecl.read(f"b{i}", i, DataType.U32) for i in range(count)], (1, 1, 1), [])


@pytest.mark.parametrize(
    "program",
    [
        entry(*[Barrier()] * MAX_NODES),
        entry(Let("y", chain(MAX_EXPR_DEPTH))),
        entry(nested(MAX_NESTING)),
        buffers(MAX_BUFFERS),
        entry(Let("y" * MAX_STRING_BYTES, LitU32(0))),
        entry(Let("ß" * (MAX_STRING_BYTES // 2), LitU32(0))),
    ],
    ids=["nodes", "depth", "nesting", "buffers", "name", "name in UTF-8"],
)
def test_a_program_at_a_limit_round_trips(program: Program) -> None:
    assert decode(encode(program)) == program


BEYOND: dict[str, tuple[str, Callable[[], Program]]] = {
    "nodes": ("V019", lambda: entry(*[Barrier()] * (MAX_NODES + 1))),
    "tree size": ("V019", lambda: entry(Let("y", doubled(100)))),
    "saturated size": ("V019", lambda: entry(*[Let("y", doubled(100))] * 1000)),
    "depth": ("V034", lambda: entry(Let("y", chain(MAX_EXPR_DEPTH + 1)))),
    "a chain of 100,000": ("V019", lambda: entry(Let("y", chain(100_000)))),
    "a chain of 99,000": ("V034", lambda: entry(Let("y", chain(99_000)))),
    "nesting": ("V018", lambda: entry(nested(MAX_NESTING + 1))),
    "10,000 blocks": ("V018", lambda: entry(nested(10_000))),
    "buffers": ("V040", lambda: buffers(MAX_BUFFERS + 1)),
    "name": ("V032", lambda: entry(Let("y" * (MAX_STRING_BYTES + 1), LitU32(0)))),
    "name in UTF-8": ("V032", lambda: entry(Let("ß" * (MAX_STRING_BYTES // 2 + 1), LitU32(0)))),
    "binding": ("V042", lambda: Program([BufferDecl.read("b", 1 << 32, DataType.U32)], (1,), [])),
    "negative count": ("V042", lambda: Program([BufferDecl.read("b", 0, DataType.U32, count=-1)], (1,), [])),
    "workgroup size": ("V042", lambda: Program([], (1, 1, 1 << 32), [])),
}


@pytest.mark.parametrize("name", BEYOND)
@pytest.mark.parametrize("use", [encode, meaning_digest])
def test_a_program_beyond_a_limit_names_the_rule(name: str, use: Callable[[Program], object]) -> None:
    code, make = BEYOND[name]
    with pytest.raises(WireError, match=code) as caught:
        use(make())
    assert caught.value.fix
    assert caught.value.offset is None


WRONG: dict[str, Callable[[Any], Any]] = {
    "not a program": lambda any_: any_("program"),
    "a list as entry statement": lambda any_: Program([], (1,), any_([[]])),
    "a buffer that is a string": lambda any_: Program(any_(["b"]), (1,), []),
    "a buffer name that is not a string": lambda any_: Program(
        [BufferDecl(any_([]), 0, BufferAccess.ReadOnly, DataType.U32)], (1,), []
    ),
    "an access by name": lambda any_: Program([BufferDecl("b", 0, any_("ReadOnly"), DataType.U32)], (1,), []),
    "a fractional workgroup": lambda any_: Program([], any_((1.0,)), []),
    "a number as a name": lambda any_: entry(Let(any_(7), LitU32(0))),
    "half a surrogate pair": lambda any_: entry(Let("\ud800", LitU32(0))),
    "half a surrogate pair in a variable": lambda any_: entry(Let("x", Var("\udfff"))),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("use", [encode, meaning_digest])
def test_a_value_that_has_no_bytes_is_a_wire_error(name: str, use: Callable[[Any], object]) -> None:
    with pytest.raises(WireError) as caught:
        use(WRONG[name](lambda value: value))  # pyright: ignore[reportUnknownLambdaType]
    assert caught.value.fix


def test_a_kind_of_node_that_the_format_does_not_know_is_refused() -> None:
    class Strange(Var):
        __slots__ = ()

    class Odd(Barrier):
        __slots__ = ()

    for program in (entry(Let("x", Strange("y"))), entry(Odd())):
        for use in (encode, meaning_digest):
            with pytest.raises(WireError, match="has no tag"):
                use(program)


def deep_bytes(levels: int) -> bytes:
    exprs = [lit(1), *[b"\x0c\x02\x01"] * (levels - 1)]
    return program_bytes(strings=[text("y")], exprs=exprs, nodes=[let(0, levels - 1)], entry=[b"\x00"])


def nested_bytes(levels: int) -> bytes:
    nodes = [b"\x08", *[b"\x07\x01\x01"] * levels]
    return program_bytes(nodes=nodes, entry=[varint(levels)])


def doubling_bytes(times: int) -> bytes:
    exprs = [lit(1), *[add(1, 1)] * times]
    return program_bytes(strings=[text("y")], exprs=exprs, nodes=[let(0, times)], entry=[b"\x00"])


def doubling_blocks(times: int) -> bytes:
    return program_bytes(nodes=[b"\x08", *[b"\x07\x02\x01\x01"] * times], entry=[varint(times)])


@pytest.mark.parametrize(
    ("code", "make", "most"),
    [
        ("V034", deep_bytes, MAX_EXPR_DEPTH),
        ("V018", nested_bytes, MAX_NESTING),
        ("V019", doubling_bytes, 15),
        ("V019", doubling_blocks, 15),
    ],
)
def test_crafted_bytes_are_accepted_up_to_the_limit_and_refused_beyond(
    code: str, make: Callable[[int], bytes], most: int
) -> None:
    assert encode(decode(make(most))) == make(most)
    with pytest.raises(WireError, match=code) as caught:
        decode(make(most + 1))
    assert 0 < (caught.value.offset or 0) < len(make(most + 1))


def test_a_table_of_60_doublings_is_refused() -> None:
    for bomb in (doubling_bytes(60), doubling_blocks(60)):
        with pytest.raises(WireError, match="V019"):
            decode(bomb)


def test_many_uses_of_a_big_statement_are_summed() -> None:
    loops = program_bytes(nodes=[b"\x08", b"\x07" + varint(9_999) + b"\x01" * 9_999], entry=[b"\x01"] * 10)
    assert decode(loops).size == MAX_NODES
    more = program_bytes(nodes=[b"\x08", b"\x07" + varint(9_999) + b"\x01" * 9_999], entry=[b"\x01"] * 11)
    with pytest.raises(WireError, match="V019"):
        decode(more)


def test_too_many_buffers_in_the_bytes_are_refused() -> None:
    def declare(count: int) -> bytes:
        return program_bytes(strings=[text("b")], buffers=[b"\x00\x01\x01\x00\x00"] * count)

    assert len(decode(declare(MAX_BUFFERS)).buffers) == MAX_BUFFERS
    with pytest.raises(WireError, match="V040"):
        decode(declare(MAX_BUFFERS + 1))
