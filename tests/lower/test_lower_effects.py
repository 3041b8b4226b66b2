"""Effects in order: memory accesses of a statement that holds an atomic happen left to right."""

from __future__ import annotations

import pytest

from lab.exactness import exactness_programs
from vyre import BufferDecl, DataType, Program
from vyre.conform.diff.differential import compare
from vyre.errors import VyreError
from vyre.ir.expr import Atomic, Expr, LitU32, Load, Select, Var
from vyre.ir.node import If, Let, Loop, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.walk import postorder, statements
from vyre.lower.effects import sequence_effects
from vyre.lower.names import NameSupply
from vyre.lower.prepare import prepare

ZERO = LitU32(0)
WRITABLE = frozenset({"b"})


def bump(buffer: str = "b") -> Expr:
    return Atomic(AtomicOp.Add, buffer, ZERO, LitU32(1))


def sequenced(*entry: Node) -> tuple[Node, ...]:
    return sequence_effects(entry, WRITABLE, NameSupply())


def test_statements_without_atomics_stay_as_they_are() -> None:
    store = Store("b", Load("b", ZERO), Load("b", LitU32(1)) + Load("b", LitU32(2)))
    assert sequenced(store) == (store,)


def test_a_single_atomic_binding_stays_as_it_is() -> None:
    let = Let("old", bump())
    assert sequenced(let) == (let,)


def test_loads_and_atomics_become_bindings_in_evaluation_order() -> None:
    out = sequenced(Store("b", Load("b", ZERO), bump() - Load("b", ZERO)))
    assert out == (
        Let("seen", Load("b", ZERO)),
        Let("old", bump()),
        Let("seen_1", Load("b", ZERO)),
        Store("b", Var("seen"), Var("old") - Var("seen_1")),
    )


def test_a_node_used_twice_is_evaluated_twice() -> None:
    one = bump()
    out = sequenced(Let("x", one + one))
    assert [type(n.value).__name__ for n in out if isinstance(n, Let)] == ["Atomic", "Atomic", "BinOp"]


def test_read_only_memory_needs_no_order() -> None:
    out = sequenced(Let("x", Load("table", ZERO) + bump()))
    assert out == (Let("old", bump()), Let("x", Load("table", ZERO) + Var("old")))


def test_both_sides_of_a_select_are_evaluated() -> None:
    out = sequenced(Let("x", Select(LitU32(1), bump(), bump())))
    assert len([n for n in out if isinstance(n, Let) and isinstance(n.value, Atomic)]) == 2


def test_conditions_and_bounds_are_evaluated_once_in_front() -> None:
    out = sequenced(
        If(bump(), (Let("x", bump() + bump()),)),
        Loop("k", bump(), Load("b", ZERO), (Let("y", LitU32(1)),)),
    )
    kinds = [type(n).__name__ for n in out]
    assert kinds == ["Let", "If", "Let", "Let", "Loop"]
    for _, node in statements(out):
        for root in node.exprs:
            atomics = [e for e in postorder(root) if isinstance(e, Atomic)]
            assert not atomics or (isinstance(node, Let) and root is atomics[0])


def test_order_of_effects_is_the_references_on_opencl() -> None:
    try:
        from vyre.backends.opencl.backend import OpenClBackend

        backend = OpenClBackend()
    except (ImportError, VyreError) as error:
        pytest.skip(f"OpenCL is missing here: {error}")
    assert compare(exactness_programs()["order of effects"], backend) is None


def test_without_sequencing_c_would_be_free_to_choose() -> None:
    cell = BufferDecl.read_write("cell", 0, DataType.U32, count=1)
    value = cell[0] * 1000 + Atomic(AtomicOp.Add, "cell", ZERO, LitU32(1))
    prepared = prepare(Program([cell], [1], [cell.store(0, value)]))
    assert [type(n).__name__ for n in prepared.entry] == ["Let", "Let", "Store"]
