"""Faults of compilers in the flow of a program: turns, nesting, barriers, what lives across them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import element, flipped, statements
from vyre.ir.environment import Types
from vyre.ir.expr import Expr, LitU32, LocalId, Select, UnOp, Var, select
from vyre.ir.node import Assign, Barrier, Block, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.operators import UnaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions as all_expressions
from vyre.ir.walk import statements as all_statements
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault

TURN = "loop turns >= 1"


def faults() -> Iterator[Fault]:
    yield from _turns()
    yield from _variables_of_loops()
    yield from _depths()
    yield from _exits()
    yield from _lives()
    yield from _positions()


def _loops(rule: Callable[[Loop], Sequence[Node]]) -> Change:
    return statements(lambda n: list(rule(n)) if isinstance(n, Loop) else [n])


def _span(n: Loop) -> Expr:
    return Select(n.stop > n.start, n.stop - n.start, LitU32(0))


def _turns() -> Iterator[Fault]:
    def again(first: Callable[[Loop], Expr]) -> Change:
        """The turns from `first` on are taken once more."""
        return _loops(lambda n: [n, Loop(n.var, first(n), n.stop, n.body)])

    last = again(lambda n: Select(n.stop > n.start, n.stop - 1, n.stop))
    yield program_fault("last turn taken twice", last, TURN)
    yield program_fault(
        "turns left over by an unrolling by 4 taken twice",
        again(lambda n: n.start + (_span(n) & ~LitU32(3))),
        TURN,
    )
    yield program_fault(
        "first turn taken twice",
        _loops(lambda n: [Loop(n.var, n.start, n.start + select(n.stop > n.start, 1, 0), n.body), n]),
        TURN,
    )
    yield program_fault(
        "loop without turns runs once",
        _loops(lambda n: [Loop(n.var, n.start, Select(n.stop <= n.start, n.start + 1, n.stop), n.body)]),
        "loop turns = 0",
    )
    yield program_fault(
        "loop that starts past 0 takes a turn more",
        _loops(lambda n: [Loop(n.var, n.start, n.stop + select(n.start > 0, 1, 0), n.body)]),
        "loop start >= 1",
    )
    yield program_fault(
        "one loop turn of one skipped",
        _loops(lambda n: [Loop(n.var, n.start, Select(_span(n).eq(1), n.start, n.stop), n.body)]),
        "loop turns = 1",
    )
    for most in (7, 100, 1_024):
        yield program_fault(
            f"loop capped at {most:,} turns",
            _loops(
                lambda n, most=most: [
                    Loop(n.var, n.start, Select(_span(n) > most, n.start + most, n.stop), n.body)
                ]
            ),
            f"loop turns >= {most + 1}",
        )


def _variables_of_loops() -> Iterator[Fault]:
    def seen(change: Callable[[Loop, Expr], Expr]) -> Change:
        """What the body sees of the loop's variable."""

        def rule(n: Loop) -> list[Node]:
            turn = f"{n.var}_true"
            return [Loop(turn, n.start, n.stop, (Let(n.var, change(n, Var(turn))), *n.body))]

        return _loops(rule)

    def assigned(keep: Callable[[Loop], Expr]) -> Change:
        """Assignments right in the body of a loop, where this is true."""

        def rule(n: Loop) -> list[Node]:
            body = [If(keep(n), (x,)) if isinstance(x, Assign) else x for x in n.body]
            return [Loop(n.var, n.start, n.stop, body)]

        return _loops(rule)

    yield program_fault(
        "four turns see the variable of the first",
        seen(lambda n, turn: n.start + ((turn - n.start) & ~LitU32(3))),
        "loop turns >= 2",
    )
    yield program_fault(
        "variable of a loop in 8 bits", seen(lambda n, turn: turn & 0xFF), "loop turns >= 257"
    )
    yield program_fault(
        "variable of a loop in 16 bits", seen(lambda n, turn: turn & 0xFFFF), "loop turns >= 65537"
    )
    yield program_fault(
        "assignments of the last turn lost", assigned(lambda n: (Var(n.var) + 1).ne(n.stop)), TURN
    )
    yield program_fault(
        "assignments of the first turn lost", assigned(lambda n: Var(n.var).ne(n.start)), TURN
    )
    yield program_fault(
        "assignments of odd turns lost",
        assigned(lambda n: ((Var(n.var) - n.start) & 1).eq(0)),
        "loop turns >= 2",
    )


def _at_depth(kind: type[Node], depth: int, rule: Callable[[Node], Sequence[Node]]) -> Change:
    """The rule for statements of a kind that stand inside `depth - 1` others of it."""

    def body(nodes: tuple[Node, ...], above: int) -> tuple[Node, ...]:
        return tuple(made for n in nodes for made in one(n, above))

    def one(n: Node, above: int) -> Sequence[Node]:
        level = above + isinstance(n, kind)
        if n.bodies:
            n = with_parts(n, n.exprs, tuple(body(inner, level) for inner in n.bodies))
        return rule(n) if isinstance(n, kind) and level == depth else (n,)

    return lambda program: Program(program.buffers, program.workgroup_size, body(program.entry, 0))


