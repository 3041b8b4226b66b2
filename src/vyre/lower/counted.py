"""A program that counts the turns of its loops and gives up after too many of them.

The count is made in the program itself, before anything is optimised: whatever becomes of a loop, its turns
are those that the program says. Every invocation counts down from the first word of the buffer `STEPS`; the
one that would begin a turn too many sets the second word and returns. The others look at that word now and
then and return too, so that a run ends soon after the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from vyre.ir.blocks import keep, rewrite_blocks
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, LitU32, Load, Var
from vyre.ir.node import Assign, If, Let, Loop, Node, Return
from vyre.ir.operators import AtomicOp, BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import with_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS: Final = "__steps"
"""Two words of U32: the limit, and whether it was exceeded. The prefix is reserved (decision 19)."""

_LOOK_EVERY = 1 << 16
_LIMIT, _LEFT = Var("__step_limit"), Var("__steps_left")


def counted(program: Program) -> Program:
    """The program, which calls no ops but hardware's, with its turns limited by one more buffer, the last."""
    binding = 1 + max((b.binding for b in program.buffers if b.binding is not None), default=-1)
    begin: Sequence[Node] = (Let(_LIMIT.name, Load(STEPS, LitU32(0))), Let(_LEFT.name, _LIMIT))
    entry = _with_turns(program.entry)
    buffers = (*program.buffers, BufferDecl.read_write(STEPS, binding, DataType.U32, count=2))
    return Program(buffers, program.workgroup_size, (*begin, *entry))


def _with_turns(entry: tuple[Node, ...]) -> tuple[Node, ...]:
    """The statements with a count at the start of every loop's body."""
    turn = _turn()

    def leave(node: Node, bodies: tuple[tuple[Node, ...], ...]) -> tuple[Node, ...]:
        if isinstance(node, Loop):
            bodies = ((*turn, *bodies[0]),)
        return (with_parts(node, node.exprs, bodies),)

    return rewrite_blocks(entry, keep, None, leave=leave)


def _turn() -> tuple[Node, ...]:
    first = BinOp(BinaryOp.Eq, _LEFT, _LIMIT)
    due = BinOp(BinaryOp.Eq, BinOp(BinaryOp.BitAnd, _LEFT, LitU32(_LOOK_EVERY - 1)), LitU32(0))
    return (
        If(
            BinOp(BinaryOp.BitOr, first, due),
            (
                Let("__over", Atomic(AtomicOp.Or, STEPS, LitU32(1), LitU32(0))),
                If(Var("__over"), (Return(),)),
            ),
        ),
        If(
            BinOp(BinaryOp.Eq, _LEFT, LitU32(0)),
            (Let("__told", Atomic(AtomicOp.Or, STEPS, LitU32(1), LitU32(1))), Return()),
        ),
        Assign(_LEFT.name, BinOp(BinaryOp.Sub, _LEFT, LitU32(1))),
    )
