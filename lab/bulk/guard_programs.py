"""Programs dense with accesses whose checks can be removed, and that reach the last element in bounds.

Each block of a program is a shape that an analysis is tempted by: guards with strides and offsets, loops up
to a length, remainders, masks, the lesser of two lengths, walks from the end, tables, rows of a grid,
elements a workgroup's width apart. Constants come close to where a sum wraps. Half of what a shape does is
right, the rest nearly so; which is which is for the analysis to find out.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    BufferDecl,
    BufLen,
    Cast,
    DataType,
    If,
    InvocationId,
    Lane,
    Let,
    LitU32,
    Load,
    LocalId,
    Loop,
    Program,
    Select,
    Store,
    Var,
    WorkgroupId,
)

if TYPE_CHECKING:
    from vyre.ir import Expr, Node

U32 = DataType.U32
_COUNTS = (1, 3, 4, 6, 8, 16, 31, 64, 100)


@dataclass(frozen=True, slots=True)
class Setting:
    """The lengths of the buffers that the host sizes, and a grid."""

    lengths: dict[str, int]
    workgroups: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class GuardCase:
    """A program, and where to run it."""

    program: Program
    settings: tuple[Setting, ...]


class _Maker:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.fresh = 0
        self.apart = rng.randrange(4) == 0
        """Without a variable in common statements may be reordered."""
        few, cnt, tile = (rng.choice(_COUNTS) for _ in range(3))
        self.buffers = (
            BufferDecl.read("a", 0, U32),
            BufferDecl.read("few", 1, U32, count=few),
            BufferDecl.read_write("out", 2, U32),
            BufferDecl.read_write("cnt", 3, U32, count=cnt),
            BufferDecl.read_write("wide", 4, DataType.Vec4U32),
            BufferDecl.read_write("half", 5, DataType.F16),
            BufferDecl.read_write("log", 6, U32),
            BufferDecl.workgroup("tile", U32, tile),
        )
        self.counts = {b.name: b.count for b in self.buffers}

    def name(self) -> str:
        self.fresh += 1
        return f"v{self.fresh}"

    def touch(self, buffer: str, index: Expr) -> Node:
        """A load, a store or an atomic."""
        rng = self.rng
        if buffer == "cnt" and rng.randrange(2):
            return Assign("total", Var("total") + Atomic(AtomicOp.Add, "cnt", index, LitU32(1)))
        if buffer in ("out", "cnt", "tile") and rng.randrange(2):
            return Store(buffer, index, LitU32(rng.randrange(99)))
        value: Expr = Load(buffer, index)
        if buffer == "wide":
            value = Lane(value, rng.randrange(4))
        elif buffer == "half":
            value = Cast(U32, value)
        # What nobody uses is removed with its check.
        if self.apart:
            return Store("log", InvocationId(0) * 8 + rng.randrange(8), value)
        return Assign("total", Var("total") ^ value)

    def sized(self) -> str:
        return self.rng.choice(("a", "out", "wide", "half"))

    def counted(self) -> str:
        return self.rng.choice(("few", "cnt", "tile"))

    def id(self) -> Expr:
        rng = self.rng
        plain = (InvocationId(0), InvocationId(0), LocalId(0), WorkgroupId(0), InvocationId(1), LocalId(1))
        return rng.choice(plain)

    def offset(self) -> int:
        return self.rng.choice((0, 0, 1, 1, 2, 3, 5, 7, 8, 16, 31, 64))

    def guard(self) -> list[Node]:
        """`if x*s + c < len { … }` and elements at and before the one that was compared."""
        rng, buffer, i = self.rng, self.sized(), Var(self.name())
        s, c = rng.choice((1, 1, 2, 3, 4)), self.offset()
        top = i * s + c if s > 1 else (i + c if c else i)
        length = BufLen(buffer)
        condition = rng.choice((top < length, length > top, length >= top + 1, top <= length - 1))
        body = [self.touch(buffer, top)]
        for _ in range(rng.randrange(1, 5)):
            less = rng.choice(
                (top >> rng.randrange(1, 4), top & rng.choice((1, 6, 0xFFFFFFFC)), top // 3, i * s)
            )
            body.append(self.touch(buffer, rng.choice((less, top, top - rng.randrange(3), top + 1))))
        body += [self.touch(buffer, (length - 1) - top), self.touch(buffer, length - top)]
        inner: Node = If(condition, tuple(body))
        if rng.randrange(4) == 0:
            inner = If(
                rng.choice((i <= length, i < length + 1)), (If(i.ne(length), (self.touch(buffer, i),)),)
            )
        return [Let(i.name, self.id()), inner]

    def spread(self) -> list[Node]:
        """Elements some way apart, compared for the last of them."""
        rng, buffer, i = self.rng, self.sized(), Var(self.name())
        offsets = sorted({self.offset() for _ in range(rng.randrange(2, 6))})
        base = rng.choice((self.id(), LocalId(0) + WorkgroupId(0) * rng.choice((8, 24, 32))))
        last = max(offsets[-1] - rng.choice((0, 0, 0, 1)), 0)
        body = tuple(self.touch(buffer, i + c if c else i) for c in offsets)
        return [Let(i.name, base), If(i + last < BufLen(buffer), body)]

    def loop(self) -> list[Node]:
        """Over a buffer, forwards and backwards, perhaps stopping early."""
        rng, buffer, k = self.rng, self.sized(), Var(self.name())
        length, early = BufLen(buffer), rng.choice((0, 0, 1, 2, 5))
        body = [self.touch(buffer, k), self.touch(buffer, (length - 1) - k), self.touch(buffer, k // 2)]
        body += [self.touch(buffer, k + c) for c in range(1, early + rng.randrange(2))]
        start, stop = LitU32(rng.choice((0, 0, 1))), length - early if early else length
        if early and rng.randrange(3) == 0:  # may wrap: not for as many turns as that would be
            return [Loop(k.name, start, Select(stop < 200, stop, LitU32(200)), tuple(body))]
        return [If(length >= early, (Loop(k.name, start, stop, tuple(body)),))]

    def table(self) -> list[Node]:
        """Indices below a declared count, or nearly."""
        rng, buffer = self.rng, self.counted()
        count, x = self.counts[buffer], self.id() * rng.choice((1, 3, 5)) + rng.randrange(4)
        near = count + rng.choice((0, 0, 0, 0, 1))
        power = 1 << (count.bit_length() - 1)
        picks: list[Expr] = [
            x % near,
            x % BufLen(buffer),
            x & (power - 1),
            Select(x < near, x, LitU32(count - 1)),
            LitU32(near - 1) - (x % near),
            (x % near) // 2,
            LitU32(rng.randrange(near)),
            (x % (near * 3)) // 3,
            (x & (power - 1)) | (LocalId(0) & (power - 1)),
        ]
        y = Var(self.name())
        other = If(y.ne(rng.choice((0, count))), (self.touch(buffer, y), self.touch(buffer, y - 1)))
        nodes = [self.touch(buffer, rng.choice(picks)) for _ in range(rng.randrange(2, 6))]
        return [*nodes, Let(y.name, x % (count + 1)), other]

    def turns(self) -> list[Node]:
        """Nested loops of known turns, with sums of their variables as an index."""
        rng, buffer = self.rng, self.counted()
        count = self.counts[buffer]
        i, j = Var(self.name()), Var(self.name())
        outer = rng.randrange(1, 4)
        inner = max((count + rng.choice((0, 0, 0, 1))) // outer, 1)
        body = (
            self.touch(buffer, i * inner + j),
            self.touch(buffer, j),
            self.touch(buffer, LitU32(inner - 1) - j),
            self.touch(buffer, LocalId(0) % LitU32(count)),
        )
        return [Loop(i.name, LitU32(0), LitU32(outer), (Loop(j.name, LitU32(0), LitU32(inner), body),))]

    def lesser(self) -> list[Node]:
        """A loop up to the lesser of two lengths, or nearly."""
        rng, k, m = self.rng, Var(self.name()), Var(self.name())
        a, b = rng.sample(("a", "out", "wide", "half"), 2)
        x, y = BufLen(a), BufLen(b)
        less = Select(
            rng.choice((x < y, x <= y, y > x, y >= x)), *rng.choice(((x, y), (x, y), (x, y), (y, x)))
        )
        body = (self.touch(a, k), self.touch(b, k))
        return [Let(m.name, less), Loop(k.name, LitU32(0), m, body)]

    def loaded(self) -> list[Node]:
        """What memory says, compared before it is used."""
        rng, buffer, v = self.rng, self.sized(), Var(self.name())
        length = BufLen(buffer)
        value = Load("few", LitU32(0)) + self.id()
        low = v % length
        body = (self.touch(buffer, v), self.touch(buffer, v >> 1), self.touch(buffer, low))
        twice = If(value < length, (self.touch(buffer, value), self.touch(buffer, value // 2)))
        return [Let(v.name, value), If(rng.choice((v < length, length > v, v <= length)), body), twice]

    def assigned(self) -> list[Node]:
        """A variable that gets a second value."""
        rng, buffer, v = self.rng, self.counted(), Var(self.name())
        count = self.counts[buffer]
        first, second, third = (rng.randrange(count + 1) for _ in range(3))
        change = If(
            Load("few", LitU32(0)) < rng.randrange(2),
            (Assign(v.name, LitU32(second)),),
            (Assign(v.name, LitU32(third)),) if rng.randrange(2) else (),
        )
        w, sized = Var(self.name()), self.sized()
        late = If(w < BufLen(sized), (self.touch(sized, w), Assign(w.name, w + 1), self.touch(sized, w)))
        start: list[Node] = [Let(v.name, LitU32(first)), self.touch(buffer, v)]
        return [*start, change, self.touch(buffer, v), Let(w.name, self.id()), late]

    def straight(self) -> list[Node]:
        """Affine indices without any check: the fast version removes its own."""
        rng, buffer, i = self.rng, self.sized(), Var(self.name())
        s, c = rng.choice((1, 1, 1, 2, 4)), rng.choice((0, 0, 1, 4, 0xFFFFFFFF, 0xFFFFFFF8))
        index = i * s + c if s > 1 else (i + c if c else i)
        nodes: list[Node] = [
            Let(i.name, InvocationId(0)),
            self.touch(buffer, index),
            self.touch(buffer, i * s),
        ]
        if rng.randrange(3) == 0:
            k = Var(self.name())
            inside = (self.touch(buffer, (i + k * rng.choice((8, 16, 64)))),)
            nodes.append(Loop(k.name, LitU32(0), LitU32(rng.randrange(1, 4)), inside))
        if rng.randrange(3) == 0:
            row = InvocationId(1) * rng.choice((8, 16, 20)) + i
            nodes.append(self.touch(buffer, row))
        if rng.randrange(3) == 0:
            nodes.append(If(i + 1 < BufLen(buffer), (self.touch(buffer, i + 1), self.touch(buffer, i))))
        return nodes

    def strides(self, width: int) -> list[Node]:
        """Elements a workgroup's width apart, one after the other or in a loop, or nearly so."""
        rng, i = self.rng, Var(self.name())
        turns = rng.randrange(2, 5)
        base = WorkgroupId(0) * (width * turns) + LocalId(0)
        nodes: list[Node] = [Let(i.name, base)]
        if rng.randrange(2):
            k = Var(self.name())
            at = i + k * (width - rng.choice((0, 0, 0, 1)))
            body = Store("out", at, Load("a", at) + 1)
            return [*nodes, Loop(k.name, LitU32(0), LitU32(turns), (body,))]
        for turn in range(turns):
            at = i + (turn * width + rng.choice((0, 0, 0, 0, 0, 0, 0, 0, 1)))
            read = rng.choice(("a", "a", "a", "a", "a", "out"))
            nodes.append(Store("out", at, Load(read, at) + rng.choice((3, 3, 3, 3, 4))))
        return nodes