def _depths() -> Iterator[Fault]:
    def inverted(n: Node) -> list[Node]:
        return [If(UnOp(UnaryOp.LogicalNot, n.condition), n.then, n.orelse)] if isinstance(n, If) else [n]

    def once(n: Node) -> list[Node]:
        if not isinstance(n, Loop):
            return [n]
        return [Loop(n.var, n.start, Select(n.stop > n.start, n.start + 1, n.stop), n.body)]

    for depth in (2, 3, 5, 7):
        yield program_fault(
            f"branch {depth} deep inverted", _at_depth(If, depth, inverted), f"branch nesting >= {depth}"
        )
    for depth in (2, 3, 4):
        yield program_fault(
            f"loop {depth} deep runs once",
            _at_depth(Loop, depth, once),
            f"loop nesting >= {depth}",
            "loop turns >= 2",
        )
    for depth in (2, 3, 6):
        yield program_fault(
            f"block {depth} deep skipped",
            _at_depth(Block, depth, lambda n: []),
            f"block nesting >= {depth}",
        )
    yield program_fault(
        "last statement of a branch lost",
        statements(lambda n: [If(n.condition, n.then[:-1], n.orelse)] if isinstance(n, If) else [n]),
        "branch nesting >= 1",
    )
    yield program_fault(
        "nested barriers lost",
        statements(
            lambda n: (
                [with_parts(n, n.exprs, tuple(_without_barriers(inner) for inner in n.bodies))]
                if n.bodies
                else [n]
            )
        ),
        "barrier nesting >= 1",
    )


def _without_barriers(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(n for n in nodes if not isinstance(n, Barrier))


def _exits() -> Iterator[Fault]:
    def kept(kind: type[Node], where: Expr) -> Change:
        return statements(lambda n: [If(where, (n,))] if isinstance(n, kind) else [n])

    yield program_fault(
        "return of odd lanes ignored",
        kept(Return, (LocalId(0) & 1).eq(0)),
        "return = outside of loops",
        "workgroup x >= 2",
    )
    yield program_fault(
        "return in a loop ignored past lane 15",
        kept(Return, LocalId(0) < 16),
        "return = in a loop",
        "workgroup x >= 17",
    )
    yield program_fault(
        "break ignored past lane 31", kept(Break, LocalId(0) < 32), "break = divergent", "workgroup x >= 33"
    )


def _reads(nodes: Sequence[Node], name: str) -> bool:
    return any(isinstance(x, Var) and x.name == name for x in all_expressions(nodes))


def _across(kind: type[Node]) -> Change:
    """After each statement of a kind, the newest word that is bound before it and read behind it is wrong."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)

        def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
            made = list[Node]()
            for at, n in enumerate(nodes):
                made.append(with_parts(n, n.exprs, tuple(map(body, n.bodies))) if n.bodies else n)
                if isinstance(n, kind):
                    made += clobbered(nodes[:at], nodes[at + 1 :])
            return tuple(made)

        def clobbered(before: Sequence[Node], after: Sequence[Node]) -> list[Node]:
            for n in reversed(before):
                if not isinstance(n, Let) or types.variable(n.name) is not DataType.U32:
                    continue
                if _reads(after, n.name):
                    return [Assign(n.name, Var(n.name) + 1)]
            return []

        return Program(program.buffers, program.workgroup_size, body(program.entry))

    return change


def _lives() -> Iterator[Fault]:
    yield program_fault(
        "variable clobbered by a barrier", _across(Barrier), "barriers >= 1", "variables >= 1"
    )
    yield program_fault("variable clobbered by a loop", _across(Loop), TURN, "variables >= 1")
    yield program_fault(
        "variable clobbered by a branch", _across(If), "branch nesting >= 1", "variables >= 1"
    )


def _numbered(
    kind: type[Node], number: int, rule: Callable[[Program, Types, Node], Sequence[Node]]
) -> Change:
    """The rule for one statement of a kind, by its number in program order, from 1 on."""

    def change(program: Program) -> Program:
        types = Types.of(program.entry, program.buffers)
        found = [n for _, n in all_statements(program.entry) if isinstance(n, kind)]
        if len(found) < number:
            return program
        chosen = found[number - 1]

        def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
            return tuple(made for n in nodes for made in one(n))

        def one(n: Node) -> Sequence[Node]:
            if n is chosen:
                return rule(program, types, n)
            return (with_parts(n, n.exprs, tuple(map(body, n.bodies))) if n.bodies else n,)

        return Program(program.buffers, program.workgroup_size, body(program.entry))

    return change


def _positions() -> Iterator[Fault]:
    def lost(program: Program, types: Types, n: Node) -> list[Node]:
        return []

    def off(program: Program, types: Types, n: Node) -> list[Node]:
        if isinstance(n, Store):
            return [Store(n.buffer, n.index, flipped(element(program, n.buffer), n.value))]
        return [Let(n.name, flipped(types.type(n.value), n.value))] if isinstance(n, Let) else [n]

    for number in (9, 17, 33, 65, 129):
        yield program_fault(f"variable {number} wrong", _numbered(Let, number, off), f"variables >= {number}")
    for number in (2, 4, 8, 16):
        yield program_fault(f"store {number} lost", _numbered(Store, number, lost), f"stores >= {number}")
        yield program_fault(f"store {number} wrong", _numbered(Store, number, off), f"stores >= {number}")
    for number in (100, 256):
        yield program_fault(
            f"stores past statement {number} lost", _late(number), f"statements >= {number + 1}"
        )


def _late(number: int) -> Change:
    def change(program: Program) -> Program:
        order = {n: k for k, (_, n) in enumerate(all_statements(program.entry))}
        return statements(lambda n: [] if isinstance(n, Store) and order.get(n, 0) >= number else [n])(
            program
        )

    return change
