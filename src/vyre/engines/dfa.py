"""`match`: a finite automaton over bytes, run on all parts of the text at once; matches in their order.

Most automata soon forget where they came from: if all states lead to one over the few bytes before a part,
that is the state before it. Where a part is not so lucky, each part maps each state it may start in to the
one it ends in, and these maps are joined, block by block, until the state before every part is known. Then
each part counts its matches, the counts are scanned, and each part that has some writes them.

The table lies on the lookup binding of Convention V2: word `state * 256 + byte` is the next state, and its
highest bit says that a match ends with this byte.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Count, Engine, Plan, Repeated, Shape, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.engines.runs import NOTHING, filled
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import Atomic, LitU32, Select, Var
from vyre.ir.node import Assign, If, Let, Loop, Store
from vyre.ir.operators import AtomicOp
from vyre.ir.program import Program
from vyre.ir.signature import V2
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

LOOKUP = V2(lookup_binding=3)
MATCH = 0x8000_0000
SYMBOLS = 256
WORDS = 256
"""Words of text in a part; a part is what one invocation reads."""
WINDOW = 8
"""Words before a part in which states may meet."""
BLOCK = 64
"""Maps that are joined into one."""

_TEXT = BufferDecl.read("input", 0, DataType.Bytes)
_OUTPUT = BufferDecl.read_write("output", 1, U32)
_TABLE = BufferDecl.read("table", LOOKUP.lookup_binding, U32)
_NUMBER, _STATE = Var("number"), Var("state")


def _opening(shape: Shape) -> list[Node]:
    return [*opening(shape), Let("number", GROUP * LitU32(shape.lanes) + LOCAL)]


def _entry(state: Expr, byte: Expr) -> Expr:
    return _TABLE[state * LitU32(SYMBOLS) + byte]


def _byte(number: int) -> Expr:
    return (Var("word") >> LitU32(8 * number)) & LitU32(0xFF)


def _read(part: Expr, *on_match: Node, entry_of: Callable[[Expr, Expr], Expr] = _entry) -> Loop:
    """Moves `state` over the text of a part of `param(0)` bytes; `place` is where a match ends."""
    steps: list[Node] = []
    for k in range(4):
        entry, place = Var(f"entry{k}"), Var("index") * LitU32(4) + LitU32(k)
        moved: list[Node] = [
            Let(entry.name, entry_of(_STATE, _byte(k))),
            Assign("state", entry & LitU32(MATCH - 1)),
        ]
        if on_match:
            moved.append(If(entry >= LitU32(MATCH), [Assign("place", place), *on_match]))
        steps.append(If(place < param(0), moved))
    body: list[Node] = [
        Let("index", part * LitU32(WORDS) + Var("w")),
        If(Var("index") < _TEXT.length, [Let("word", _TEXT[Var("index")]), *steps]),
    ]
    return Loop("w", LitU32(0), LitU32(WORDS), body)


@cache
def meet_program(shape: Shape) -> Program:
    """The state before every part where all `param(1)` states meet in the window before it; else `apart`.

    A state is followed beside state 0 until the two are one.
    """
    apart = BufferDecl.read_write("apart", 4, U32)
    states, same, other = param(1), Var("same"), Var("other")
    window: list[Node] = [
        Let("word", _TEXT[_NUMBER * LitU32(WORDS) - LitU32(WINDOW) + Var("w")]),
        *(Assign("state", _entry(_STATE, _byte(k)) & LitU32(MATCH - 1)) for k in range(4)),
    ]
    both = [*window, *(Assign("other", _entry(other, _byte(k)) & LitU32(MATCH - 1)) for k in range(4))]
    inside = (LitU32(0), LitU32(WINDOW))
    followed: list[Node] = [
        Let("state", LitU32(0)),
        Let("other", Var("s")),
        Loop("w", *inside, [If(_STATE.ne(other), both)]),
        Assign("same", _STATE.eq(other)),
    ]
    found: list[Node] = [
        Let("same", LitU32(1)),
        Loop("s", LitU32(1), states, [If(same, followed)]),
        Let("state", LitU32(0)),
        Loop("w", *inside, window),
        Store("output", _NUMBER, _STATE),
        If(same.eq(0), [Let("old", Atomic(AtomicOp.Or, "apart", LitU32(0), LitU32(1)))]),
    ]
    entry: list[Node] = [
        *_opening(shape),
        If(_OUTPUT.length > _NUMBER, [If(_NUMBER, found, [Store("output", _NUMBER, LitU32(0))])]),
    ]
    buffers = arranged((_TEXT, _OUTPUT, PARAMS, _TABLE, apart), lookup="table")
    return Program(buffers, (shape.lanes, 1, 1), entry)


@cache
def turned_program(shape: Shape) -> Program:
    """The table with the next states of each byte side by side: `param(1)` of them."""
    table = BufferDecl.read("input", 0, U32)
    states = param(1)
    body: list[Node] = [
        Let("byte", _NUMBER // states),
        Let("state", _NUMBER - Var("byte") * states),
        Store("output", _NUMBER, table[_STATE * LitU32(SYMBOLS) + Var("byte")] & LitU32(MATCH - 1)),
    ]
    entry: list[Node] = [*_opening(shape), If(_OUTPUT.length > _NUMBER, body)]
    return Program((table, _OUTPUT, PARAMS), (shape.lanes, 1, 1), entry)


@cache
def ends_program(shape: Shape) -> Program:
    """`output[part * states + state]` is where a part ends that starts in that state; `param(1)` states.

    The table is turned: neighbours, who read the same byte, find their next states side by side.
    """
    states = param(1)

    def entry_of(state: Expr, byte: Expr) -> Expr:
        return _TABLE[byte * states + state]

    entry: list[Node] = [
        *_opening(shape),
        If(
            _OUTPUT.length > _NUMBER,
            [
                Let("part", _NUMBER // states),
                Let("state", _NUMBER - Var("part") * states),
                _read(Var("part"), entry_of=entry_of),
                Store("output", _NUMBER, _STATE),
            ],
        ),
    ]
    return Program((_TEXT, _OUTPUT, PARAMS, _TABLE), (shape.lanes, 1, 1), entry)


@cache
def join_program(shape: Shape) -> Program:
    """Maps of blocks from the maps of their parts: `param(0)` parts, `param(1)` states."""
    maps = BufferDecl.read("input", 0, U32)
    states = param(1)
    entry: list[Node] = [
        *_opening(shape),
        If(
            _OUTPUT.length > _NUMBER,
            [
                Let("block", _NUMBER // states),
                Let("state", _NUMBER - Var("block") * states),
                Loop("k", LitU32(0), LitU32(BLOCK), _moved(maps, Var("block"))),
                Store("output", _NUMBER, _STATE),
            ],
        ),
    ]
    return Program((maps, _OUTPUT, PARAMS), (shape.lanes, 1, 1), entry)


@cache
def starts_program(shape: Shape) -> Program:
    """The state before every part, from the one before its block; the first block starts in 0."""
    maps = BufferDecl.read("input", 0, U32)
    before = BufferDecl.read("before", 4, U32)
    keep = Store("output", Var("part"), _STATE)
    entry: list[Node] = [
        *_opening(shape),
        If(
            before.length > _NUMBER,
            [
                Let("state", before[_NUMBER]),
                Loop("k", LitU32(0), LitU32(BLOCK), _moved(maps, _NUMBER, keep)),
            ],
        ),
    ]
    return Program(arranged((maps, _OUTPUT, PARAMS, before)), (shape.lanes, 1, 1), entry)


def _moved(maps: BufferDecl, block: Expr, *first: Node) -> list[Node]:
    part = Var("part")
    return [
        Let("part", block * LitU32(BLOCK) + Var("k")),
        If(part < param(0), [*first, Assign("state", maps[part * param(1) + _STATE])]),
    ]


@cache
def count_program(shape: Shape) -> Program:
    """The number of matches in every part."""
    starts = BufferDecl.read("starts", 4, U32)
    entry: list[Node] = [
        *_opening(shape),
        If(
            starts.length > _NUMBER,
            [
                Let("state", starts[_NUMBER]),
                Let("place", LitU32(0)),
                Let("found", LitU32(0)),
                _read(_NUMBER, Assign("found", Var("found") + LitU32(1))),
                Store("output", _NUMBER, Var("found")),
            ],
        ),
    ]
    buffers = arranged((_TEXT, _OUTPUT, PARAMS, _TABLE, starts), lookup="table")
    return Program(buffers, (shape.lanes, 1, 1), entry)


@cache
def write_program(shape: Shape) -> Program:
    """The places of the matches of every part, behind those of the parts before it."""
    starts = BufferDecl.read("starts", 4, U32)
    ends = BufferDecl.read("ends", 5, U32)
    at = Var("at")
    found: list[Node] = [
        Let("state", starts[_NUMBER]),
        Let("place", LitU32(0)),
        _read(_NUMBER, Store("output", at, Var("place")), Assign("at", at + LitU32(1))),
    ]
    entry: list[Node] = [
        *_opening(shape),
        If(
            starts.length > _NUMBER,
            [
                Let("at", Select(_NUMBER, ends[_NUMBER - LitU32(1)], LitU32(0))),
                If(at < ends[_NUMBER], found),
            ],
        ),
    ]
    buffers = arranged((_TEXT, _OUTPUT, PARAMS, _TABLE, starts, ends), lookup="table")
    return Program(buffers, (shape.lanes, 1, 1), entry)


@lru_cache(maxsize=64)
def match_engine(*, shape: Shape | None = None) -> Engine:
    """`output` has the places of the last bytes of matches, as many as there are."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        size, states = lengths["input"], lengths["table"] // SYMBOLS
        if not size:
            return Plan({"output": Space(U32, 0)}, ())
        parts = groups_for(size, 4 * WORDS)
        groups = groups_for(parts, cut.lanes)
        scratch = NOTHING | {
            "apart": Space(U32, 1),
            "starts0": Space(U32, parts, written=True),
            "counts": Space(U32, parts, written=True),
            "ends": Space(U32, parts, written=True),
        }
        text = {"input": "input", "table": "table"}
        met = {**text, "output": "starts0", "apart": "apart"}
        steps: list[Step | Repeated] = [Step(meet_program(cut), groups, met, (size, states), LOOKUP)]
        if parts > 1:
            steps.append(Repeated(tuple(_states(cut, parts, size, states, scratch)), "apart", 1))
        text |= {"starts": "starts0"}
        steps.append(Step(count_program(cut), groups, {**text, "output": "counts"}, (size,), LOOKUP))
        scanned, between = scan_steps("add", cut, parts, "counts", "ends", inclusive=True)
        steps += scanned
        scratch |= between
        written = {**text, "output": "output", "ends": "ends"}
        steps.append(Step(write_program(cut), groups, written, (size,), LOOKUP))
        found = Space(U32, Count("ends", size, parts - 1), written=True)
        return Plan({"output": found}, tuple(steps), scratch)

    return Engine("match", {"input": DataType.Bytes, "table": U32}, plan, cut)


