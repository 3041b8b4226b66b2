"""`reduce_tree`: the binary tree over floats that splits at the largest power of two below the length.

That tree is the perfect tree over the elements, filled up at the end with values that change nothing. So
aligned tiles of a power of two are subtrees of their own: a workgroup reduces one, in the order of the tree,
and the results are reduced again. A tile is read in rows, as memory likes it, and turned in workgroup
memory, so that each invocation joins neighbours.

The filling changes no bits: -0 is neutral for sums, 1 for products, NaN for minimum and maximum. Only a NaN
would become the canonical one, which any operation makes of it; so one element alone is not filled up.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vyre.engines.float_fold import Fold, empty_bits, filling, join
from vyre.engines.fold import turns_for
from vyre.engines.kernels import GROUP, LOCAL, PARAMS, U32, opening
from vyre.engines.plan import Engine, Plan, Shape, Space, Step, groups_for
from vyre.engines.strict import strict_steps
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Cast, LitU32, Select, Var
from vyre.ir.node import Barrier, If, Let, Loop, Store
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

MOST_TURNS = 8
_BANK_BITS = 5
_WIDTH = 16


@cache
def tree_program(fold: Fold, shape: Shape, turns: int, *, bits: bool) -> Program:
    """Tiles of `lanes * items * turns` elements; `bits` says that the input holds values as u32 words."""
    lanes, items = shape.lanes, shape.items
    source = BufferDecl.read("input", 0, U32 if bits else fold.element)
    output = BufferDecl.read_write("output", 1, U32)
    rows = BufferDecl.workgroup("rows", U32, _gap(shape, lanes * items - 1) + 1)
    parts = BufferDecl.workgroup("parts", U32, _gap(shape, lanes * turns - 1) + 1)
    body: list[Node] = [Let("at", Var("first") + Var("turn") * LitU32(lanes * items))]
    for k in range(items):
        i = Var(f"i{k}")
        value = source[i] if bits else Cast(U32, source[i])
        body += [
            Let(i.name, Var("at") + LitU32(k * lanes)),
            Let(f"x{k}", Select(i < source.length, value, LitU32(filling(fold)))),
        ]
    body += [Store("rows", _spread(shape, LOCAL + LitU32(k * lanes)), Var(f"x{k}")) for k in range(items)]
    body.append(Barrier())
    read: list[Expr] = [rows[_spread(shape, LOCAL * LitU32(items) + LitU32(j))] for j in range(items)]
    total = _tree(fold, read, "v", body)
    own = _spread(shape, Var("turn") * LitU32(lanes) + LOCAL)
    body += [Store("parts", own, Cast(U32, total)), Barrier()]
    entry: list[Node] = [
        *opening(shape),
        Let("first", GROUP * LitU32(lanes * items * turns) + LOCAL),
        Loop("turn", LitU32(0), LitU32(turns), body),
        *_joined_parts(fold, shape, parts, lanes * turns),
        If(LOCAL.eq(0), [Store("output", GROUP, parts[LitU32(0)])]),
    ]
    return Program((source, output, PARAMS, rows, parts), (lanes, 1, 1), entry)


def _spread(shape: Shape, index: Expr) -> Expr:
    return index + (index >> LitU32(_BANK_BITS)) if shape.banks else index


def _gap(shape: Shape, index: int) -> int:
    return index + (index >> _BANK_BITS) if shape.banks else index


def _tree(fold: Fold, words: list[Expr], prefix: str, out: list[Node]) -> Expr:
    """The tree over a power of two of words, as statements; gives its float value."""
    level: list[Expr] = []
    for k, word in enumerate(words):
        out.append(Let(f"{prefix}0_{k}", Cast(fold.element, word)))
        level.append(Var(f"{prefix}0_{k}"))
    depth = 1
    while len(level) > 1:
        joined: list[Expr] = []
        for k in range(0, len(level), 2):
            name = f"{prefix}{depth}_{k // 2}"
            out.append(Let(name, join(fold, level[k], level[k + 1])))
            joined.append(Var(name))
        level, depth = joined, depth + 1
    return level[0]


def _joined_parts(fold: Fold, shape: Shape, parts: BufferDecl, count: int) -> list[Node]:
    """Joins `count` neighbouring words into the first, 16 at a time or as many as the lanes cannot share."""
    out: list[Node] = []
    stride = 1
    while count > 1:
        width = min(count, max(_WIDTH, count // shape.lanes))
        count //= width
        body: list[Node] = []
        reach = LOCAL * LitU32(width * stride)
        words: list[Expr] = [parts[_spread(shape, reach + LitU32(j * stride))] for j in range(width)]
        total = _tree(fold, words, f"p{stride}_", body)
        body.append(Store("parts", _spread(shape, reach), Cast(U32, total)))
        out += [If(LitU32(count) > LOCAL, body), Barrier()]
        stride *= width
    return out


@lru_cache(maxsize=64)
def tree_engine(fold: Fold, *, shape: Shape | None = None) -> Engine:
    """One u32 word: the bits of the reduction."""
    cut = shape or Shape()

    def plan(lengths: Mapping[str, int]) -> Plan:
        count, source = lengths["input"], "input"
        outputs = {"output": Space(U32, 1, () if count else (empty_bits(fold),), written=bool(count))}
        if count < 2:
            return Plan(outputs, tuple(strict_steps(fold, count, count)))
        scratch: dict[str, Space] = {}
        steps: list[Step] = []
        while source != "output":
            turns = turns_for(count, cut, MOST_TURNS)
            groups = groups_for(count, cut.lanes * cut.items * turns)
            target = "output" if groups == 1 else f"level{len(steps)}"
            if groups > 1:
                scratch[target] = Space(U32, groups, written=True)
            program = tree_program(fold, cut, turns, bits=bool(steps))
            steps.append(Step(program, groups, {"input": source, "output": target}))
            count, source = groups, target
        return Plan(outputs, tuple(steps), scratch)

    return Engine("reduce_tree", {"input": fold.element}, plan, cut)
