"""Faults of compilers in flow: bounds, sides, ways out, what lives across loops and branches, reductions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lab.mutants.shaped.fault import program_fault
from lab.mutants.shaped.rewrites import expressions, statements
from vyre.ir.expr import FReduce, LitU32, Load, Select, Var
from vyre.ir.node import Assign, Barrier, Break, If, Let, Loop, Node, Return, Store
from vyre.ir.program import Program
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.mutants.backend import Change
    from lab.mutants.shaped.fault import Fault
    from vyre.ir.expr import Expr

_TURN, _BRANCH = "loop turns >= 1", "branch nesting >= 1"


def faults() -> Iterator[Fault]:
    yield from _loops()
    yield from _branches()
    yield from _stores()
    yield from _others()


def _rule(kind: type[Node], made: str) -> Change:
    return statements(lambda n: _MADE[made](n) if isinstance(n, kind) else [n])


def _bound_again(n: Node) -> list[Node]:
    assert isinstance(n, Loop)
    leave = If(Var(n.var) >= n.stop, (Break(),))
    return [Loop(n.var, n.start, n.stop, (leave, *n.body))]


def _both(n: Node) -> list[Node]:
    """Of branches that only assign."""
    assert isinstance(n, If)
    plain = all(isinstance(x, Assign) for x in (*n.then, *n.orelse)) and n.orelse
    return [*n.then, *n.orelse] if plain else [n]


def _out_of_both(n: Node) -> list[Node]:
    """A loop with one in it that has a way out."""
    assert isinstance(n, Loop)
    inner = [x for x in n.body if isinstance(x, Loop) and any(_leaves(y) for y in x.body)]
    return [Loop(n.var, n.start, n.stop, (*n.body, Break()))] if inner else [n]


def _leaves(n: Node) -> bool:
    return isinstance(n, If) and any(isinstance(x, Break) for x in n.then)


def _only_the_loop(n: Node) -> list[Node]:
    assert isinstance(n, Loop)

    def inside(nodes: Sequence[Node]) -> tuple[Node, ...]:
        return tuple(
            Break()
            if isinstance(x, Return)
            else with_parts(x, x.exprs, tuple(map(inside, x.bodies)))
            if isinstance(x, If)
            else x
            for x in nodes
        )

    return [Loop(n.var, n.start, n.stop, inside(n.body))]


def _lost_behind(n: Node) -> list[Node]:
    """The last assignment of the first side."""
    assert isinstance(n, If)
    return [If(n.condition, n.then[:-1], n.orelse)] if n.then and isinstance(n.then[-1], Assign) else [n]


def _last_turn(n: Node) -> list[Node]:
    assert isinstance(n, Loop)
    last = (Var(n.var) + 1).eq(n.stop)
    body = [If(last, (x,)) if isinstance(x, Store) else x for x in n.body]
    return [Loop(n.var, n.start, n.stop, body)]


def _turn_of_the_inner(n: Node) -> list[Node]:
    """A loop in another begins where that one is."""
    assert isinstance(n, Loop)
    body = [
        Loop(x.var, Select(Var(n.var) < x.stop, Var(n.var), x.start), x.stop, x.body)
        if isinstance(x, Loop)
        else x
        for x in n.body
    ]
    return [Loop(n.var, n.start, n.stop, body)]


_MADE = {
    "bound": _bound_again,
    "both": _both,
    "out": _out_of_both,
    "loop": _only_the_loop,
    "behind": _lost_behind,
    "last": _last_turn,
    "inner": _turn_of_the_inner,
}


def _loops() -> Iterator[Fault]:
    yield program_fault("bound read again in every turn", _rule(Loop, "bound"), "loop turns >= 2")
    yield program_fault("break leaves the loop around it too", _rule(Loop, "out"), "break = nested")
    yield program_fault("return only leaves the loop", _rule(Loop, "loop"), "return = in a loop")
    yield program_fault(
        "loops of one depth share a variable", _rule(Loop, "inner"), "loop nesting >= 2", _TURN
    )
    yield program_fault("statements behind a loop run in it", _taken_in, _TURN)
    yield program_fault("turns of the loop around counted inside", _inside, "loop nesting >= 2", _TURN)


def _taken_in(program: Program) -> Program:
    """An assignment in front of a loop that is alone with it in another."""

    def rule(n: Node) -> list[Node]:
        if not isinstance(n, Loop) or not any(isinstance(x, Loop) for x in n.body):
            return [n]
        lead = [x for x in n.body if isinstance(x, Assign)]
        rest = [
            Loop(x.var, x.start, x.stop, (*lead, *x.body)) if isinstance(x, Loop) else x
            for x in n.body
            if not isinstance(x, Assign)
        ]
        return [Loop(n.var, n.start, n.stop, rest)]

    return statements(rule)(program)


def _inside(program: Program) -> Program:
    """The innermost loop sees the variable of the one around it as the next."""

    def rule(n: Node) -> list[Node]:
        if not isinstance(n, Loop) or not any(isinstance(x, Loop) for x in n.body):
            return [n]
        body = [x if isinstance(x, Loop) else _next(n.var, x) for x in n.body]
        return [Loop(n.var, n.start, n.stop, body)]

    def _next(name: str, node: Node) -> Node:
        if not isinstance(node, Assign):
            return node
        return Assign(node.name, node.value + Select(Var(name) > 0, LitU32(1), LitU32(0)))

    return statements(rule)(program)


def _branches() -> Iterator[Fault]:
    yield program_fault("both sides of a branch run", _rule(If, "both"), _BRANCH)
    yield program_fault("assignment in a branch lost behind it", _rule(If, "behind"), _BRANCH)


def _stores() -> Iterator[Fault]:
    yield program_fault("stores of a loop only in its last turn", _rule(Loop, "last"), "loop turns >= 2")
    yield program_fault("a load gives what it gave before a store", _early, "loads after stores >= 1")
    yield program_fault("last of several stores of a place lost", _first_wins, "loads after stores >= 1")


def _early(program: Program) -> Program:
    """Loads right behind a store of their place are taken in front of it."""
    entry: list[Node] = []
    for node in program.entry:
        before = entry[-1] if entry else None
        loads = [x for root in node.exprs for x in _below(root) if isinstance(x, Load)]
        if isinstance(before, Store) and any(
            x.buffer == before.buffer and x.index == before.index for x in loads
        ):
            name = f"early_{len(entry)}"
            early = next(x for x in loads if x.buffer == before.buffer and x.index == before.index)
            entry.insert(-1, Let(name, early))
            node = _with(node, early, Var(name))
        entry.append(node)
    return Program(program.buffers, program.workgroup_size, tuple(entry))


def _below(root: Expr) -> list[Expr]:
    return [root, *(x for child in root.children for x in _below(child))]


def _with(node: Node, old: Expr, new: Expr) -> Node:
    if not isinstance(node, Assign):
        return node
    program = Program((), (1, 1, 1), (node,))
    return expressions(lambda x: new if x == old else x)(program).entry[0]


def _first_wins(program: Program) -> Program:
    """Of the stores to one buffer right in the program the last is lost."""
    places = [k for k, n in enumerate(program.entry) if isinstance(n, Store)]
    last = next(
        (k for k in reversed(places) if sum(_to(program, j) == _to(program, k) for j in places) > 1), -1
    )
    entry = tuple(n for k, n in enumerate(program.entry) if k != last)
    return Program(program.buffers, program.workgroup_size, entry)


def _to(program: Program, place: int) -> str:
    node = program.entry[place]
    return node.buffer if isinstance(node, Store) else ""


def _others() -> Iterator[Fault]:
    yield program_fault("variables past 31 share a place", _spilled, "variables >= 33")
    yield program_fault("barrier and what follows it exchanged", _late, "barriers >= 1")
    yield program_fault(
        "reduction starts at its first element",
        expressions(lambda x: replace(x, start=LitU32(0)) if isinstance(x, FReduce) else x),
        "reduction length >= 2",
    )
    yield program_fault(
        "reduction in halves",
        expressions(
            lambda x: replace(x, stop=x.start + (x.stop - x.start) // 2) if isinstance(x, FReduce) else x
        ),
        "reduction length >= 2",
    )


def _spilled(program: Program) -> Program:
    """The variables that the program binds from the 32nd on are the one before."""
    names: list[str] = []
    entry: list[Node] = []
    for node in program.entry:
        if isinstance(node, Let):
            names.append(node.name)
            if len(names) > 32 and names[-2].startswith("v") and node.name.startswith("v"):
                node = Let(node.name, Var(names[-2]))
        entry.append(node)
    return Program(program.buffers, program.workgroup_size, tuple(entry))


def _late(program: Program) -> Program:
    """An assignment that loads, behind a barrier, comes in front of it."""

    def body(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        made = [with_parts(n, n.exprs, tuple(map(body, n.bodies))) if n.bodies else n for n in nodes]
        for at in range(len(made) - 1):
            if isinstance(made[at], Barrier) and isinstance(made[at + 1], Assign):
                made[at], made[at + 1] = made[at + 1], made[at]
        return tuple(made)

    return Program(program.buffers, program.workgroup_size, body(program.entry))