_SHAPES = (
    "guard",
    "spread",
    "loop",
    "table",
    "turns",
    "lesser",
    "loaded",
    "assigned",
    "straight",
    "straight",
)


def guard_case(seed: int) -> GuardCase:
    """The program of a seed, its lengths and its grid."""
    rng = Random(f"guards {seed}")
    maker = _Maker(rng)
    nodes: list[Node] = []
    for _ in range(rng.randrange(8, 20)):
        nodes += getattr(maker, rng.choice(_SHAPES))()
    used = rng.choice(((16, 1, 1), (32, 1, 1), (8, 1, 1), (1, 1, 1), (64, 1, 1), (16, 2, 1), (5, 3, 1)))
    buffers = maker.buffers if rng.randrange(3) == 0 else maker.buffers[:-1]
    kept = [node for node in nodes if len(buffers) == len(maker.buffers) or not _uses(node, "tile")]
    if rng.randrange(5) == 0:
        used = (rng.choice((32, 64)), 1, 1)
        whole = maker.strides(used[0])
        settings = tuple(_setting(rng, buffers, used) for _ in range(12))
        return GuardCase(Program(buffers, used, tuple(whole)), settings)
    whole = [Let("total", LitU32(0)), *kept, Store("log", InvocationId(0) * 8, Var("total"))]
    settings = tuple(_setting(rng, buffers, used) for _ in range(12))
    return GuardCase(Program(buffers, used, tuple(whole)), settings)


def _setting(rng: Random, buffers: tuple[BufferDecl, ...], size: tuple[int, int, int]) -> Setting:
    """Lengths around what the grid reaches: exactly, a little more or less, and far from it."""
    groups = (rng.choice((1, 2, 3, 8)), rng.choice((1, 1, 2)), 1)
    reach = size[0] * groups[0]
    edges = (
        0,
        1,
        2,
        reach,
        reach,
        reach,
        reach - 1,
        reach // 2,
        reach + 1,
        2 * reach,
        reach + 8,
        4 * reach,
        40,
    )
    lengths = {b.name: max(rng.choice(edges) * rng.choice((1, 1, 2)), 0) for b in buffers if not b.count}
    lengths["log"] = 8 * reach
    return Setting(lengths, groups)


def _uses(node: Node, buffer: str) -> bool:
    from vyre.ir.walk import expressions, statements

    stores = (s for _, s in statements((node,)) if isinstance(s, Store))
    named = [x for x in expressions((node,)) if isinstance(x, Load | Atomic | BufLen)]
    return any(s.buffer == buffer for s in stores) or any(x.buffer == buffer for x in named)
