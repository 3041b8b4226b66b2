"""Faults of compilers in statements: stores, loops, barriers, branches, memory, ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.rewrite import rewrite
from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import element, expressions, first, flipped, last, statements, typed
from vyre.ir.environment import Types
from vyre.ir.expr import (
    BinOp,
    BufLen,
    Expr,
    FReduce,
    InvocationId,
    LitU32,
    Load,
    LocalId,
    Select,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.node import Assign, Barrier, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import BinaryOp, ReduceOp, ReduceOrder, UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import postorder, with_parts
from vyre.ir.walk import statements as all_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault

LOOP, BARRIER, BRANCH = "loop nesting >= 1", "barriers >= 1", "branch nesting >= 1"


def faults() -> Iterator[Fault]:
    yield from _stores()
    yield from _loops()
    yield from _control()
    yield from _memory()
    yield from _ids()


def _stores() -> Iterator[Fault]:
    def everywhere(types: Types, n: Node) -> list[Node]:
        if not isinstance(n, Store):
            return [n]
        of = types.element(n.buffer)
        return [Store(n.buffer, n.index, flipped(of.loaded, n.value))] if of is not None else [n]

    def wrong(program: Program, n: Store) -> list[Node]:
        return [Store(n.buffer, n.index, flipped(element(program, n.buffer), n.value))]

    def where(condition: Callable[[Program, Store], Expr]) -> Callable[[Program, Store], list[Node]]:
        return lambda program, n: [If(condition(program, n), (n,))]

    def not_last(program: Program, n: Store) -> Expr:
        x, y, z = program.workgroup_size
        here = LocalId(0).eq(x - 1).and_(LocalId(1).eq(y - 1)).and_(LocalId(2).eq(z - 1))
        return UnOp(UnaryOp.LogicalNot, here)

    yield program_fault("wrong stores", typed(everywhere))
    yield program_fault("wrong last store", last(Store, wrong))
    yield program_fault("wrong first store", first(Store, wrong))
    yield program_fault("last store lost", last(Store, lambda p, n: []))
    yield program_fault("first store lost", first(Store, lambda p, n: []))
    yield program_fault("last store lost by the last of a workgroup", last(Store, where(not_last)))
    yield program_fault("last store lost at odd places", last(Store, where(lambda p, n: (n.index & 1).eq(0))))
    yield program_fault(
        "last store lost past the half of a workgroup",
        last(Store, where(lambda p, n: LocalId(0) < (p.workgroup_size[0] + 1) // 2)),
        "workgroup x >= 2",
    )
    yield program_fault(
        "last store one place on", last(Store, lambda p, n: [Store(n.buffer, n.index + 1, n.value)])
    )
    yield program_fault(
        "last store at a place of 8 bits",
        last(Store, lambda p, n: [Store(n.buffer, n.index & 0xFF, n.value)]),
        "output elements >= 257",
    )


def _loops() -> Iterator[Fault]:
    def bounds(change: Callable[[Loop], tuple[Expr, Expr]]) -> Callable[[Node], list[Node]]:
        def rule(n: Node) -> list[Node]:
            return [Loop(n.var, *change(n), n.body)] if isinstance(n, Loop) else [n]

        return rule

    def innermost(program: Program, n: Loop) -> list[Node]:
        return [Loop(n.var, n.start, Select(n.stop > n.start, n.stop - 1, n.stop), n.body)]

    def skipped(which: Callable[[Loop], Expr]) -> Callable[[Node], list[Node]]:
        def rule(n: Node) -> list[Node]:
            if not isinstance(n, Loop) or any(isinstance(x, Barrier) for x in n.body):
                return [n]
            return [Loop(n.var, n.start, n.stop, (If(which(n), n.body),))]

        return rule

    turned = "loop turns >= 1"
    yield program_fault(
        "last turn lost",
        statements(bounds(lambda n: (n.start, Select(n.stop > n.start, n.stop - 1, n.stop)))),
        turned,
    )
    yield program_fault("one turn too many", statements(bounds(lambda n: (n.start, n.stop + 1))), LOOP)
    yield program_fault(
        "first turn lost",
        statements(bounds(lambda n: (Select(n.stop > n.start, n.start + 1, n.start), n.stop))),
        turned,
    )
    yield program_fault("last turn of the innermost loop lost", first(Loop, innermost), turned)
    yield program_fault(
        "second turn skipped", statements(skipped(lambda n: (Var(n.var) - n.start).ne(1))), "loop turns >= 2"
    )
    yield program_fault(
        "turns of a remainder by 4 skipped",
        statements(skipped(lambda n: (Var(n.var) - n.start) < ((n.stop - n.start) & ~LitU32(3)))),
        "loop turns >= 1",
    )
    yield program_fault(
        "last statement of a loop lost",
        statements(lambda n: [Loop(n.var, n.start, n.stop, n.body[:-1])] if isinstance(n, Loop) else [n]),
        turned,
    )
    yield program_fault("assignment of a loop lost", first(Assign, lambda p, n: []), turned)


def _control() -> Iterator[Fault]:
    yield program_fault("barriers lost", statements(lambda n: [] if isinstance(n, Barrier) else [n]), BARRIER)
    yield program_fault("last barrier lost", last(Barrier, lambda p, n: []), BARRIER)
    yield program_fault("first barrier lost", first(Barrier, lambda p, n: []), BARRIER)
    yield program_fault("innermost branch always taken", first(If, lambda p, n: n.then), BRANCH)
    yield program_fault(
        "innermost branch exchanged", first(If, lambda p, n: [If(n.condition, n.orelse, n.then)]), BRANCH
    )
    yield program_fault(
        "else lost", statements(lambda n: [If(n.condition, n.then)] if isinstance(n, If) else [n]), BRANCH
    )
    yield program_fault(
        "return ignored",
        statements(lambda n: [] if isinstance(n, Return) else [n]),
        "return = outside of loops",
    )
    yield program_fault("last assignment lost", last(Assign, lambda p, n: []), LOOP)
    yield program_fault("last variable wrong", _variable(-1))
    yield program_fault("middle variable wrong", _variable(0.5))
    yield program_fault("early variable wrong", _variable(0.1))


def _variable(which: float) -> Change:
    """One variable of a program is wrong by its lowest bit: the last, or one at this share of them."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)
        lets = [n for _, n in all_statements(program.entry) if isinstance(n, Let)]
        kept = [n for n in lets if types.type(n.value) is DataType.U32]
        if not kept:
            return program
        chosen = kept[-1] if which < 0 else kept[int(which * len(kept))]

        def rule(n: Node) -> list[Node]:
            return [Let(n.name, n.value ^ 1)] if n is chosen and isinstance(n, Let) else [n]

        return rewrite(program, node=rule)

    return change


