"""Deep nests and early exits: legal programs at the edge of what shader compilers accept."""

from __future__ import annotations

from random import Random

from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    Barrier,
    Block,
    BufferDecl,
    DataType,
    Expr,
    If,
    InvocationId,
    Let,
    Literal,
    LitI32,
    LitU32,
    Load,
    LocalId,
    Loop,
    MakeVec,
    Node,
    Program,
    Return,
    Var,
    WorkgroupId,
)

OUT = BufferDecl.read_write("out", 0, DataType.U32)
DATA = BufferDecl.read("data", 1, DataType.U32)
TILE = BufferDecl.workgroup("tile", DataType.U32, 4)
I = InvocationId(0)  # noqa: E741
SIZE = 4
GRID = (2, 1, 1)
INPUTS = {"out": bytes(4 * 64), "data": b"".join(n.to_bytes(4, "little") for n in (3, 1, 4, 1, 5, 9, 2, 6))}


def program(entry: list[Node]) -> Program:
    return Program([OUT, DATA, TILE], (SIZE,), entry)


def meet(value: Expr | int) -> list[Node]:
    """Exchanges a value with the neighbour: wrong bytes where some invocation is missing."""
    return [
        TILE.store(LocalId(0), LitU32(0) + value),
        Barrier(),
        Assign("x", Var("x") * 3 + Load("tile", (LocalId(0) + 1) % SIZE)),
        Barrier(),
    ]


def around(*body: Node) -> Program:
    """The body with a variable `x`, which is stored at the end."""
    return program([Let("x", I + 1), *body, OUT.store(I, Var("x"))])


def nested_ifs(depth: int, *, orelse: bool, uniform: bool) -> Program:
    body: list[Node] = [*meet(I)] if uniform else [Assign("x", Var("x") * 5)]
    for level in range(depth):
        condition = DATA[level % 8] < 10 if uniform else (I + level) % 9 < 7
        step = Assign("x", Var("x") + level)
        chosen: list[Node] = [
            step,
            Let(f"t{level}", Var("x") ^ level),
            *body,
            Assign("x", Var("x") + Var(f"t{level}")),
        ]
        other: list[Node] = [Assign("x", Var("x") * 7 + 1)]
        node = If(condition.eq(0), other, chosen) if orelse else If(condition, chosen, [])
        body = [node]
    return around(*body)


def alternating(depth: int) -> Program:
    """Ifs, Loops and Blocks in turn, with variables of every shape declared on the way."""
    body: list[Node] = [*meet(Var("x")), Let("u", Literal(DataType.U64, 7)), Let("m", LitI32(-1))]
    for level in range(depth):
        name = f"v{level}"
        if level % 3 == 0:
            body = [
                If(
                    DATA[level % 8].ne(level),
                    [Let(name, DATA[level % 8]), *body, Assign("x", Var("x") + Var(name))],
                )
            ]
        elif level % 3 == 1:
            trips = 2 if level < 6 else 1
            body = [
                Loop(name, LitU32(level), LitU32(level + trips), [*body, Assign("x", Var("x") ^ Var(name))])
            ]
        else:
            body = [Block([Let(name, MakeVec(DataType.Vec2U32, (Var("x"), LitU32(1)))), *body])]
    return around(*body)


def nested_loops(depth: int) -> Program:
    body: list[Node] = [Assign("x", Var("x") * 3 + 1)]
    for level in range(depth):
        trips = LitU32(2) if level % 16 == 0 else LitU32(1)
        body = [Loop(f"k{level}", LitU32(0), trips, body)]
    return around(*body)


def deep_returns(depth: int) -> Program:
    body: list[Node] = [OUT.store(I + 8, Var("x")), Return()]
    for level in range(depth):
        body = [If((I + level) % 11 < 9, body, [Assign("x", Var("x") + 100)]), Assign("x", Var("x") + level)]
    return around(*body)


U = WorkgroupId(0).eq(0)
D = (LocalId(0) % 2).eq(0)
K = Var("k")

