"""Loads, stores and lengths that are wrong.

A witness is a case of a stage, or operands of an op where the op itself shows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.mutant import LOWERING, Mutant
from lab.mutants.parts import element, on_expr, on_node, shared
from vyre.conform.verify.stages import bounds
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import BufLen, Expr, Lane, LitU32, Load, MakeVec, Select
from vyre.ir.node import If, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.parts import NodeFault

U32 = DataType.U32
TOP = 0x8000_0000


def mutants() -> Iterator[Mutant]:
    yield from _loads_outside()
    yield from _loads()
    yield from _stores()
    yield from _lengths()


def _loads_outside() -> Iterator[Mutant]:
    """What is loaded where there is no element; `last` is the number of the last one."""
    rules: dict[str, tuple[Callable[[Load, Expr], Expr], int]] = {
        "the last element": (lambda x, last: Load(x.buffer, Select(x.index > last, last, x.index)), 5),
        "the first element": (lambda x, last: Load(x.buffer, Select(x.index > last, LitU32(0), x.index)), 5),
        "a wrapped index": (lambda x, last: Load(x.buffer, x.index % (last + 1)), 5),
        "a constant": (lambda x, last: Select(x.index > last, LitU32(1), x), 5),
        "an index of 16 bits": (lambda x, last: Load(x.buffer, x.index & 0xFFFF), 0x10000),
        "a signed index": (
            lambda x, last: Load(x.buffer, Select(x.index > TOP - 1, LitU32(0), x.index)),
            TOP + 1,
        ),
        "one past the end": (lambda x, last: Select(x.index.eq(last + 1), LitU32(0xDEAD), x), 4),
    }
    for what, (build, index) in rules.items():

        def fault(program: Program, x: Expr, build: Any = build) -> Expr:
            given = isinstance(x, Load) and element(program, x.buffer) is U32
            return build(x, BufLen(x.buffer) - 1) if given and isinstance(x, Load) else x

        yield on_expr("load out of bounds", what, fault, f"memory.load.u32/inputs/0x{index:X},0x4,0x7")
        if index != 0x10000:
            case = bounds.STAGE.case("load U32", 2)
            yield on_expr("load out of bounds", f"{what}, by the bounds stage", fault, case)

    def within(program: Program, x: Expr) -> Expr:
        if isinstance(x, Load) and shared(program, x.buffer):
            last = BufLen(x.buffer) - 1
            return Load(x.buffer, Select(x.index > last, last, x.index))
        return x

    yield on_expr("load out of bounds", "workgroup memory", within, bounds.STAGE.case("workgroup memory", 1))


def _loads() -> Iterator[Mutant]:
    def as_words(program: Program) -> Program:
        """Bool buffers are read as the words they are."""
        seen = [b.element is DataType.Bool and not b.access.writable for b in program.buffers]
        buffers = [replace(b, element=U32) if s else b for b, s in zip(program.buffers, seen, strict=True)]
        return Program(tuple(buffers), program.workgroup_size, program.entry)

    yield Mutant(
        "Bool not normalised", "Load", LOWERING, lambda inner: Mutated(inner, change=as_words),
        "memory.load.bool/inputs/0x0,0x4,0x2",
    )  # fmt: skip

    def first_lane(program: Program, x: Expr) -> Expr:
        if isinstance(x, Load) and element(program, x.buffer) is DataType.Vec4U32:
            return MakeVec(DataType.Vec4U32, (Lane(x, 0),) * 4)
        return x

    yield on_expr(
        "vector loaded as its first lane", "Vec4U32", first_lane,
        "value.lane.vec4u32.3/inputs/0x1,0x2,0x3,0x4",
    )  # fmt: skip

    def far_apart(program: Program, x: Expr) -> Expr:
        """Elements of a uniform buffer are taken to lie 16 bytes apart."""
        uniform = {b.name for b in program.buffers if b.access is BufferAccess.Uniform and b.element is U32}
        return Load(x.buffer, x.index * 4) if isinstance(x, Load) and x.buffer in uniform else x

    yield on_expr("stride of a uniform buffer", "U32", far_apart, bounds.STAGE.case("uniform U32", 1))


def _stores() -> Iterator[Mutant]:
    def storing(build: Callable[[Store, Expr], list[Node]]) -> NodeFault:
        def fault(program: Program, n: Node) -> list[Node]:
            given = isinstance(n, Store) and not shared(program, n.buffer)
            return build(n, BufLen(n.buffer)) if given and isinstance(n, Store) else [n]

        return fault

    clamp = storing(lambda n, size: [Store(n.buffer, Select(n.index < size, n.index, size - 1), n.value)])
    wrap = storing(lambda n, size: [Store(n.buffer, n.index % size, n.value)])
    clear = storing(lambda n, size: [n, If(n.index + 1 > size, (Store(n.buffer, LitU32(0), LitU32(0)),))])
    drop_last = storing(lambda n, size: [If((n.index + 1).ne(size), (n,))])
    drop_first = storing(lambda n, size: [If(n.index.ne(0), (n,))])
    twice = storing(lambda n, size: [n, Store(n.buffer, n.index + 1, n.value)])
    op = "memory.store.u32/inputs/"
    outside, lost = "store out of bounds", "store lost"
    yield on_node(outside, "the last element", clamp, f"{op}0x4,0x4,0x3,0x11,0x22")
    yield on_node(outside, "the last element, by the bounds stage", clamp, bounds.STAGE.case("store U32", 2))
    yield on_node(outside, "a wrapped index", wrap, f"{op}0x5,0x4,0x1,0x11,0x22")
    yield on_node(outside, "element 0 is cleared", clear, f"{op}0x5,0x4,0x0,0x11,0x22")
    yield on_node(lost, "the last element", drop_last, f"{op}0x3,0x4,0x3,0x11,0x22")
    yield on_node(lost, "the first element", drop_first, "primitive.math.add/inputs/0x1,0x2")
    yield on_node("store spills into the next element", "Store", twice, f"{op}0x2,0x4,0x3,0x11,0x22")

    def narrow(program: Program, n: Node) -> list[Node]:
        if not isinstance(n, Store) or element(program, n.buffer) is not U32:
            return [n]
        return [Store(n.buffer, n.index, Select(n.value > 0xFF_FFFF, n.value & 0xFFFF_FF00, n.value))]

    yield on_node("value stored through a float", "Store", narrow, f"{op}0x2,0x4,0x2,0x11,0x1000001")


def _lengths() -> Iterator[Mutant]:
    lengths: dict[str, Callable[[BufLen], Expr]] = {
        "in bytes": lambda x: x * 4,
        "one too many": lambda x: x + 1,
        "one too few": lambda x: x - 1,
        "rounded up to 4": lambda x: (x + 3) & ~LitU32(3),
        "rounded down to 4": lambda x: x & ~LitU32(3),
    }
    for what, build in lengths.items():

        def fault(program: Program, x: Expr, build: Any = build) -> Expr:
            return build(x) if isinstance(x, BufLen) else x

        yield on_expr("length of a buffer", what, fault, bounds.STAGE.case("store U32", 1))