def _memory() -> Iterator[Fault]:
    def load(change: Callable[[Load], Expr], keep: Callable[[Program, Load], bool]) -> Change:
        def changed(program: Program) -> Program:
            return expressions(lambda x: change(x) if isinstance(x, Load) and keep(program, x) else x)(
                program
            )

        return changed

    def access(*names: str) -> Callable[[Program, Load], bool]:
        return lambda p, x: next(b.access.value for b in p.buffers if b.name == x.buffer) in names

    shared = ("Workgroup", "WorkgroupAtomic")
    yield program_fault(
        "load of the element before",
        load(lambda x: Load(x.buffer, Select(x.index > 0, x.index - 1, x.index)), access("ReadOnly")),
    )
    yield program_fault(
        "uniform loads the element before",
        load(lambda x: Load(x.buffer, Select(x.index > 0, x.index - 1, x.index)), access("Uniform")),
        "access = Uniform",
        "uniform bytes >= 8",
    )
    yield program_fault(
        "uniform loads its first element",
        load(lambda x: Load(x.buffer, LitU32(0)), access("Uniform")),
        "access = Uniform",
        "uniform bytes >= 8",
    )
    yield program_fault(
        "workgroup memory reads a neighbour",
        load(lambda x: Load(x.buffer, x.index ^ 1), access(*shared)),
        "access = Workgroup",
    )
    yield program_fault(
        "load past the end gives the last",
        load(
            lambda x: Load(x.buffer, Select(x.index >= BufLen(x.buffer), BufLen(x.buffer) - 1, x.index)),
            access("ReadOnly", "ReadWrite"),
        ),
    )
    yield program_fault(
        "length one short",
        expressions(lambda x: BinOp(BinaryOp.Sub, x, LitU32(1)) if isinstance(x, BufLen) else x),
    )
    yield program_fault("stale load after a store", _stale, "loads after stores >= 1")
    yield program_fault(
        "reduction one element short",
        expressions(
            lambda x: (
                FReduce(x.order, x.op, x.buffer, x.start, Select(x.stop > x.start, x.stop - 1, x.stop))
                if isinstance(x, FReduce)
                else x
            )
        ),
        "reduction length >= 1",
    )
    # Minima and maxima are the same in any order, and so are sums of three.
    yield program_fault(
        "sum in another order", expressions(_reordered), "reduction = Strict Add", "reduction length >= 4"
    )


def _reordered(x: Expr) -> Expr:
    if not isinstance(x, FReduce) or x.op is not ReduceOp.Add:
        return x
    orders = list(ReduceOrder)
    return FReduce(orders[(orders.index(x.order) + 1) % len(orders)], x.op, x.buffer, x.start, x.stop)


def _stale(program: Program) -> Program:
    """A statement that loads from the buffer of a store before it comes first."""

    def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found = [with_parts(n, n.exprs, tuple(map(body, n.bodies))) if n.bodies else n for n in nodes]
        at = 0
        while at + 1 < len(found):
            one, two = found[at], found[at + 1]
            if isinstance(one, Store) and not two.bodies and _loads(two, one.buffer):
                found[at], found[at + 1] = two, one
                at += 1
            at += 1
        return tuple(found)

    return Program(program.buffers, program.workgroup_size, body(program.entry))


def _loads(node: Node, buffer: str) -> bool:
    return any(isinstance(x, Load) and x.buffer == buffer for root in node.exprs for x in postorder(root))


def _ids() -> Iterator[Fault]:
    for axis, name in enumerate("xyz"):
        for kind, many in ((LocalId, f"workgroup {name} >= 2"), (WorkgroupId, f"grid {name} >= 2")):

            def low(x: Expr, kind: type[Expr] = kind, axis: int = axis) -> Expr:
                if not isinstance(x, LocalId | WorkgroupId) or type(x) is not kind or x.axis != axis:
                    return x
                return x & ~LitU32(1)

            yield program_fault(f"{kind.__name__} {name} even", expressions(low), many)

        def other(x: Expr, axis: int = axis) -> Expr:
            return WorkgroupId(axis) if isinstance(x, InvocationId) and x.axis == axis else x

        yield program_fault(
            f"InvocationId {name} of the workgroup", expressions(other), f"workgroup {name} >= 2"
        )
