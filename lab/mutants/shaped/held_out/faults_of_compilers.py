"""Faults of compilers in statements and memory: how loops, indices, branches and ids really go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import element, expressions, first, last, statements
from vyre.ir.expr import (
    BufLen,
    Cast,
    Expr,
    InvocationId,
    Lane,
    LitU32,
    Load,
    LocalId,
    MakeVec,
    Select,
    Var,
    WorkgroupId,
)
from vyre.ir.node import Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.types import LANE_TYPES, DataType
from vyre.ir.walk import postorder
from vyre.ir.walk import statements as all_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.program import Program

LOOP, TURN = "loop nesting >= 1", "loop turns >= 1"


def faults() -> Iterator[Fault]:
    yield from _loops()
    yield from _loads()
    yield from _stores()
    yield from _control()
    yield from _ids()


def _bounds(change: Callable[[Loop], tuple[Expr, Expr]]) -> Change:
    return statements(lambda n: [Loop(n.var, *change(n), n.body)] if isinstance(n, Loop) else [n])


def _some_turns(which: Callable[[Loop, Expr], Expr]) -> Change:
    """Loops that keep the turns of which this is true; loops with a barrier are left alone."""

    def rule(n: Node) -> list[Node]:
        if not isinstance(n, Loop) or any(isinstance(x, Barrier) for _, x in all_statements(n.body)):
            return [n]
        turn = Var(n.var) - n.start
        return [Loop(n.var, n.start, n.stop, (If(which(n, turn), n.body),))]

    return statements(rule)


def _span(n: Loop) -> Expr:
    return Select(n.stop > n.start, n.stop - n.start, LitU32(0))


def _loops() -> Iterator[Fault]:
    for unroll in (2, 8, 32):
        yield program_fault(
            f"turns left over by an unrolling by {unroll} skipped",
            _some_turns(lambda n, turn, by=unroll: turn < (_span(n) & ~LitU32(by - 1))),
            TURN,
        )
    for bits in (8, 16):
        mask = (1 << bits) - 1
        yield program_fault(
            f"turns counted in {bits} bits",
            _bounds(lambda n, mask=mask: (n.start, n.start + (_span(n) & mask))),
            f"loop turns >= {mask + 1}",
        )
    for cap in (64, 1_000, 65_535):
        yield program_fault(
            f"loop ended after {cap} turns",
            _some_turns(lambda n, turn, cap=cap: turn < cap),
            f"loop turns >= {cap + 1}",
        )
    yield program_fault(
        "middle turn skipped", _some_turns(lambda n, turn: turn.ne(_span(n) >> 1)), "loop turns >= 2"
    )
    yield program_fault(
        "turns past the 31st of each 32 skipped", _some_turns(lambda n, turn: (turn & 31).ne(31)),
        "loop turns >= 32",
    )  # fmt: skip
    yield program_fault("loop runs backwards", statements(_backwards), "loop turns >= 2")
    yield program_fault("loop starts at 0", _bounds(lambda n: (LitU32(0), n.stop)), "loop start >= 1")
    yield program_fault("loads hoisted out of loops", statements(_hoisted), "loop turns >= 2")
    yield program_fault("outermost loop runs once", _outermost, "loop turns >= 2")


def _backwards(n: Node) -> list[Node]:
    if not isinstance(n, Loop):
        return [n]
    turn = f"{n.var}_back"
    back = Let(n.var, n.stop - 1 - (Var(turn) - n.start))
    return [Loop(turn, n.start, n.stop, (back, *n.body))]


def _hoisted(n: Node) -> list[Node]:
    """A variable that is loaded at a place which does not change in the loop is loaded once, before it."""
    if not isinstance(n, Loop):
        return [n]
    bound = {n.var} | {x.name for _, x in all_statements(n.body) if isinstance(x, Let)}
    out = [
        x for x in n.body if isinstance(x, Let) and isinstance(x.value, Load) and not _uses(x.value, bound)
    ]
    if not out:
        return [n]
    return [*out, Loop(n.var, n.start, n.stop, tuple(x for x in n.body if x not in out))]


def _uses(x: Expr, names: set[str]) -> bool:
    return any(isinstance(part, Var) and part.name in names for part in postorder(x))


def _outermost(program: Program) -> Program:
    entry = [
        Loop(n.var, n.start, Select(n.stop > n.start, n.start + 1, n.stop), n.body)
        if isinstance(n, Loop)
        else n
        for n in program.entry
    ]
    return type(program)(program.buffers, program.workgroup_size, entry)


def _where(program: Program, *names: str) -> set[str]:
    return {b.name for b in program.buffers if b.access.value in names}


def _indices(
    change: Callable[[str, Expr], Expr], *accesses: str, load: bool = True, store: bool = False
) -> Change:
    """The index of every load, store or both in buffers of these accesses."""

    def changed(program: Program) -> Program:
        names = _where(program, *accesses)

        def expr(x: Expr) -> Expr:
            return (
                Load(x.buffer, change(x.buffer, x.index)) if isinstance(x, Load) and x.buffer in names else x
            )

        def node(n: Node) -> list[Node]:
            if isinstance(n, Store) and n.buffer in names:
                return [Store(n.buffer, change(n.buffer, n.index), n.value)]
            return [n]

        made = expressions(expr)(program) if load else program
        return statements(node)(made) if store else made

    return changed


_STORAGE, _SHARED = ("ReadOnly", "ReadWrite"), ("Workgroup", "WorkgroupAtomic")


def _loads() -> Iterator[Fault]:
    yield program_fault("loads at places of 8 bits", _indices(lambda b, i: i & 0xFF, *_STORAGE))
    yield program_fault("loads at places of 16 bits", _indices(lambda b, i: i & 0xFFFF, *_STORAGE))
    yield program_fault("loads past the end wrap around", _indices(lambda b, i: i % BufLen(b), *_STORAGE))
    yield program_fault(
        "load of the last element gives the one before",
        _indices(lambda b, i: Select((i + 1).eq(BufLen(b)).and_(i > 0), i - 1, i), "ReadOnly"),
    )
    yield program_fault("loads in groups of 4 reversed", _indices(lambda b, i: i ^ 3, "ReadOnly"))
    yield program_fault(
        "shared memory repeats after 4096 elements",
        _indices(lambda b, i: i & 4095, *_SHARED, store=True),
        "workgroup bytes >= 16388",
    )
    yield program_fault(
        "shared memory reads a bank on", _indices(lambda b, i: i ^ 32, *_SHARED), "workgroup bytes >= 256"
    )
    yield program_fault(
        "private memory of 4 elements",
        _indices(lambda b, i: i & 3, "Private", store=True),
        "access = Private",
    )
    yield program_fault(
        "private memory read at 0", _indices(lambda b, i: LitU32(0), "Private"), "access = Private"
    )
    yield program_fault(
        "constant table read one on", _indices(lambda b, i: i + 1, "Constant"), "access = Constant"
    )
    yield program_fault(
        "constant table past 64 elements read as 0",
        _indices(lambda b, i: Select(i >= 64, LitU32(0xFFFF_FFFF), i), "Constant"),
        "access = Constant",
    )
    yield program_fault(
        "uniform read at rows of 16 bytes", _indices(lambda b, i: i & ~LitU32(3), "Uniform"),
        "access = Uniform", "uniform bytes >= 8",
    )  # fmt: skip
    for name, bits in (("I8", 0xFF), ("I16", 0xFFFF)):
        yield program_fault(f"sign of {name} lost", _unsigned(name, bits), f"element type = {name}")


def _unsigned(name: str, bits: int) -> Change:
    def changed(program: Program) -> Program:
        names = {b.name for b in program.buffers if b.element.value == name}

        def rule(x: Expr) -> Expr:
            if not isinstance(x, Load) or x.buffer not in names:
                return x
            return Cast(DataType.I32, Cast(DataType.U32, x) & bits)

        return expressions(rule)(program)

    return changed


def _stores() -> Iterator[Fault]:
    def lanes(change: Callable[[list[Expr]], list[Expr]]) -> Change:
        def changed(program: Program) -> Program:
            def rule(n: Node) -> list[Node]:
                if not isinstance(n, Store) or element(program, n.buffer) not in LANE_TYPES:
                    return [n]
                of = element(program, n.buffer)
                made = change([Lane(n.value, k) for k in range(of.lanes)])
                return [Store(n.buffer, n.index, MakeVec(of, made))]

            return statements(rule)(program)

        return changed

    for name in ("U64", "U128", "Vec2U32", "Vec4U32"):
        need = f"element type = {name}"
        yield program_fault(f"last lane of {name} lost", lanes(lambda v: [*v[:-1], LitU32(0)]), need)
        yield program_fault(f"lanes of {name} reversed", lanes(lambda v: v[::-1]), need)

    def kept(which: Callable[[Store], Expr]) -> Change:
        def rule(n: Node) -> list[Node]:
            return [If(which(n), (n,))] if isinstance(n, Store) else [n]

        return statements(rule)

    yield program_fault("stores past place 255 lost", kept(lambda n: n.index < 256), "output elements >= 257")
    yield program_fault(
        "stores past place 65,535 lost", kept(lambda n: n.index < 65_536), "output elements >= 65537"
    )
    yield program_fault(
        "stores lost past lane 31", kept(lambda n: (LocalId(0) & 63) < 32), "workgroup x >= 33"
    )
    yield program_fault(
        "stores lost by the last lane of 8", kept(lambda n: (LocalId(0) & 7).ne(7)), "workgroup x >= 8"
    )
    yield program_fault("stores lost off the first row", kept(lambda n: LocalId(1).eq(0)), "workgroup y >= 2")
    yield program_fault(
        "stores lost off the first layer", kept(lambda n: LocalId(2).eq(0)), "workgroup z >= 2"
    )
    yield program_fault(
        "stores past the end go to the last element",
        statements(
            lambda n: (
                [Store(n.buffer, Select(n.index >= BufLen(n.buffer), BufLen(n.buffer) - 1, n.index), n.value)]
                if isinstance(n, Store)
                else [n]
            )
        ),
    )


def _control() -> Iterator[Fault]:
    yield program_fault("break ignored", statements(lambda n: [] if isinstance(n, Break) else [n]), LOOP)
    yield program_fault(
        "break ends the program", statements(lambda n: [Return()] if isinstance(n, Break) else [n]), LOOP
    )
    yield program_fault(
        "return ends the loop alone",
        statements(
            lambda n: [Loop(n.var, n.start, n.stop, _breaking(n.body))] if isinstance(n, Loop) else [n]
        ),
        "return = in a loop",
    )
    yield program_fault(
        "branch taken on odd conditions alone",
        statements(lambda n: [If(n.condition & 1, n.then, n.orelse)] if isinstance(n, If) else [n]),
        "branch nesting >= 1",
    )
    yield program_fault(
        "both ways of a branch taken",
        first(If, lambda p, n: [If(n.condition, n.then), *n.orelse]),
        "branch nesting >= 1",
    )
    yield program_fault("last branch never taken", last(If, lambda p, n: n.orelse), "branch nesting >= 1")
    yield program_fault(
        "code after a barrier lost in the last lane",
        _after_barriers,
        "barriers >= 1",
    )


def _breaking(body: tuple[Node, ...]) -> tuple[Node, ...]:
    def one(n: Node) -> Node:
        match n:
            case Return():
                return Break()
            case If(condition=condition, then=then, orelse=orelse):
                return If(condition, _breaking(then), _breaking(orelse))
            case _:
                return n

    return tuple(map(one, body))


def _after_barriers(program: Program) -> Program:
    """Stores that follow a barrier on the top level are masked off for the last invocation along x."""
    seen, entry = False, list[Node]()
    end = program.workgroup_size[0] - 1
    for n in program.entry:
        seen = seen or isinstance(n, Barrier)
        entry.append(If(LocalId(0).ne(end), (n,)) if seen and isinstance(n, Store) else n)
    return type(program)(program.buffers, program.workgroup_size, entry)


def _ids() -> Iterator[Fault]:
    def ids(change: Callable[[Expr], Expr]) -> Change:
        return expressions(lambda x: change(x) if isinstance(x, InvocationId | WorkgroupId | LocalId) else x)

    for axis, name in enumerate("xyz"):
        here, there = InvocationId(axis), WorkgroupId(axis)
        yield program_fault(
            f"WorkgroupId {name} in 8 bits", ids(lambda x, there=there: x & 0xFF if x is there else x),
            f"grid {name} >= 257",
        )  # fmt: skip
        yield program_fault(
            f"InvocationId {name} in 10 bits", ids(lambda x, here=here: x & 0x3FF if x is here else x)
        )
    for one, two in ((0, 1), (1, 2), (0, 2)):
        names = "xyz"[one], "xyz"[two]

        def swapped(x: Expr, one: int = one, two: int = two) -> Expr:
            axes = {one: two, two: one}
            return LocalId(axes[x.axis]) if isinstance(x, LocalId) and x.axis in axes else x

        yield program_fault(
            f"LocalId {names[0]} and {names[1]} exchanged", ids(swapped), f"workgroup {names[1]} >= 2"
        )
    yield program_fault(
        "InvocationId x in 16 bits",
        ids(lambda x: x & 0xFFFF if x is InvocationId(0) else x),
        "invocations >= 65537",
    )
    yield program_fault(
        "WorkgroupId y is that of x",
        ids(lambda x: WorkgroupId(0) if x is WorkgroupId(1) else x),
        "grid y >= 2",
    )
    yield program_fault(
        "InvocationId y without its workgroup",
        ids(lambda x: LocalId(1) if x is InvocationId(1) else x),
        "grid y >= 2",
    )
    yield program_fault(
        "InvocationId z without its workgroup",
        ids(lambda x: LocalId(2) if x is InvocationId(2) else x),
        "grid z >= 2",
    )
