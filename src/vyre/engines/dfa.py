"""`match`: a finite automaton over bytes, run on all parts of the text at once; matches in their order.

A part of the text maps each state it may start in to the one it ends in. These maps are joined, block by
block, until the state before every part is known; then each part counts its matches, the counts are scanned,
and each part writes its own. The table lies on the lookup binding of Convention V2: word `state * 256 +
byte` is the next state, and its highest bit says that a match ends with this byte.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening, param
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.prefix import scan_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.convention import arranged
from vyre.ir.expr import LitU32, Var
from vyre.ir.node import Assign, If, Let, Loop, Store
from vyre.ir.program import Program
from vyre.ir.signature import V2
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

LOOKUP = V2(lookup_binding=3)
MATCH = 0x8000_0000
SYMBOLS = 256
WORDS = 64
"""Words of text in a part; a part is what one invocation reads."""
BLOCK = 64
"""Maps that are joined into one."""

_TEXT = BufferDecl.read("input", 0, DataType.Bytes)
_OUTPUT = BufferDecl.read_write("output", 1, U32)
_TABLE = BufferDecl.read("table", LOOKUP.lookup_binding, U32)
_NUMBER, _STATE = Var("number"), Var("state")


def _opening(shape: Shape) -> list[Node]:
    return [*opening(shape), Let("number", GROUP * LitU32(shape.lanes) + LOCAL)]


def _read(part: Expr, *on_match: Node) -> Loop:
    """Moves `state` over the text of a part of `param(0)` bytes; `place` is where a match ends."""
    steps: list[Node] = []
    for k in range(4):
        entry, place = Var(f"entry{k}"), Var("index") * LitU32(4) + LitU32(k)
        byte = (Var("word") >> LitU32(8 * k)) & LitU32(0xFF)
        moved: list[Node] = [
            Let(entry.name, _TABLE[_STATE * LitU32(SYMBOLS) + byte]),
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
def ends_program(shape: Shape) -> Program:
    """`output[part * states + state]` is where a part ends that starts in that state; `param(1)` states."""
    states = param(1)
    entry: list[Node] = [
        *_opening(shape),
        If(
            _OUTPUT.length > _NUMBER,
            [
                Let("part", _NUMBER // states),
                Let("state", _NUMBER - Var("part") * states),
                _read(Var("part")),
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
    """The places of the matches of every part, from its own place in the output on."""
    starts = BufferDecl.read("starts", 4, U32)
    offsets = BufferDecl.read("offsets", 5, U32)
    total = BufferDecl.read_write("count", 6, U32, count=1)
    at = Var("at")
    entry: list[Node] = [
        *_opening(shape),
        If(
            starts.length > _NUMBER,
            [
                Let("state", starts[_NUMBER]),
                Let("at", offsets[_NUMBER]),
                Let("place", LitU32(0)),
                _read(_NUMBER, Store("output", at, Var("place")), Assign("at", at + LitU32(1))),
                If(_NUMBER.eq(starts.length - LitU32(1)), [Store("count", LitU32(0), at)]),
            ],
        ),
    ]
    buffers = arranged((_TEXT, _OUTPUT, PARAMS, _TABLE, starts, offsets, total), lookup="table")
    return Program(buffers, (shape.lanes, 1, 1), entry)


@lru_cache(maxsize=64)
def match_engine(*, shape: Shape | None = None) -> Engine:
    """Outputs `output`, the places of the last bytes of matches, and `count`, how many there are."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        size, states = lengths["input"], lengths["table"] // SYMBOLS
        outputs = {"output": Space(U32, size), "count": Space(U32, 1, () if size else (0,))}
        if not size:
            return Plan(outputs, ())
        parts = groups_for(size, 4 * WORDS)
        scratch = {"counts": Space(U32, parts)}
        steps, starts = _states(cut, parts, size, states, scratch)
        text = {"input": "input", "table": "table", "starts": starts}
        groups = groups_for(parts, cut.lanes)
        steps.append(Step(count_program(cut), groups, {**text, "output": "counts"}, (size,), LOOKUP))
        scanned, between = scan_steps("add", cut, parts, "counts", "offsets", inclusive=False)
        steps += scanned
        scratch |= between | {"offsets": Space(U32, parts)}
        written = {**text, "output": "output", "offsets": "offsets", "count": "count"}
        steps.append(Step(write_program(cut), groups, written, (size,), LOOKUP))
        return Plan(outputs, tuple(steps), scratch)

    return Engine("match", {"input": DataType.Bytes, "table": U32}, plan, cut)


def _states(
    cut: Shape, parts: int, size: int, states: int, scratch: dict[str, Space]
) -> tuple[list[Step], str]:
    """The steps that find the state before every part, and the buffer that holds them."""
    scratch["maps0"] = Space(U32, parts * states)
    groups = groups_for(parts * states, cut.lanes)
    text = {"input": "input", "output": "maps0", "table": "table"}
    steps = [Step(ends_program(cut), groups, text, (size, states), LOOKUP)]
    levels = [parts]
    while levels[-1] > 1:
        above, here = levels[-1], groups_for(levels[-1], BLOCK)
        number = len(levels)
        scratch[f"maps{number}"] = Space(U32, here * states)
        bindings = {"input": f"maps{number - 1}", "output": f"maps{number}"}
        groups = groups_for(here * states, cut.lanes)
        steps.append(Step(join_program(cut), groups, bindings, (above, states)))
        levels.append(here)
    top = len(levels) - 1
    scratch[f"starts{top}"] = Space(U32, 1)
    for number in reversed(range(top)):
        scratch[f"starts{number}"] = Space(U32, levels[number])
        bindings = {
            "input": f"maps{number}",
            "output": f"starts{number}",
            "before": f"starts{number + 1}",
        }
        groups = groups_for(levels[number + 1], cut.lanes)
        steps.append(Step(starts_program(cut), groups, bindings, (levels[number], states)))
    return steps, "starts0"
