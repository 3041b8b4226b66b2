"""Statements, ids and grids that are wrong: barriers, branches, loops, returns, workgroups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lab.mutants.backend import Mutated
from lab.mutants.mutant import IR, RUNTIME, Mutant
from lab.mutants.rewrite import rewrite
from vyre.conform.verify.stages import barrier, dispatches, folding, races
from vyre.ir.expr import (
    BinOp,
    Expr,
    InvocationId,
    LitU32,
    LocalId,
    Select,
    UnOp,
    WorkgroupId,
    mul_hi,
)
from vyre.ir.node import Barrier, If, Loop, Node, Return, Store
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.mutants.backend import Run
    from lab.mutants.mutant import Make
    from vyre.backends.protocol import Backend
    from vyre.ir.program import Program

    Grid = tuple[int, int, int]


def _nodes(fault: Callable[[Node], list[Node]]) -> Make:
    return lambda inner: Mutated(inner, change=lambda p: rewrite(p, node=fault))


def _exprs(fault: Callable[[Expr], Expr]) -> Make:
    return lambda inner: Mutated(inner, change=lambda p: rewrite(p, expr=fault))


def mutants() -> Iterator[Mutant]:
    yield from _barriers()
    yield from _branches()
    yield from _ids()
    yield from _grids()
    yield from _folded()


def _barriers() -> Iterator[Mutant]:
    gone = _nodes(lambda n: [] if isinstance(n, Barrier) else [n])
    for subject in ("visibility", "storage visibility", "isolation", "scope", "uniform control flow"):
        yield Mutant(
            "barrier that leaks", f"none at all, by {subject}", IR, gone, barrier.STAGE.case(subject, 2)
        )
    yield Mutant("barrier that leaks", "none at all, by prefix sum", IR, gone, races.STAGE.case("prefix sum"))
    yield Mutant("barrier that leaks", "none at all, by histogram", IR, gone, races.STAGE.case("histogram"))
    yield Mutant(
        "barrier that leaks",
        "none at all, by workgroups of three dimensions",
        IR,
        gone,
        dispatches.STAGE.case("workgroups of three dimensions"),
    )

    def in_loops(n: Node) -> list[Node]:
        if not isinstance(n, Loop):
            return [n]
        return [Loop(n.var, n.start, n.stop, tuple(x for x in n.body if not isinstance(x, Barrier)))]

    def in_branches(n: Node) -> list[Node]:
        if not isinstance(n, If):
            return [n]
        kept = [tuple(x for x in body if not isinstance(x, Barrier)) for body in n.bodies]
        return [If(n.condition, *kept)]

    yield Mutant(
        "barrier that leaks", "those in loops", IR, _nodes(in_loops), barrier.STAGE.case("visibility", 2)
    )
    yield Mutant(
        "barrier that leaks",
        "those in branches",
        IR,
        _nodes(in_branches),
        barrier.STAGE.case("uniform control flow", 2),
    )
    for subject, which in (("isolation", 1), ("isolation", 0), ("fresh workgroup memory", 0)):
        stage = barrier.STAGE if subject == "isolation" else races.STAGE
        turn = 2 if subject == "isolation" else 0
        yield Mutant(
            "barrier that leaks",
            f"number {which + 1}, by {subject}",
            IR,
            partial(_without, which),
            stage.case(subject, turn),
        )


def _without(which: int, inner: Backend) -> Mutated:
    """Without one of the barriers at the top of a program."""

    def change(program: Program) -> Program:
        places = [k for k, n in enumerate(program.entry) if isinstance(n, Barrier)]
        if len(places) <= which:
            return program
        entry = [n for k, n in enumerate(program.entry) if k != places[which]]
        return type(program)(program.buffers, program.workgroup_size, tuple(entry))

    return Mutated(inner, change=change)


def _branches() -> Iterator[Mutant]:
    loops = dispatches.STAGE.case("loops")
    wrongs: dict[str, tuple[Callable[[Loop], tuple[Expr, Expr]], str]] = {
        "runs once more": (lambda n: (n.start, n.stop + 1), loops),
        "ends early": (lambda n: (n.start, n.stop - 1), loops),
        "starts at the second": (lambda n: (n.start + 1, n.stop), loops),
        "starts at 0": (lambda n: (LitU32(0), n.stop), loops),
        "runs at least once": (lambda n: (n.start, Select(n.stop > n.start, n.stop, n.start + 1)), loops),
        "stops at 65,535 turns": (
            lambda n: (n.start, Select(n.stop - n.start > 65_535, n.start + 65_535, n.stop)),
            loops,
        ),
    }
    for what, (bounds, witness) in wrongs.items():

        def fault(n: Node, bounds: Any = bounds) -> list[Node]:
            if not isinstance(n, Loop):
                return [n]
            start, stop = bounds(n)
            return [Loop(n.var, start, stop, n.body)]

        yield Mutant("loop bounds", what, IR, _nodes(fault), witness)
    yield Mutant(
        "guard dropped",
        "If",
        IR,
        _nodes(lambda n: list(n.then) if isinstance(n, If) else [n]),
        barrier.STAGE.case("uniform control flow", 1),
    )
    yield Mutant(
        "branches exchanged",
        "If",
        IR,
        _nodes(lambda n: [If(n.condition, n.orelse, n.then)] if isinstance(n, If) else [n]),
        barrier.STAGE.case("uniform control flow", 1),
    )
    yield Mutant(
        "else branch lost",
        "If",
        IR,
        _nodes(lambda n: [If(n.condition, n.then)] if isinstance(n, If) else [n]),
        barrier.STAGE.case("uniform control flow", 1),
    )
    yield Mutant(
        "return ignored",
        "Return",
        IR,
        _nodes(lambda n: [] if isinstance(n, Return) else [n]),
        dispatches.STAGE.case("early returns"),
    )
    yield Mutant(
        "statement lost",
        "the last of a loop",
        IR,
        _nodes(lambda n: [Loop(n.var, n.start, n.stop, n.body[:-1])] if isinstance(n, Loop) else [n]),
        races.STAGE.case("fresh workgroup memory"),
    )
    yield Mutant(
        "constants changed",
        "odd literals above 255",
        IR,
        _exprs(_constants),
        dispatches.STAGE.case("programs of one shape"),
    )


def _constants(x: Expr) -> Expr:
    return LitU32(x.value - 1) if isinstance(x, LitU32) and x.value > 255 and x.value & 1 else x


def _ids() -> Iterator[Mutant]:
    witness = dispatches.STAGE.case("ids")
    for kind in (InvocationId, WorkgroupId, LocalId):
        for first, second in ((0, 1), (1, 2), (0, 2)):
            swap = partial(_axes, kind, {first: second, second: first})
            where = f"{kind.__name__} {first} and {second}"
            yield Mutant("axes exchanged", where, IR, _exprs(swap), witness)
    yield Mutant(
        "local id for the global one",
        "InvocationId",
        IR,
        _exprs(lambda x: LocalId(x.axis) if isinstance(x, InvocationId) else x),
        witness,
    )
    yield Mutant(
        "ids of 16 bits",
        "InvocationId",
        IR,
        _exprs(lambda x: x & 0xFFFF if isinstance(x, InvocationId) else x),
        dispatches.STAGE.case("many workgroups along x"),
    )
    for axis in range(3):

        def narrow(x: Expr, axis: int = axis) -> Expr:
            return x & 0xFFFF if isinstance(x, WorkgroupId) and x.axis == axis else x

        yield Mutant(
            "ids of 16 bits",
            f"WorkgroupId {axis}",
            IR,
            _exprs(narrow),
            dispatches.STAGE.case(f"many workgroups along {'xyz'[axis]}"),
        )


def _axes(kind: Any, swap: dict[int, int], x: Any) -> Expr:
    return kind(swap.get(x.axis, x.axis)) if isinstance(x, kind) else x


def _grids() -> Iterator[Mutant]:
    def grid(change: Callable[[Grid], Grid]) -> Make:
        def around(run: Run, program: Program, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
            smaller = change(workgroups)
            if all(smaller):
                run(buffers, smaller)

        return lambda inner: Mutated(inner, around=around)

    length = dispatches.STAGE.case("primitive.math.add")
    cuts: list[tuple[str, Callable[[Grid], Grid], str]] = [
        (
            "the last workgroup is missing",
            lambda g: (g[0] - 1, g[1], g[2]),
            "primitive.math.add/inputs/0x1,0x2",
        ),
        ("the last workgroup of many is missing", lambda g: (g[0] - (g[0] > 1), g[1], g[2]), length),
        ("one workgroup only", lambda g: (1, 1, 1), length),
        (
            "at most 65,535 workgroups",
            lambda g: (min(g[0], 65_535), g[1], g[2]),
            dispatches.STAGE.case("many workgroups along x"),
        ),
        (
            "workgroups modulo 65,536",
            lambda g: ((g[0] & 0xFFFF) or 1, g[1], g[2]),
            dispatches.STAGE.case("many workgroups along x"),
        ),
        ("axes y and z exchanged", lambda g: (g[0], g[2], g[1]), dispatches.STAGE.case("ids")),
        ("axis z ignored", lambda g: (g[0], g[1], 1), dispatches.STAGE.case("ids")),
        ("axis y ignored", lambda g: (g[0], 1, g[2]), dispatches.STAGE.case("large buffer")),
    ]
    for what, change, witness in cuts:
        yield Mutant("grid", what, RUNTIME, grid(change), witness)

    def first_only(n: Node) -> list[Node]:
        return [If(InvocationId(0).eq(0), (n,))] if isinstance(n, Store) else [n]

    yield Mutant("first element only", "Store", IR, _nodes(first_only), length)

    def not_the_tail(n: Node) -> list[Node]:
        return [If(LocalId(0).ne(63), (n,))] if isinstance(n, Store) else [n]

    yield Mutant("last invocation of a workgroup idle", "Store", IR, _nodes(not_the_tail), length)
    yield Mutant(
        "index rounded as a float",
        "InvocationId 1",
        IR,
        _nodes(_rounded_index),
        dispatches.STAGE.case("large buffer"),
    )


def _rounded_index(n: Node) -> list[Node]:
    if not isinstance(n, Store):
        return [n]
    return [Store(n.buffer, Select(n.index > 0x100_0000, n.index & 0xFFFF_FFFE, n.index), n.value)]


def _folded() -> Iterator[Mutant]:
    """A compiler that knows better: right for operands from memory, wrong for what it sees through."""
    zero, one = LitU32(0), LitU32(1)

    def same(op: BinaryOp, value: Expr) -> Make:
        def fault(x: Expr) -> Expr:
            return value if isinstance(x, BinOp) and x.op is op and x.left is x.right else x

        return _exprs(fault)

    for op, name, value in (
        (BinaryOp.Div, "math.div", one),
        (BinaryOp.Mod, "math.mod", one),
        (BinaryOp.Sub, "math.sub", one),
        (BinaryOp.Le, "compare.le", zero),
        (BinaryOp.BitXor, "bitwise.xor", one),
        (BinaryOp.And, "logical.and", one),
    ):
        yield Mutant(
            "folded wrongly",
            f"x {op.value} x",
            IR,
            same(op, value),
            folding.STAGE.case(f"literals in primitive.{name}"),
        )

    def undone(outer: BinaryOp, inner: BinaryOp) -> Make:
        def fault(x: Expr) -> Expr:
            if isinstance(x, BinOp) and x.op is outer and isinstance(x.left, BinOp) and x.left.op is inner:
                return x.left.left if x.left.right is x.right else x
            return x

        return _exprs(fault)

    for outer, inner, name in (
        (BinaryOp.Div, BinaryOp.Mul, "math.div"),
        (BinaryOp.Mul, BinaryOp.Div, "math.mul"),
        (BinaryOp.Shr, BinaryOp.Shl, "bitwise.shr"),
        (BinaryOp.Shl, BinaryOp.Shr, "bitwise.shl"),
        (BinaryOp.BitOr, BinaryOp.BitAnd, "bitwise.or"),
        (BinaryOp.Mod, BinaryOp.Add, "math.mod"),
    ):
        where = f"(a {inner.value} b) {outer.value} b is a"
        yield Mutant(
            "folded wrongly",
            where,
            IR,
            undone(outer, inner),
            folding.STAGE.case(f"operations in primitive.{name}"),
        )

    def literal(op: BinaryOp, value: int, build: Callable[[BinOp], Expr]) -> Make:
        def fault(x: Expr) -> Expr:
            given = isinstance(x, BinOp) and x.op is op and x.right is LitU32(value)
            return build(x) if given and isinstance(x, BinOp) else x

        return _exprs(fault)

    for value in (3, 7, 10, 641):
        magic = (1 << 32) // value
        wrong = literal(BinaryOp.Div, value, lambda x, m=magic: mul_hi(x.left, m))
        yield Mutant(
            "division by a literal",
            str(value),
            IR,
            wrong,
            folding.STAGE.case("literals in primitive.math.div"),
        )
    for op, name in ((BinaryOp.Shl, "shl"), (BinaryOp.Shr, "shr")):
        wrong = literal(op, 33, lambda x: zero)
        yield Mutant(
            "shift by a literal over 31",
            op.value,
            IR,
            wrong,
            folding.STAGE.case(f"literals in primitive.bitwise.{name}"),
        )

    def constant(x: Expr) -> Expr:
        known = isinstance(x, UnOp) and isinstance(x.operand, LitU32) and x.operand.value == 0
        return LitU32(7) if known else x

    yield Mutant(
        "folded wrongly", "a unary operation on 0", IR, _exprs(constant), folding.STAGE.case("literals alone")
    )
