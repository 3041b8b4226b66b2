"""The meaning digest forgets the names that a program declares, and nothing else."""

from __future__ import annotations

from random import Random

import pytest

from tests.wire.wire_programs import golden_programs, random_program
from vyre.ir import (
    Assign,
    Block,
    BufferDecl,
    BufLen,
    Call,
    DataType,
    If,
    InvocationId,
    Let,
    LitI32,
    LitU32,
    Load,
    Loop,
    Node,
    Program,
    Return,
    Store,
    Var,
)
from vyre.wire import meaning_digest

U32 = DataType.U32
ONE, TWO = LitU32(1), LitU32(2)


def digest(*entry: Node) -> str:
    buffers = [BufferDecl.read("a", 0, U32), BufferDecl.read_write("out", 1, U32)]
    return meaning_digest(Program(buffers, (1, 1, 1), entry))


def store(value: str) -> Store:
    return Store("out", ONE, Var(value))


def renamed_pair() -> tuple[Program, Program]:
    def build(source: str, target: str, x: str, i: str) -> Program:
        body = (
            Let(x, Load(source, Var(i)) + BufLen(source)),
            Assign(x, Var(x) * 2),
            Store(target, Var(i), Var(x)),
        )
        buffers = [BufferDecl.read(source, 0, U32), BufferDecl.read_write(target, 1, U32, count=8)]
        return Program(buffers, (64, 1, 1), [Loop(i, LitU32(0), ONE, body)])

    return build("a", "out", "x", "i"), build("input", "a", "i", "x")


def test_alpha_renamed_programs_agree() -> None:
    first, second = renamed_pair()
    assert first != second
    assert meaning_digest(first) == meaning_digest(second)


def test_blocks_that_reuse_a_name_equal_blocks_that_do_not() -> None:
    reused = digest(Block((Let("x", ONE), store("x"))), Block((Let("x", TWO), store("x"))))
    apart = digest(Block((Let("x", ONE), store("x"))), Block((Let("y", TWO), store("y"))))
    assert reused == apart


def test_a_use_refers_to_the_binding_that_is_live() -> None:
    inner = digest(Let("x", ONE), Block((Let("y", TWO), store("y"))))
    outer = digest(Let("x", ONE), Block((Let("y", TWO), store("x"))))
    assert inner != outer
    shadowed = digest(Let("x", ONE), Block((Let("x", TWO), store("x"))))
    assert shadowed == inner


def test_a_shadowed_name_means_the_outer_one_again_after_the_scope() -> None:
    after = digest(Let("x", ONE), Block((Let("x", TWO),)), store("x"))
    plain = digest(Let("x", ONE), Block((Let("y", TWO),)), store("x"))
    assert after == plain
    twice = digest(Let("x", ONE), Block((Let("x", TWO), Let("x", ONE))), store("x"))
    assert twice == digest(Let("x", ONE), Block((Let("y", TWO), Let("z", ONE))), store("x"))


def test_a_name_whose_scope_has_ended_is_undeclared_and_stays() -> None:
    def ended(name: str) -> str:
        return digest(Block((Let(name, ONE),)), store(name))

    assert ended("x") != ended("y")
    assert ended("x") == digest(Block((Let("z", ONE),)), store("x"))


def test_a_loop_variable_is_bound_in_its_body_only() -> None:
    def loop(var: str, stop: str, body: str) -> str:
        return digest(Loop(var, LitU32(0), Var(stop), (store(body),)))

    assert loop("i", "free", "i") == loop("k", "free", "k")
    assert loop("i", "i", "i") != loop("k", "k", "k")
    assert loop("i", "free", "free") != loop("free", "free", "free")


def test_the_value_of_a_let_does_not_see_its_own_name() -> None:
    assert digest(Let("x", Var("x"))) != digest(Let("y", Var("y")))
    assert digest(Let("x", ONE), Let("x", Var("x")), store("x")) == digest(
        Let("x", ONE), Let("y", Var("x")), store("y")
    )


def test_branches_have_scopes_of_their_own() -> None:
    both = digest(If(ONE, (Let("x", ONE), store("x")), (Let("x", TWO), store("x"))))
    apart = digest(If(ONE, (Let("x", ONE), store("x")), (Let("y", TWO), store("y"))))
    leaked = digest(If(ONE, (Let("x", ONE), store("x")), (Let("y", TWO), store("x"))))
    assert both == apart
    assert both != leaked


def test_variables_and_buffers_are_named_apart() -> None:
    assert digest(Let("a", ONE), store("a")) == digest(Let("x", ONE), store("x"))
    assert digest(Store("out", ONE, Load("a", ONE))) != digest(Store("out", ONE, Load("out", ONE)))


def test_numbers_and_free_names_are_never_confused() -> None:
    assert digest(Let("x", ONE), store("x")) != digest(Let("x", ONE), store("0"))
    assert digest(Let("x", ONE), store("x")) != digest(Let("x", ONE), store("\x01"))


def change(**edit: object) -> Program:
    parts: dict[str, object] = {
        "binding": 0,
        "element": U32,
        "count": 4,
        "size": (1, 1, 1),
        "op": "m.a",
        "lit": ONE,
    }
    parts |= edit
    buffers = [
        BufferDecl.read("a", parts["binding"], parts["element"], count=parts["count"]),  # pyright: ignore[reportArgumentType]
        *([BufferDecl.read("b", 9, U32)] if "more" in edit else []),
    ]
    value = Call(parts["op"], (parts["lit"],))  # pyright: ignore[reportArgumentType]
    tail = (Return(),) if "tail" in edit else ()
    return Program(buffers, parts["size"], [Let("x", value), *tail])  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "edit",
    [
        {"binding": 1},
        {"element": DataType.I32},
        {"count": 5},
        {"size": (2, 1, 1)},
        {"op": "m.b"},
        {"lit": TWO},
        {"lit": LitI32(1)},
        {"lit": InvocationId(0)},
        {"more": True},
        {"tail": True},
    ],
    ids=str,
)
def test_everything_but_names_counts(edit: dict[str, object]) -> None:
    assert meaning_digest(change(**edit)) != meaning_digest(change())


def test_the_order_of_buffers_counts() -> None:
    a, b = BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32)
    load = Let("x", Load("a", ONE))
    assert meaning_digest(Program([a, b], (1,), [load])) != meaning_digest(Program([b, a], (1,), [load]))


def test_the_shape_of_the_tree_counts() -> None:
    nested = digest(Block((Block((Return(),)), Return())))
    assert nested != digest(Block((Block((Return(), Return())),)))
    assert nested != digest(Block((Block(()), Return())), Return())


def test_golden_and_random_programs_have_distinct_meanings() -> None:
    rng = Random(3)
    programs = [*golden_programs().values(), *(random_program(rng) for _ in range(300))]
    distinct: dict[str, Program] = {}
    for program in programs:
        known = distinct.setdefault(meaning_digest(program), program)
        assert known == program or known.size < 6


def test_the_digest_of_today_is_the_digest_of_ever() -> None:
    """Caches and proofs are filed under it."""
    first, _ = renamed_pair()
    assert meaning_digest(first) == "52758dfe15c3844eca503eed77df8709ff8f4471cc4f02c6a74ae750d8993d1d"
