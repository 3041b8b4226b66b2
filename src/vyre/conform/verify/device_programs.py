"""What runs on a device where laws are checked there, besides the ops themselves.

    making(stream, positions, width)       writes the operand words of cases
    judging(group, stream, width)          counts the cases that fail a check, and keeps the least of each
    spoiling(number)                       overwrites results
    advancing(count)                       counts the first case on

The cases of a tile are those from `start` + `place` on; `start` is the number's two halves, of which `place`
and the cases of the tile never carry into the upper. An invocation has `width` cases that follow each other,
as one vector of each operand where there are four. All that is judged comes from memory, every value once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.spec.program import WORKGROUP
from vyre.conform.spec.term import Constant, Relation, Variable
from vyre.conform.verify.graph import Check
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Expr, InvocationId, Lane, LitU32, Load, MakeVec, Select, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.generate.stream import CaseStream
    from vyre.conform.verify.graph import Source

U32 = DataType.U32
POISON = 0xA5A5_A5A5
WIDE = 4
MOST_SOURCES = 5
"""Of a kernel that judges: with three more, WebGPU has buffers for them everywhere."""


@dataclass(frozen=True, slots=True)
class InputWords:
    """That the words of a variable are those of their cases."""

    variable: Variable
    position: int


Judged = Check | InputWords


def sources_of(judged: Judged) -> tuple[Source, ...]:
    """What has to be in memory for it, each once."""
    if isinstance(judged, InputWords):
        return (judged.variable,)
    found = (judged.left, judged.right, judged.condition)
    return tuple(dict.fromkeys(s for s in found if s is not None and not isinstance(s, Constant)))


def groups(judged: Sequence[Judged]) -> list[dict[int, Judged]]:
    """Those that one kernel judges, by number: as many as its buffers are enough for."""
    found: list[dict[int, Judged]] = []
    held: set[Source] = set()
    for number, one in enumerate(judged):
        sources = set(sources_of(one))
        if not found or len(held | sources) > MOST_SOURCES:
            found.append({})
            held = set()
        found[-1][number] = one
        held |= sources
    return found


def _element(width: int) -> DataType:
    return DataType.Vec4U32 if width == WIDE else U32


def _numbered(width: int) -> list[Node]:
    """`low` and `high` of the first case of invocation `i`."""
    first = Load("start", LitU32(0)) + Load("place", LitU32(0))
    return [Let("low", first + Var("i") * width), Let("high", Load("start", LitU32(1)))]


def _numbers(binding: int) -> list[BufferDecl]:
    return [
        BufferDecl.read("start", binding, U32, count=2),
        BufferDecl.read("place", binding + 1, U32, count=1),
    ]


def making(stream: CaseStream, positions: Sequence[int], width: int) -> Program:
    """Writes the words at these positions, each into a buffer of its own."""
    numbers = _numbers(0)
    outputs = [BufferDecl.read_write(f"w{p}", n + 2, _element(width)) for n, p in enumerate(positions)]
    body = _numbered(width)
    made: list[tuple[Expr, ...]] = []
    for k in range(width):
        lets, words = stream.statements(Var("low") + k, Var("high"), prefix=f"m{k}_")
        body += lets
        made.append(words)
    for buffer, p in zip(outputs, positions, strict=True):
        lanes = tuple(words[p] for words in made)
        value = MakeVec(DataType.Vec4U32, lanes) if width == WIDE else lanes[0]
        body.append(Store(buffer.name, Var("i"), value))
    entry = (Let("i", InvocationId(0)), If(Var("i") < outputs[0].length, tuple(body)))
    return Program((*numbers, *outputs), WORKGROUP, entry)


def judging(group: Mapping[int, Judged], stream: CaseStream, width: int) -> tuple[Program, list[Source]]:
    """Counts the cases that fail in word 2n of `tally`, and keeps the lower half of the least in the next.

    Gives the sources of the buffers behind `tally`, `start` and `place` as well.
    """
    sources = list(dict.fromkeys(source for one in group.values() for source in sources_of(one)))
    names = {source: f"v{n}" for n, source in enumerate(sources)}
    tally = BufferDecl.read_write("tally", 0, U32)
    values = [BufferDecl.read(name, n + 3, _element(width)) for n, name in enumerate(names.values())]
    body = _numbered(width)
    body += [Let(name, Load(name, Var("i"))) for name in names.values()]

    def value(source: Source, k: int) -> Expr:
        if isinstance(source, Constant):
            return LitU32(source.bits)
        return Lane(Var(names[source]), k) if width == WIDE else Var(names[source])

    for number, one in group.items():
        wrong: list[Expr] = []
        for k in range(width):
            if isinstance(one, InputWords):
                prefix = f"u{number}_{k}_"
                word = value(one.variable, k)
                lets, low = stream.undone(one.position, word, Var("high"), prefix=prefix)
                body += lets
                wrong.append(low ^ (Var("low") + k))
                continue
            fails = _fails(one.relation, value(one.left, k), value(one.right, k))
            if one.condition is not None:
                fails = fails.ne(0) & value(one.condition, k).ne(0)
            wrong.append(fails)
        body += _noted(number, wrong)
    entry = (Let("i", InvocationId(0)), If(Var("i") < values[0].length, tuple(body)))
    return Program((tally, *_numbers(1), *values), WORKGROUP, entry), sources


def _fails(relation: Relation, left: Expr, right: Expr) -> Expr:
    """A word that is not 0 where the sides fail the relation."""
    match relation:
        case Relation.Eq:
            return left ^ right
        case Relation.Le:
            return right < left
        case Relation.Lt:
            return right <= left


def _noted(number: int, wrong: Sequence[Expr]) -> list[Node]:
    """Adds the cases of an invocation whose word here is not 0 to the tally of this number."""
    names = [f"wrong{number}_{k}" for k in range(len(wrong))]
    lets: list[Node] = [Let(name, w) for name, w in zip(names, wrong, strict=True)]
    some: Expr = LitU32(0)
    count: Expr = LitU32(0)
    first: Expr = LitU32(0)
    for k, name in reversed(list(enumerate(names))):
        some, count = some | Var(name), count + Var(name).ne(0)
        first = Select(Var(name), LitU32(k), first)
    note = (
        Let(f"before{number}", Atomic(AtomicOp.Add, "tally", LitU32(2 * number), count)),
        Let(f"least{number}", Atomic(AtomicOp.Min, "tally", LitU32(2 * number + 1), Var("low") + first)),
    )
    return [*lets, If(some.ne(0), note)]


def spoiling(number: int) -> Program:
    """Overwrites results with a pattern, another one for each number."""
    out = BufferDecl.read_write("out", 0, U32)
    return Program((out,), WORKGROUP, (Store("out", InvocationId(0), LitU32(POISON + number)),))


def advancing(count: int) -> Program:
    """Adds to the lower half of the number of the first case."""
    first = BufferDecl.read_write("first", 0, U32, count=2)
    return Program((first,), (1, 1, 1), (Store("first", LitU32(0), Load("first", LitU32(0)) + count),))
