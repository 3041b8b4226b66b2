"""Times the wire form at the size limit: `python benchmarks/wire.py [--repeat 7]`.

Two programs of 100,000 tree nodes: a realistic one, statements in loops and branches whose
expressions share their parts, and the worst case, where no node is used twice. `pickle` over nested
tuples of the same tree stands beside them as the peer: not canonical and not safe on hostile input,
but written in C.
"""

from __future__ import annotations

import argparse
import gc
import pickle
import time
from typing import TYPE_CHECKING, Any, cast

from vyre.ir import BinaryOp, BinOp, BufferDecl, DataType, If, InvocationId, Let, LitU32, Loop, Program, Var
from vyre.ir.limits import MAX_NODES
from vyre.wire import decode, encode, meaning_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.expr import Expr
    from vyre.ir.node import Node

SOURCE = BufferDecl.read("source", 0, DataType.U32)
TARGET = BufferDecl.read_write("target", 1, DataType.U32)


def realistic() -> Program:
    """Rounds of a mixing function in a loop, with a guarded store after each."""
    entry: list[Node] = []
    size = 0
    turn = 0
    while True:
        seed = SOURCE[InvocationId(0) * 4 + turn % 7]
        body: list[Node] = [Let("state", seed ^ (0x9E3779B9 * turn & 0xFFFFFFFF))]
        for step in range(8):
            state = Var("state" if step == 0 else f"mix{step - 1}")
            mixed = (state ^ (state >> (step + 3))) * (0x85EBCA6B + 2 * step) + Var("round")
            body.append(Let(f"mix{step}", mixed & (0xFFFFFFFF - turn)))
        guard = Var("mix7") < TARGET.length
        body.append(If(guard, (TARGET.store(Var("mix7"), Var("state") + turn),)))
        loop = Loop("round", LitU32(0), LitU32(turn % 5 + 1), tuple(body))
        if size + loop.size > MAX_NODES:
            return Program([SOURCE, TARGET], (64, 1, 1), entry)
        entry.append(loop)
        size += loop.size
        turn += 1


def worst() -> Program:
    """100,000 distinct nodes: every statement, operation and literal occurs once."""
    sums = (BinOp(BinaryOp.Add, LitU32(2 * i), LitU32(2 * i + 1)) for i in range(MAX_NODES // 4))
    return Program([], (1, 1, 1), [Let(f"v{i}", value) for i, value in enumerate(sums)])


def as_tuples(program: Program) -> Any:
    """The same tree for the peer, one tuple a node, equal subtrees shared."""
    known: dict[Any, Any] = {}

    def convert(item: Expr | Node) -> Any:
        if item not in known:
            cls: Any = type(item)
            fields = [getattr(item, name) for name in cls.__match_args__]
            known[item] = (cls.__name__, *[part(f) for f in fields])
        return known[item]

    def part(field: Any) -> Any:
        if isinstance(field, tuple):
            return tuple([part(x) for x in cast("tuple[Any, ...]", field)])
        return convert(field) if hasattr(field, "size") else getattr(field, "value", field)

    return [convert(node) for node in program.entry]


def best(work: Callable[[], object], repeat: int) -> float:
    """Least wall time of `repeat` runs, each with a clean heap and its result dropped afterwards."""
    times: list[float] = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
        del result
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7)
    repeat: int = parser.parse_args().repeat
    heads = ("nodes", "bytes", "encode", "decode", "meaning")
    print(f"{'program':10}", *(f"{head:>8}" for head in heads), "  peer: dumps, loads")
    for make in (realistic, worst):
        program = make()
        data = encode(program)
        size = program.size
        encoding = best(lambda program=program: encode(program), repeat)
        meaning = best(lambda program=program: meaning_digest(program), repeat)
        tuples = as_tuples(program)
        pickled = pickle.dumps(tuples)
        dumps = best(lambda tuples=tuples: pickle.dumps(tuples), repeat)
        del program, tuples
        decoding = best(lambda data=data: decode(data), repeat)
        loads = best(lambda pickled=pickled: pickle.loads(pickled), repeat)
        print(
            f"{make.__name__:10} {size:8} {len(data):8} {encoding:7.3f}s {decoding:7.3f}s {meaning:7.3f}s"
            f"   {dumps:.3f}s ({encoding / dumps:.1f}x), {loads:.3f}s ({decoding / loads:.1f}x),"
            f" {len(pickled)} bytes"
        )


if __name__ == "__main__":
    main()
