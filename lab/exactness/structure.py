"""Structure: returns, nests, depth, loops, ids, long grids, names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.exactness.build import I, case, words
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, InvocationId, LitU32, Load, LocalId, Var, WorkgroupId, mul_hi
from vyre.ir.node import Assign, Block, If, Let, Loop, Node, Return, Store
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from lab.exactness.build import Builder
    from vyre.conform.generate.programs import GeneratedProgram

NAMES = (
    "target", "kernel", "global", "local", "void", "u32", "vec2", "uint", "int", "float", "half", "define",
    "switch", "fn", "var", "let", "return", "main", "vyre_main", "hidden", "threadIdx", "asm", "ptr",
    "barrier", "restrict", "sampler", "texture", "enable", "alias", "true", "len_a", "stop_k", "base_x",
)  # fmt: skip
"""Names that mean something in one of the languages, or to one of our emitters."""


def returns() -> GeneratedProgram:
    """Invocations that return early, from branches and loops, write nothing more."""
    buffers = [BufferDecl.read_write("out", 0, DataType.U32, count=32)]
    turn: list[Node] = [
        Store("out", I, Load("out", I) + Var("k") + 1),
        If(Var("k").eq(I % 5), (If(I % 3, (Return(),)),)),
    ]
    entry: list[Node] = [
        If((I & 8).ne(0), (Store("out", I, LitU32(77)), Return())),
        Loop("k", LitU32(0), LitU32(4), turn),
        Store("out", I, Load("out", I) + 1000),
    ]
    return case(buffers, (8,), entry, (4, 1, 1))


def nested() -> GeneratedProgram:
    """64 Ifs inside each other, the limit of V018."""
    body: tuple[Node, ...] = (Assign("x", Var("x") + 1000),)
    for level in range(64, 0, -1):
        step: Node = Assign("x", Var("x") * 3 + level)
        body = (If(Load("a", I) >= level, (step, *body), (Assign("x", Var("x") ^ level),)),)
    # The innermost statement stands inside 64 Ifs; `body` is the outermost one.
    entry: list[Node] = [Let("x", I), *body, Store("out", I, Var("x"))]
    depths = (0, 1, 31, 32, 62, 63, 64, 65)
    buffers = [BufferDecl.read("a", 0, DataType.U32), BufferDecl.read_write("out", 1, DataType.U32, count=8)]
    return case(buffers, (8,), entry, a=words(*depths))


def deep() -> GeneratedProgram:
    """Expressions of 1,024 levels, leaning to the left and to the right; deep conditions, bounds, indices."""
    ops = (Expr.__add__, Expr.__xor__, Expr.__mul__, mul_hi, Expr.__sub__)

    def chain(levels: int, *, left: bool) -> Expr:
        x: Expr = Var("x")
        while x.depth < levels:
            operands = (x, LitU32(x.depth | 1))
            x = ops[x.depth % 5](*(operands if left else operands[::-1]))
        return x

    entry: list[Node] = [
        Let("x", Load("out", I)),
        Assign("x", chain(1_024, left=True)),
        Store("out", I, chain(1_024, left=False)),
        If(chain(70, left=True) > 0x80000000, (Store("out", I + 4, Var("x")),)),
        Loop("k", chain(40, left=False) % 3, chain(70, left=False) % 3 + 2, (Assign("x", Var("x") + 1),)),
        Store("out", chain(70, left=False) % 1 + I + 8, Var("x")),
    ]
    return case(
        [BufferDecl.read_write("out", 0, DataType.U32, count=12)], (4,), entry,
        out=words(*range(100, 112)),
    )  # fmt: skip


def loops() -> GeneratedProgram:
    """Bounds at the end of u32, empty and reversed ranges, bounds that change inside, 70,000 turns."""
    count: Node = Assign("n", Var("n") * 31 + 1)
    last = LitU32(0xFFFFFFFF)
    ranges = [
        (last - 5, last),
        (last, last),
        (last, LitU32(0)),
        (LitU32(3), LitU32(2)),
        (LitU32(0), LitU32(3)),
    ]
    entry: list[Node] = [Let("n", LitU32(1))]
    for number, (start, stop) in enumerate(ranges):
        body = (count, Assign("n", Var("n") ^ Var(f"k{number}")))
        entry += [Loop(f"k{number}", start, stop, body), Store("out", LitU32(number), Var("n"))]
    entry += [
        Let("end", LitU32(4)),
        Loop("j", LitU32(0), Var("end"), (Assign("end", Var("end") + 5), count)),
        Store("out", LitU32(5), Var("n") + Var("end")),
        Loop("m", LitU32(0), LitU32(70_000), (count,)),
        Store("out", LitU32(6), Var("n")),
    ]
    return case([BufferDecl.read_write("out", 0, DataType.U32, count=7)], (1,), entry)


def ids() -> GeneratedProgram:
    """Ids along three axes, and InvocationId = WorkgroupId * size + LocalId."""
    size, grid = (2, 3, 2), (3, 2, 2)
    x, y = size[0] * grid[0], size[1] * grid[1]
    linear = InvocationId(0) + InvocationId(1) * x + InvocationId(2) * (x * y)
    ids = [kind(axis) for kind in (InvocationId, WorkgroupId, LocalId) for axis in range(3)]
    packed: Expr = LitU32(0)
    for part in ids:
        packed = packed * 7 + part
    buffers = [BufferDecl.read_write("out", 0, DataType.U32, count=x * y * size[2] * grid[2])]
    return case(buffers, size, [Store("out", linear, packed)], grid)


def long_grid(axis: int) -> Builder:
    """More than 65,535 workgroups along one axis."""

    def build() -> GeneratedProgram:
        x, y, z = (65_539 if k == axis else 1 for k in range(3))
        at = WorkgroupId(axis)
        buffers = [BufferDecl.read_write("out", 0, DataType.U32, count=65_539)]
        return case(buffers, (1,), [Store("out", at, InvocationId(axis) ^ at << 3)], (x, y, z))

    return build


def keywords() -> GeneratedProgram:
    """Buffers and variables whose names mean something elsewhere; a name used again in a later scope."""
    buffers = [BufferDecl.read_write(n, k, DataType.U32, count=1) for k, n in enumerate(NAMES[:6])]
    total: Expr = LitU32(0)
    entry: list[Node] = []
    for k, n in enumerate(NAMES[6:]):
        entry.append(Let(n, Load(NAMES[k % 6], LitU32(0)) + k))
        total = total * 3 + Var(n)
    entry += [Block((Let("again", total), Store(NAMES[0], LitU32(0), Var("again"))))]
    entry += [Block((Let("again", LitU32(5)), Store(NAMES[1], LitU32(0), Var("again"))))]
    entry += [Loop("again", LitU32(0), LitU32(3), (Store(NAMES[2], LitU32(0), Var("again") + total),))]
    return case(buffers, (1,), entry, inputs={n: words(k + 1) for k, n in enumerate(NAMES[:6])})
