"""Every hardware instruction of Category C that a device has, beside a composition with the same bits.

    python benchmarks/intrinsics.py --backend cuda [--log2 20] [--turns 64] [--width 32]

An invocation applies the instruction `--turns` times, each time to what the time before gave; so does the
twin, which exchanges values through workgroup memory, with barriers. Both are compared before they are timed,
and the time of a dispatch is the slope between a long and a short chain (`resident.py`). The ratio says how
many times as fast the instruction is as its twin.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from resident import slope

import vyre
from vyre.backends import get
from vyre.ir import Assign, Barrier, BufferDecl, DataType, InvocationId, Let, LitU32, LocalId, Loop, Program
from vyre.ir.expr import BinOp, Call, Cast, Convert, Expr, Lane, MakeVec, Select, Var, f64
from vyre.ir.operators import BinaryOp, RoundMode
from vyre.ops.intrinsics import subgroup
from vyre.ops.intrinsics.matrix_twin import f64_twin, s8_twin
from vyre.ops.intrinsics.packed import TWINS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vyre.ir.node import Node

T = DataType
SIZE = 256
LOCAL, K, X = LocalId(0), Var("k"), Var("x")
TILE = BufferDecl.workgroup("tile", T.U32, SIZE)


def turned(
    turns: int, state: Sequence[Node], steps: Sequence[Node], tiles: Sequence[BufferDecl], result: Expr = X
) -> Program:
    """`state` starts from `x`, the word of an invocation; `steps` are repeated, and `result` is stored."""
    a, out = BufferDecl.read("a", 0, T.U32), BufferDecl.read_write("out", 1, T.U32)
    i = InvocationId(0)
    body = [Let("x", a[i]), *state, Loop("k", LitU32(0), LitU32(turns), tuple(steps)), out.store(i, result)]
    return Program([a, out, *tiles], (SIZE,), body)


def combined(name: str, x: Expr, y: Expr) -> Expr:
    match name:
        case "add":
            return x + y
        case "and":
            return x & y
        case "or":
            return x | y
        case "xor":
            return x ^ y
        case "min":
            return Select(x < y, x, y)
        case _:
            return Select(x < y, y, x)


def exchanged(value: Expr, place: Expr, name: str) -> list[Node]:
    """`value` of the invocation at `place` as `name`, through workgroup memory."""
    return [TILE.store(LOCAL, value), Barrier(), Let(name, TILE[place]), Barrier()]


def subgroup_twin(name: str, width: int, argument: Expr) -> list[Node]:
    """The statements that bind `y` to what the instruction gives for `x`."""
    lane, base = LOCAL % width, LOCAL // width * width
    match name:
        case "shuffle":
            return exchanged(X, base + argument % width, "y")
        case "shuffle_xor":
            return exchanged(X, LOCAL ^ (argument % width), "y")
        case "shuffle_up":
            away = argument % width
            return exchanged(X, Select(lane < away, LOCAL, LOCAL - away), "y")
        case "shuffle_down":
            away = argument % width
            return exchanged(X, Select(lane + away < width, LOCAL + away, LOCAL), "y")
        case "ballot":
            first = Select(X.ne(0), LitU32(1) << lane, LitU32(0))
            return _butterfly("or", width, first)
        case _:
            return _butterfly(name.removeprefix("reduce_"), width, X)


def _butterfly(name: str, width: int, first: Expr) -> list[Node]:
    entry: list[Node] = [Let("y", first)]
    for step in range(width.bit_length() - 1):
        other = f"y{step}"
        entry += exchanged(Var("y"), LOCAL ^ (1 << step), other)
        entry.append(Assign("y", combined(name, Var("y"), Var(other))))
    return entry


def subgroup_pair(name: str, width: int, turns: int) -> tuple[Program, Program]:
    argument = K + 1
    operands = (X,) if name.startswith(("reduce", "ballot")) else (X, argument)
    on = Assign("x", (Var("y") ^ LOCAL) * 0x9E3779B1 + K)
    call = Let("y", Call(subgroup.op_id(width, name), operands))
    return (
        turned(turns, (), (call, on), ()),
        turned(turns, (), (*subgroup_twin(name, width, argument), on), (TILE,)),
    )


def packed_pair(name: str, turns: int) -> tuple[Program, Program]:
    def program(op: str) -> Program:
        given = Call(op, (X, X * 0x9E3779B1))
        word = given if op.startswith("intrinsic") or name == "dot4_u8" else Cast(T.U32, given)
        return turned(turns, (), (Let("y", word), Assign("x", Var("y") ^ (X >> 3) ^ K)), ())

    return program(f"intrinsic.packed.{name}"), program(TWINS[name])


def f64_pair(depth: int, turns: int) -> tuple[Program, Program]:
    part = BinOp(BinaryOp.FMul, f64(2.0**-20), Convert(T.F64, RoundMode.Nearest, X & 1023))
    sums, names = [Var(f"s{i}") for i in range(4)], [f"r{i}" for i in range(4)]
    operands = [Var("part")] * (depth // 2 + depth // 4) + sums
    state = [Let("part", part), *(Let(s.name, f64(1.0)) for s in sums)]
    tiles, twin = f64_twin(depth, operands, names, invocations=SIZE, local=LOCAL)
    calls = [Let(n, Call(f"intrinsic.mma_f64.m16n8k{depth}_{i}", operands)) for i, n in enumerate(names)]
    on = [Assign(s.name, Var(n)) for s, n in zip(sums, names, strict=True)]
    result = Cast(T.U32, Cast(T.F32, sums[0]))
    return turned(turns, state, (*calls, *on), (), result), turned(turns, state, (*twin, *on), tiles, result)


def s8_pair(turns: int) -> tuple[Program, Program]:
    words = [X * (2 * i + 3) + i for i in range(6)]
    state = [
        Let("a4", MakeVec(T.Vec4U32, words[:4])),
        Let("b2", MakeVec(T.Vec2U32, words[4:])),
        Let("s", MakeVec(T.Vec4U32, [LitU32(0)] * 4)),
    ]
    operands = (Var("a4"), Var("b2"), Var("s"))
    tiles, twin = s8_twin(operands, "r", invocations=SIZE, local=LOCAL)
    call = Let("r", Call("intrinsic.mma_s8.m16n8k32", operands))
    on, result = Assign("s", Var("r")), Lane(Var("s"), 0) ^ Lane(Var("s"), 3)
    return turned(turns, state, (call, on), (), result), turned(turns, state, (*twin, on), tiles, result)


def pairs(hardware: frozenset[str], width: int, turns: int) -> Iterator[tuple[str, Program, Program]]:
    """Those that the device has, by the name of the instruction."""
    for name in subgroup.NAMES:
        if subgroup.hardware_id(width, name) in hardware:
            yield subgroup.hardware_id(width, name), *subgroup_pair(name, width, turns)
    for name in TWINS:
        if f"packed.{name}" in hardware:
            yield f"packed.{name}", *packed_pair(name, turns)
    for depth in (4, 8, 16):
        if any(h.startswith(f"mma_f64.m16n8k{depth}") for h in hardware):
            yield f"mma_f64.m16n8k{depth}", *f64_pair(depth, turns)
    if any(h.startswith("mma_s8") for h in hardware):
        yield "mma_s8.m16n8k32", *s8_pair(turns)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--log2", type=int, default=20, help="invocations, as a power of two")
    parser.add_argument("--turns", type=int, default=64)
    parser.add_argument("--width", type=int, default=32, choices=subgroup.WIDTHS)
    options = parser.parse_args()
    backend = get(options.backend)
    info = backend.describe()
    count = 1 << options.log2
    words = np.random.default_rng(1).integers(0, 1 << 32, count, dtype=np.uint32)
    probe = vyre.to_device(np.zeros(64, np.uint32), backend=backend)
    print(f"{info.name} | {info.device} | {info.driver}; {count} invocations, {options.turns} turns, µs")
    for name, *both in pairs(info.hardware, options.width, options.turns):
        times: list[float] = []
        results: list[Any] = []
        for program in both:
            compiled = vyre.compile_program(program, backend=backend)
            out = vyre.to_device(np.zeros(count, np.uint32), backend=backend)
            buffers = {"a": vyre.to_device(words, backend=backend), "out": out}
            compiled(buffers, workgroups=count // SIZE)
            results.append(out.numpy())
            times.append(slope(lambda c=compiled, b=buffers: c(b, workgroups=count // SIZE), probe.numpy))
        if not np.array_equal(*results):
            sys.exit(f"{name}: the instruction and its twin have different bits")
        print(
            f"{name:24} {times[0]:9.1f}  twin {times[1]:9.1f}  {times[1] / times[0]:7.2f} times", flush=True
        )


if __name__ == "__main__":
    main()
