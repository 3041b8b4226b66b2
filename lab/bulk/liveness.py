"""How alive generated programs are: in what share of trials another node changes the output.

python -m lab.bulk.liveness --programs 500 --trials 4

A trial replaces one node, drawn from all nodes of the program, by a fresh literal of its type or by another
operator on the same operands, and runs both programs on the reference. Programs that a replacement keeps from
ending are drawn again.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import TYPE_CHECKING

from vyre.compose.registry import default_registry
from vyre.conform.diff.differential import FLOAT_PROGRAMS, INTEGER_PROGRAMS
from vyre.conform.generate.expressions import ExpressionGenerator
from vyre.conform.generate.programs import generate_program
from vyre.errors import VyreError
from vyre.ir import BinaryOp, BinOp, Expr, Node, Program, UnaryOp, UnOp
from vyre.ir.blocks import BlockPath, rewrite_blocks
from vyre.ir.environment import Types
from vyre.ir.operators import FUNCTION_BINARY_OPS, FUNCTION_UNARY_OPS
from vyre.ir.typing import binary_type, unary_type
from vyre.ir.walk import rebuild, statements, with_parts
from vyre.reference import run

if TYPE_CHECKING:
    from vyre.conform.generate.programs import GeneratedProgram, ProgramOptions
    from vyre.ir import DataType

KINDS = {"integer": INTEGER_PROGRAMS, "float": FLOAT_PROGRAMS}
_STEPS = 300_000


@dataclass(frozen=True, slots=True)
class Place:
    """A node: the statement, which of its expressions, and the way down from there."""

    statement: str
    root: int
    way: tuple[int, ...]
    expr: Expr
    type: DataType


@dataclass(frozen=True, slots=True)
class Trial:
    """What was replaced by what, and whether a byte of the output changed."""

    place: Place
    new: Expr
    changed: bool


def places(program: Program) -> list[Place]:
    """Every node of every expression, as often as it occurs."""
    registry = default_registry()
    types = Types(program.buffers, signatures=lambda op_id: registry[op_id].signature)
    found: list[Place] = []
    for path, node in statements(program.entry):
        types.enter(node)
        for position, root in enumerate(node.exprs):
            stack: list[tuple[tuple[int, ...], Expr]] = [((), root)]
            while stack:
                way, expr = stack.pop()
                found.append(Place(path, position, way, expr, types.type(expr)))
                stack += [((*way, k), child) for k, child in enumerate(expr.children)]
    return found


def other(rng: Random, place: Place, operand: DataType | None) -> Expr:
    """Another node of the same type: every second time an operator on the same operands, if there is one."""
    expr = place.expr
    if operand is not None and rng.randrange(2):
        match expr:
            case BinOp(op=op, left=left, right=right):
                ops = [o for o in BinaryOp if o is not op and o not in FUNCTION_BINARY_OPS]
                ops = [o for o in ops if binary_type(o, operand, operand) is place.type]
                if ops:
                    return BinOp(rng.choice(ops), left, right)
            case UnOp(op=op, operand=inner):
                unary = [o for o in UnaryOp if o is not op and o not in FUNCTION_UNARY_OPS]
                unary = [o for o in unary if unary_type(o, operand) is place.type]
                if unary:
                    return UnOp(rng.choice(unary), inner)
            case _:
                pass
    gen = ExpressionGenerator(rng, (place.type,), (), functions=False, approximate=False)
    drawn = gen.literal(place.type)
    while drawn is expr:
        drawn = gen.literal(place.type)
    return drawn


def replaced(program: Program, place: Place, new: Expr) -> Program:
    """The program with one node exchanged."""

    def exchanged(expr: Expr, way: tuple[int, ...]) -> Expr:
        if not way:
            return new
        children = list(expr.children)
        children[way[0]] = exchanged(children[way[0]], way[1:])
        return rebuild(expr, tuple(children))

    def enter(node: Node, block: BlockPath, _: list[Node]) -> tuple[Node, BlockPath]:
        path = block.next()
        if path == place.statement:
            exprs = list(node.exprs)
            exprs[place.root] = exchanged(exprs[place.root], place.way)
            node = with_parts(node, tuple(exprs), node.bodies)
        return node, BlockPath(path)

    entry = rewrite_blocks(program.entry, enter, BlockPath(), body=BlockPath.body)
    return Program(program.buffers, program.workgroup_size, entry)


def trials(made: GeneratedProgram, count: int) -> list[Trial]:
    """`count` trials on one program, the same ones every time."""
    rng = Random(f"liveness {made.seed}")
    everywhere = places(made.program)
    typed = {(p.statement, p.root, p.way): p.type for p in everywhere}
    before = run(made.program, made.inputs, made.workgroups, check=False).buffers
    found: list[Trial] = []
    while len(found) < count:
        place = rng.choice(everywhere)
        new = other(rng, place, typed.get((place.statement, place.root, (*place.way, 0))))
        changed = replaced(made.program, place, new)
        try:
            after = run(changed, made.inputs, made.workgroups, check=False, step_budget=_STEPS).buffers
        except VyreError:
            continue
        found.append(Trial(place, new, after != before))
    return found


def liveness(options: ProgramOptions, seeds: range, each: int) -> tuple[float, list[Trial]]:
    """The share of trials that changed the output, and all trials."""
    found = list(chain.from_iterable(trials(generate_program(seed, options), each) for seed in seeds))
    return sum(trial.changed for trial in found) / len(found), found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--trials", type=int, default=4, help="on each program")
    parser.add_argument("--least", type=float, default=0.95)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.programs)
    low = False
    for kind, options in KINDS.items():
        share, found = liveness(options, seeds, arguments.trials)
        dead = Counter(_name(t.place.expr) for t in found if not t.changed)
        common = ", ".join(f"{name} {n}" for name, n in dead.most_common(8))
        print(f"{kind}: {share:.2%} of {len(found)} trials on {len(seeds)} programs; no change at {common}")
        low |= share < arguments.least
    return 1 if low else 0


def _name(expr: Expr) -> str:
    match expr:
        case BinOp(op=op):
            return op.name
        case UnOp(op=op):
            return op.name
        case _:
            return type(expr).__name__


if __name__ == "__main__":
    sys.exit(main())