def _states(cut: Shape, parts: int, size: int, states: int, scratch: dict[str, Space]) -> list[Step]:
    """The steps that find the state before every part from any state, into `starts0`."""
    scratch["turned"] = Space(U32, states * SYMBOLS, written=True)
    scratch["maps0"] = Space(U32, parts * states, written=True)
    turn = {"input": "table", "output": "turned"}
    text = {"input": "input", "output": "maps0", "table": "turned"}
    steps = [
        Step(turned_program(cut), groups_for(states * SYMBOLS, cut.lanes), turn, (size, states)),
        Step(ends_program(cut), groups_for(parts * states, cut.lanes), text, (size, states), LOOKUP),
    ]
    levels = [parts]
    while levels[-1] > 1:
        above, here = levels[-1], groups_for(levels[-1], BLOCK)
        number = len(levels)
        scratch[f"maps{number}"] = Space(U32, here * states, written=True)
        bindings = {"input": f"maps{number - 1}", "output": f"maps{number}"}
        groups = groups_for(here * states, cut.lanes)
        steps.append(Step(join_program(cut), groups, bindings, (above, states)))
        levels.append(here)
    top = len(levels) - 1
    scratch[f"starts{top}"] = Space(U32, 1)
    for number in reversed(range(top)):
        if number:
            scratch[f"starts{number}"] = Space(U32, levels[number], written=True)
        bindings = {
            "input": f"maps{number}",
            "output": f"starts{number}",
            "before": f"starts{number + 1}",
        }
        groups = groups_for(levels[number + 1], cut.lanes)
        steps.append(Step(starts_program(cut), groups, bindings, (levels[number], states)))
    return [*steps, filled(cut, 1, "apart", 0)]
