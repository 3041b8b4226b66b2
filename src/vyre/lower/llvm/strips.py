"""Strips: short loops over neighbouring elements, which become one vector each.

A loop of a known number of turns, a power of two, that only loads, computes and stores is a vector written
out element by element. LLVM would unroll it first, and put together what it can of the pieces; told the
width, it makes the vector, and what lies in private memory between strips stays in registers. A register may
be narrower than the strip: then it takes several.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.walk import postorder

if TYPE_CHECKING:
    from vyre.lower.prepare import Prepared

SHORTEST, LONGEST = 8, 64


def strip_width(loop: n.Loop, prepared: Prepared) -> int:
    """The number of turns of a loop that is a strip; 0 for any other."""
    match loop.start, loop.stop:
        case e.LitU32(value=0), e.LitU32(value=turns) if SHORTEST <= turns <= LONGEST:
            pass
        case _:
            return 0
    if turns & (turns - 1) or not all(isinstance(node, n.Let | n.Store) for node in loop.body):
        return 0
    stores = [node for node in loop.body if isinstance(node, n.Store)]
    if not stores or not all(_is_line(node, loop.var, prepared) for node in stores):
        return 0
    return turns


def _is_line(store: n.Store, var: str, prepared: Prepared) -> bool:
    """Whether it stores to memory that no host sees, at a place that depends on the turn."""
    if prepared.buffer(store.buffer).access.bound:
        return False
    return sum(expr is e.Var(var) for expr in postorder(store.index)) == 1


def strip_note(width: int) -> str:
    """What the branch of such a loop carries."""
    return f", !llvm.loop !{_number(width)}"


def strip_table(text: str) -> str:
    """The notes that a module refers to."""
    found: list[str] = []
    width = SHORTEST
    while width <= LONGEST:
        at = _number(width)
        if strip_note(width) in text:
            found += [
                f"!{at} = distinct !{{!{at}, !{at + 1}, !{at + 2}, !{at + 3}, !{at + 4}}}",
                f'!{at + 1} = !{{!"llvm.loop.unroll.disable"}}',
                f'!{at + 2} = !{{!"llvm.loop.vectorize.width", i32 {width}}}',
                f'!{at + 3} = !{{!"llvm.loop.vectorize.enable", i1 true}}',
                f'!{at + 4} = !{{!"llvm.loop.interleave.count", i32 1}}',
            ]
        width *= 2
    return "".join(f"{line}\n" for line in found)


def _number(width: int) -> int:
    """Of the first of the notes about a width."""
    return 100 * width.bit_length()
