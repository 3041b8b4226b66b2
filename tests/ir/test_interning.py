"""Equal nodes are one object, at any depth, and dropped nodes leave nothing behind."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import time

import pytest

from vyre.errors import VyreError
from vyre.ir import (
    BinaryOp,
    BinOp,
    Block,
    BufferDecl,
    Call,
    DataType,
    Expr,
    InvocationId,
    Let,
    LitBool,
    LitI32,
    LitU32,
    Load,
    Node,
    Program,
    Return,
    Store,
    Var,
)
from vyre.ir.interning import interned_count
from vyre.ir.walk import postorder, transform


def chain(depth: int) -> Expr:
    x: Expr = Load("a", InvocationId(0))
    for i in range(depth):
        x = x + i % 97
    return x


def test_equal_nodes_are_the_same_object() -> None:
    assert BinOp(BinaryOp.Add, LitU32(1), Var("x")) is LitU32(1) + Var("x")
    assert Call("a.b", [LitU32(1)]) is Call("a.b", (LitU32(1),))
    assert Store("a", LitU32(0), LitU32(1)) is Store("a", LitU32(0), LitU32(1))
    assert Block([Return()]) is Block((Return(),))
    assert Var("x") is not Var("y")
    assert LitU32(1) is not LitI32(1)


@pytest.mark.parametrize(
    "value",
    [True, 1.0, -1, 1 << 32, "1", 1 << 100_000],
    ids=["bool", "float", "negative", "large", "str", "huge"],
)
def test_a_literal_is_checked_even_when_an_equal_key_is_known(value: object) -> None:
    assert LitU32(1).value == 1
    with pytest.raises(VyreError, match="Fix:"):
        LitU32(value)  # pyright: ignore[reportArgumentType]


def test_booleans_and_numbers_stay_apart() -> None:
    assert isinstance(LitBool(True).value, bool)
    with pytest.raises(VyreError):
        LitBool(1)  # pyright: ignore[reportArgumentType]


def test_operands_must_be_expressions() -> None:
    with pytest.raises(VyreError, match="not an expression"):
        BinOp(BinaryOp.Add, LitU32(1), 2)  # pyright: ignore[reportArgumentType]
    with pytest.raises(VyreError, match="not a statement"):
        Block((LitU32(1),))  # pyright: ignore[reportArgumentType]


def test_a_chain_of_100_000_builds_compares_walks_and_dies_quickly() -> None:
    started = time.perf_counter()
    x = chain(100_000)
    assert x.depth == 100_002
    assert x is chain(100_000)
    assert hash(x) == hash(chain(100_000))
    assert sum(1 for _ in postorder(x)) == 100_001 + 97 + 1
    swapped = transform(x, lambda e: LitU32(1000) if e is LitU32(5) else e)
    assert swapped is not x
    assert len(repr(x)) < 200
    del swapped, x
    assert time.perf_counter() - started < 60


def test_sizes_saturate_where_sharing_makes_the_tree_astronomical() -> None:
    x: Expr = Var("x")
    for _ in range(10_000):
        x = x + x
    assert x.size == 1 << 40


def test_dropped_programs_leave_nothing() -> None:
    gc.collect()
    before = interned_count()
    keep: list[Node] = [Let(f"unique{i}", Var(f"never_seen_{i}") + i) for i in range(1000)]
    assert interned_count() > before + 1000
    del keep
    gc.collect()
    assert interned_count() <= before + 1


def test_threads_agree_on_one_object() -> None:
    seen: list[Expr] = []

    def build() -> None:
        for i in range(2000):
            node = Var(f"shared{i}") + 1
            if i == 1999:
                seen.append(node)

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(node is seen[0] for node in seen)


def test_copies_are_the_node_itself() -> None:
    x = chain(3)
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
    assert copy.deepcopy(Return()) is Return()


def test_nodes_are_immutable() -> None:
    with pytest.raises(AttributeError):
        LitU32(1).value = 2  # pyright: ignore[reportAttributeAccessIssue]


def test_an_expression_has_no_truth_value() -> None:
    with pytest.raises(VyreError, match="truth value"):
        bool(Var("x") < 3)


def test_a_program_survives_pickling() -> None:
    program = Program(
        [BufferDecl.read_write("o", 0, DataType.U32)], (64,), [Store("o", InvocationId(0), LitU32(1))]
    )
    assert pickle.loads(pickle.dumps(program)) == program
    assert program.workgroup_size == (64, 1, 1)