UNIFORM: dict[str, Program] = {
    "return of one workgroup": around(If(U, [Assign("x", LitU32(9)), Return()]), *meet(I)),
    "early return in a branch that returns": around(
        If(U, [If(D, [OUT.store(I, I), Return()]), Return()]), *meet(I)
    ),
    "both sides return early": around(
        If(U, [If(D, [Return()], [OUT.store(I + 16, LitU32(4)), Return()])]), *meet(I)
    ),
    "early return in a loop that returns": around(
        If(
            U,
            [
                *meet(5),
                Loop(
                    "k",
                    LitU32(0),
                    LitU32(5),
                    [If(Var("k").eq(LocalId(0)), [OUT.store(I, Var("k")), Return()])],
                ),
                OUT.store(I, LitU32(77)),
                Return(),
            ],
        ),
        *meet(I),
    ),
    "a loop that always returns": around(
        Loop("k", LitU32(0), DATA[1] * WorkgroupId(0), [If(D, [OUT.store(I, I + 50), Return()]), Return()]),
        *meet(I),
    ),
    "returns in a row": around(
        If(
            U,
            [
                node
                for k in range(30)
                for node in (
                    Let(f"y{k}", Var("x") + k),
                    If(Var(f"y{k}").eq(I + k), [OUT.store(I, Var(f"y{k}")), Return()]),
                    Assign("x", Var("x") + 1),
                )
            ]
            + [Return()],
        ),
        *meet(I),
    ),
    "divergent before, uniform after": around(
        Let("y", I),
        Let("old", Atomic(AtomicOp.Add, "out", LitU32(40), LitU32(1))),
        If(D, [Assign("y", Var("x"))], [Assign("y", LitU32(2))]),
        Assign("y", DATA[2]),
        If(Var("y").eq(4), meet(I)),
    ),
    "variables under uniform control": around(
        Let("y", LitU32(0)),
        If(U, [Assign("y", DATA[0])], [Assign("y", DATA[1] + 2)]),
        Loop("k", LitU32(0), Var("y"), [Assign("y", Var("y") + Var("k")), *meet(Var("k"))]),
        If(Var("y") > 3, meet(2)),
    ),
    "a condition that diverges only where everyone leaves": around(
        Let("y", LitU32(1)),
        If(U, [Assign("y", I), Return()]),
        If(Var("y"), meet(I)),
    ),
    "loops in loops with uniform bounds": around(
        Loop(
            "a",
            DATA[1],
            DATA[0],
            [
                If(Var("a") % 2, meet(Var("a"))),
                Loop("b", LitU32(0), Var("a"), [Let("z", I), *meet(Var("z"))]),
            ],
        ),
    ),
    "constant conditions": around(If(LitU32(3) * 5, meet(I)), If(LitU32(1) << 32, meet(1), meet(2))),
}
"""Barriers that V010 accepts."""


def random_control(seed: int) -> Program:
    """A nest of uniform Ifs, Loops and returns around barriers, with divergent ones between them."""
    rng = Random(seed)
    fresh = iter(range(10_000))

    def condition(uniform: bool) -> Expr:
        value = rng.choice([WorkgroupId(0), DATA[rng.randrange(8)], LitU32(rng.randrange(4))])
        return (value if uniform else value + I) % rng.randrange(2, 5)

    def body(depth: int, uniform: bool, returns: bool) -> list[Node]:
        nodes: list[Node] = []
        for _ in range(rng.randrange(1, 4)):
            pick = rng.randrange(10)
            if pick < 3 and uniform:
                nodes += meet(Var("x"))
            elif pick < 7 and depth:
                same = uniform and rng.randrange(3) > 0
                leave = rng.randrange(4) == 0 and (same or returns)
                inner = body(depth - 1, same, returns or leave)
                nodes.append(If(condition(same), inner + [Return()] * leave, body(depth - 1, same, returns)))
            elif pick < 9 and depth:
                trips = LitU32(0) + condition(uniform)
                nodes.append(Loop(f"k{next(fresh)}", LitU32(0), trips, body(depth - 1, uniform, False)))
            else:
                name = f"y{next(fresh)}"
                nodes += [Let(name, Var("x") * 3 + rng.randrange(9)), Assign("x", Var("x") ^ Var(name))]
        return nodes

    return around(*body(4, True, False))
