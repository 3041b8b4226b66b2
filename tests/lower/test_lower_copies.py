"""Copies into workgroup memory that do not wait: only where nobody looks before the next barrier."""

from __future__ import annotations

import pytest

from vyre import BufferDecl, DataType, LocalId, Program
from vyre.ir.expr import Expr, Lane, LitU32, Var
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.lower.cuda import emit
from vyre.lower.opencl import emit as opencl
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS, SOFT

T = DataType
DATA = BufferDecl.read("data", 0, T.Vec4U32)
OUT = BufferDecl.read_write("out", 1, T.U32)
CHANGED = BufferDecl.read_write("changed", 2, T.Vec4U32)
NEAR = BufferDecl.workgroup("near", T.Vec4U32, 256)
OTHER = BufferDecl.workgroup("other", T.Vec4U32, 256)
BUFFERS = [DATA, OUT, CHANGED, NEAR, OTHER]
LANE = LocalId(0)


def copy(index: Expr = LANE, memory: str = "near") -> Store:
    return Store(memory, index, DATA[LANE])


def shown(memory: BufferDecl = NEAR) -> Store:
    return Store("out", LANE, Lane(memory[LANE], 0))


def copies(*entry: Node) -> int:
    """How many of them the device makes by itself; the helper is not counted."""
    text = emit(prepare(Program(BUFFERS, (64,), entry), ways=CUDA_WAYS)).text
    found = text.count("copy_16(&")
    assert ("copied_16();" in text) == bool(found)
    return found


FREE: dict[str, list[Node]] = {
    "alone": [copy(), Barrier(), shown()],
    "many places behind one index": [copy(), copy(LANE + 64), copy(LANE + 128), Barrier(), shown()],
    "other memory is read meanwhile": [copy(), shown(OTHER), Barrier(), shown()],
    "in a loop": [Loop("t", LitU32(0), LitU32(4), (copy(), Barrier(), shown(), Barrier()))],
}


@pytest.mark.parametrize("name", FREE)
def test_nobody_looks_before_the_barrier(name: str) -> None:
    entry = FREE[name]
    inside = [x for node in entry for x in (node.bodies[0] if isinstance(node, Loop) else (node,))]
    expected = sum(isinstance(x, Store) and x.buffer == "near" for x in inside)
    assert copies(*entry) == expected


WAITING: dict[str, list[Node]] = {
    "no barrier": [copy()],
    "it is read": [copy(), shown(), Barrier()],
    "it is read inside": [copy(), If(LANE < 3, (shown(),)), Barrier()],
    "the same place twice": [copy(), Store("near", LANE, DATA[LANE + 1]), Barrier(), shown()],
    "perhaps the same place": [copy(), Store("near", LitU32(63) - LANE, DATA[LANE + 1]), Barrier()],
    "the common index changes": [
        Let("i", LANE),
        copy(Var("i")),
        Assign("i", Var("i") + 64),
        copy(Var("i")),
        Barrier(),
        shown(),
    ],
    "the way out": [
        Loop(
            "t", LitU32(0), LitU32(4), (copy(), If(OUT.length < 3, (Break(),)), Barrier(), shown(), Barrier())
        )
    ],
    "the end": [copy(), If(OUT.length < 3, (Return(),)), Barrier(), shown()],
    "a place outside": [copy(LANE * 5), Barrier(), shown()],
    "what is read changes": [Store("near", LANE, CHANGED[LANE]), Barrier(), shown()],
}


LAST = frozenset({"the same place twice", "perhaps the same place"})
"""Of two stores the last may go on by itself, but never the first."""


@pytest.mark.parametrize("name", WAITING)
def test_somebody_could_look(name: str) -> None:
    assert copies(*WAITING[name]) == (name in LAST)


def test_other_languages_store() -> None:
    program = Program(BUFFERS, (64,), [copy(), Barrier(), shown()])
    assert "copy_16" not in opencl(prepare(program, ways=SOFT)).text


def test_a_device_reads_zero_past_the_end_and_waits() -> None:
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source

    made = emit(prepare(Program(BUFFERS, (64,), [copy(), Barrier(), shown()]), ways=CUDA_WAYS))
    new, old = (compile_source(made, f"compute_{number}").decode() for number in (90, 75))
    assert "cp.async.cg.shared.global" in new
    assert new.index("cp.async.wait_all") < new.rindex("bar.sync")
    assert "cp.async" not in old
