"""Programs for the wire tests: the golden ones, and random ones that need not be valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import (
    Approx,
    ApproxOp,
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    BinaryOp,
    BinOp,
    Block,
    Break,
    BufferAccess,
    BufferDecl,
    BufLen,
    Call,
    Cast,
    Convert,
    DataType,
    Expr,
    FMulAdd,
    FReduce,
    FReduceApprox,
    If,
    InvocationId,
    Lane,
    Let,
    LitBool,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    Loop,
    MakeVec,
    Node,
    Program,
    ReduceOp,
    ReduceOrder,
    Return,
    RoundMode,
    Select,
    Store,
    UnaryOp,
    UnOp,
    Var,
    WorkgroupId,
)
from vyre.ir.limits import U32_MAX
from vyre.ir.types import STORED_TYPES, WIDE_LITERAL_TYPES
from vyre.wire.tags import ACCESSES, TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

U32 = DataType.U32
FIRST_TYPES = tuple(t for t in DataType if TYPES[t] <= TYPES[DataType.F64])
"""The types in the files of all types, which stay as they are; later ones have a file of their own."""
A, B = Load("a", InvocationId(0)), Load("b", InvocationId(0))
IN_A, IN_B = BufferDecl.read("a", 0, U32), BufferDecl.read("b", 1, U32)
OUT = BufferDecl.read_write("out", 2, U32)


def stores(values: Iterable[Expr]) -> list[Node]:
    return [Store("out", LitU32(i), value) for i, value in enumerate(values)]


def kernel(values: Iterable[Expr], *, element: DataType = U32) -> Program:
    inputs = [BufferDecl.read(name, i, element) for i, name in enumerate("ab")]
    return Program([*inputs, BufferDecl.read_write("out", 2, element)], (64, 1, 1), stores(values))


def _literals() -> list[Expr]:
    numbers: list[Expr] = [LitU32(n) for n in (0, 127, 128, 16383, 16384, U32_MAX)]
    numbers += [LitI32(n) for n in (0, -1, 1, -64, 63, 64, -(1 << 31), (1 << 31) - 1)]
    numbers += [LitBool(False), LitBool(True)]
    for t in sorted(WIDE_LITERAL_TYPES, key=lambda t: t.name):
        numbers += [Literal(t, 0), Literal(t, 1), Literal(t, (1 << t.bits) - 1)]
    return numbers


def _statements() -> list[Node]:
    i = Var("i")
    return [
        Let("x", A),
        If(Var("x") < B, (Assign("x", B),), (Assign("x", Var("x") + 1), Barrier())),
        If(LitBool(True), ()),
        Loop("i", LitU32(0), Var("x"), (Store("out", i, i), If(i.eq(3), (Return(),)))),
        Block((Let("y", Var("x")), Block(()))),
        Barrier(),
        Return(),
    ]


def _atomics() -> list[Expr]:
    plain = [op for op in AtomicOp if op is not AtomicOp.CompareExchange]
    return [
        *(Atomic(op, "out", LitU32(0), A) for op in plain),
        Atomic(AtomicOp.CompareExchange, "out", LitU32(1), A, B),
    ]


def _reductions() -> list[Expr]:
    strict = [FReduce(o, op, "a", LitU32(0), BufLen("a")) for o in ReduceOrder for op in ReduceOp]
    loose = [FReduceApprox(op, "a", LitU32(0), BufLen("a"), 1 + i * 300) for i, op in enumerate(ReduceOp)]
    return [*strict, *loose, *(Approx(op, A, U32_MAX - i) for i, op in enumerate(ApproxOp))]


def _casts() -> list[Expr]:
    converts = [Convert(t, mode, A) for t in (U32, DataType.F32) for mode in RoundMode]
    return [*(Cast(t, A) for t in FIRST_TYPES), *converts]


def _sharing() -> Program:
    """Expressions and statements used twice, a chain, and references of two bytes."""
    chain: Expr = A
    for i in range(200):
        chain = chain + (i % 3)
    square = chain * chain
    twice = Store("out", square, A)
    return Program([IN_A, OUT], (1, 1, 1), [twice, If(square, (twice, twice), (twice,)), twice])


def _buffers() -> Program:
    kinds = [(a, t) for a in BufferAccess if ACCESSES[a] <= LAST_ACCESS for t in FIRST_TYPES]
    bindings = [None, 0, 126, 127, 128, U32_MAX]
    buffers = [BufferDecl(f"b{i}", bindings[i % 6], a, t, 97 * i) for i, (a, t) in enumerate(kinds)]
    return Program([*buffers, BufferDecl.read("most", 1, U32, count=U32_MAX)], (8, 4, U32_MAX), [])


def _own_memory() -> Program:
    """Private memory and constant tables of every type, with and without a binding, and a break."""
    data = bytes(range(256))
    buffers = [BufferDecl(f"p{i}", None, BufferAccess.Private, t, i) for i, t in enumerate(FIRST_TYPES)]
    buffers += [BufferDecl.constant(f"c{i}", t, data[: i * t.stride]) for i, t in enumerate(FIRST_TYPES)]
    buffers.append(BufferDecl("bound", 7, BufferAccess.Constant, U32, 64, data))
    loop = Loop("i", LitU32(0), LitU32(9), (If(A < B, (Break(),)), Store("p1", Var("i"), A), Break()))
    return Program([*buffers, IN_A, IN_B], (1, 1, 1), [loop, Break()])


def _stored_integers() -> Program:
    """The integers that are elements of buffers and never values."""
    kinds = sorted(STORED_TYPES, key=TYPES.__getitem__)
    buffers = [BufferDecl.read_write(t.value.lower(), i, t) for i, t in enumerate(kinds)]
    shared = [BufferDecl.workgroup(f"s_{t.value.lower()}", t, 3) for t in kinds]
    return Program([*buffers, *shared], (64, 1, 1), [b.store(0, b[1]) for b in buffers])


def _invalid() -> Program:
    """Breaks many rules of the language and none of the format."""
    return Program(
        [IN_A, IN_A, BufferDecl("", None, BufferAccess.ReadOnly, DataType.Bytes)],
        (0, 0, 0),
        [
            Assign("größe", InvocationId(255) + Var("数")),
            Let("größe", LocalId(7).lane(9)),
            Store("nowhere", LitBool(True), MakeVec(DataType.F16, ())),
            Loop("__i", LitI32(-1), Call("No Such Op", ()), (Let("__i", Var("a b")),)),
            Let("x" * 1024, Load("", Literal(DataType.F32, 0x7FC00001))),
        ],
    )


LAST_BINARY, LAST_UNARY, LAST_ACCESS = 33, 28, 5
"""The last tags in the files of many operators, which stay as they are; a later operator has its own file."""


def golden_programs() -> dict[str, Program]:
    """The programs that the golden files were written from; new ones may be added."""
    integer = [op for op in BinaryOp if op.row.tag <= LAST_BINARY and not op.row.is_float]
    floating = [op for op in BinaryOp if op.row.tag <= LAST_BINARY and op.row.is_float]
    unary = [op for op in UnaryOp if op.row.tag <= LAST_UNARY and not op.row.is_float]
    functions = [op for op in UnaryOp if op.row.tag <= LAST_UNARY and op.row.is_float]
    f32 = DataType.F32
    vectors = [DataType.U64, DataType.Vec2U32, DataType.Vec4U32, DataType.U128]
    return {
        "empty": Program([], (1, 1, 1), []),
        "buffers": _buffers(),
        "literals": kernel(_literals()),
        "integer_binary": kernel(BinOp(op, A, B) for op in integer),
        "float_binary": kernel((BinOp(op, A, B) for op in floating), element=f32),
        "integer_unary": kernel(UnOp(op, A) for op in unary),
        "float_unary": kernel((UnOp(op, A) for op in functions), element=f32),
        "ids": kernel([k(i) for k in (InvocationId, WorkgroupId, LocalId) for i in range(3)] + [BufLen("a")]),
        "casts": kernel(_casts()),
        "lanes": kernel(Lane(MakeVec(t, (A,) * t.lanes), t.lanes - 1) for t in vectors),
        "choices": kernel([Select(A < B, A, B), FMulAdd(Cast(f32, A), Cast(f32, B), Cast(f32, A))]),
        "calls": kernel([Call("primitive.math.add", (A, B)), Call("acme.seed@2", ())]),
        "atomics": kernel(_atomics()),
        "reductions": kernel(_reductions(), element=f32),
        "statements": Program([IN_A, IN_B, OUT], (16, 2, 1), _statements()),
        "sharing": _sharing(),
        "invalid": _invalid(),
        "own_memory": _own_memory(),
        "stored_integers": _stored_integers(),
        **{f"binary_{op.row.tag}": _alone(op) for op in BinaryOp if op.row.tag > LAST_BINARY},
        **{f"unary_{op.row.tag}": _alone(op) for op in UnaryOp if op.row.tag > LAST_UNARY},
    }


def _alone(op: BinaryOp | UnaryOp) -> Program:
    element = DataType.F32 if op.row.is_float else DataType.U32
    return kernel([BinOp(op, A, B) if isinstance(op, BinaryOp) else UnOp(op, A)], element=element)


NAMES = ("a", "b", "x", "y", "größe", "", "__t", "out")


def random_expr(rng: Random, pool: list[Expr]) -> Expr:
    """A new node over operands from `pool`, of any kind, with no regard to types."""
    pick = rng.choice
    name = pick(NAMES)
    p, q, r = pick(pool), pick(pool), pick(pool)
    t = pick(tuple(DataType))
    wide = pick(sorted(WIDE_LITERAL_TYPES, key=lambda t: t.name))
    number = rng.getrandbits(pick((1, 7, 8, 14, 31, 32)))
    makers = (
        lambda: LitU32(number),
        lambda: LitI32(number - (1 << 31)),
        lambda: LitBool(number % 2 == 1),
        lambda: Literal(wide, rng.getrandbits(wide.bits)),
        lambda: Var(name),
        lambda: Load(name, p),
        lambda: BufLen(name),
        lambda: InvocationId(number % 256),
        lambda: WorkgroupId(number % 256),
        lambda: LocalId(number % 256),
        lambda: BinOp(pick(tuple(BinaryOp)), p, q),
        lambda: UnOp(pick(tuple(UnaryOp)), p),
        lambda: Call(name, tuple(rng.choices(pool, k=number % 5))),
        lambda: Select(p, q, r),
        lambda: Cast(t, p),
        lambda: Convert(t, pick(tuple(RoundMode)), p),
        lambda: Lane(p, number % 256),
        lambda: MakeVec(t, tuple(rng.choices(pool, k=number % 5))),
        lambda: FMulAdd(p, q, r),
        lambda: Atomic(AtomicOp.CompareExchange, name, p, q, r),
        lambda: Atomic(pick(tuple(AtomicOp)[:7]), name, p, q),
        lambda: FReduce(pick(tuple(ReduceOrder)), pick(tuple(ReduceOp)), name, p, q),
        lambda: FReduceApprox(pick(tuple(ReduceOp)), name, p, q, number or 1),
        lambda: Approx(pick(tuple(ApproxOp)), p, number or 1),
    )
    return pick(makers)()


def random_node(rng: Random, exprs: list[Expr], nodes: list[Node]) -> Node:
    pick = rng.choice
    name = pick(NAMES)
    p, q = pick(exprs), pick(exprs)

    def body() -> tuple[Node, ...]:
        return tuple(rng.choices(nodes, k=rng.randrange(4)))

    makers = (
        lambda: Let(name, p),
        lambda: Assign(name, p),
        lambda: Store(name, p, q),
        lambda: If(p, body(), body()),
        lambda: Loop(name, p, q, body()),
        Return,
        lambda: Block(body()),
        Barrier,
        Break,
    )
    return pick(makers)()


def random_buffer(rng: Random, access: BufferAccess, element: DataType) -> BufferDecl:
    name, binding = rng.choice(NAMES), rng.choice((None, 0, 200, U32_MAX))
    if access is BufferAccess.Constant:
        count = rng.getrandbits(4)
        return BufferDecl(name, binding, access, element, count, rng.randbytes(count * element.stride))
    return BufferDecl(name, binding, access, element, rng.getrandbits(rng.choice((1, 8, 32))))


def random_program(rng: Random, *, steps: int = 30) -> Program:
    """Any structure at all, with much sharing; small enough for every limit."""
    exprs: list[Expr] = [LitU32(0)]
    nodes: list[Node] = [Barrier()]
    for _ in range(rng.randrange(steps)):
        made = random_expr(rng, exprs)
        if made.size < 300:
            exprs.append(made)
    for _ in range(rng.randrange(steps)):
        node = random_node(rng, exprs, nodes)
        if node.size < 3000:
            nodes.append(node)
    buffers = [
        random_buffer(rng, rng.choice(tuple(BufferAccess)), rng.choice(tuple(DataType)))
        for _ in range(rng.randrange(4))
    ]
    size = [rng.getrandbits(rng.choice((1, 8, 32))) for _ in range(3)]
    return Program(buffers, size, rng.choices(nodes, k=rng.randrange(6)))
