"""What a device must show before it gets matrix instructions: which lane holds what, and the order of sums.

No vendor says in which order a matrix instruction adds, nor how often it rounds. `admitted` runs each shape
on matrices whose sums tell other orders from the ascending one: with products that cancel, that are
subnormal, that are infinite or no number. All lanes of all matrices must hold the bits that the definition
gives (`vyre.reference.matrices`).
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from vyre.backends.subgroups import all_instructions
from vyre.errors import SourceRejected, UnsupportedByBackend
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, InvocationId, Lane, LitU32, MakeVec, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.matrices import ELEMENTS, MATRICES
from vyre.reference.subgroups import exchange_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from vyre.ir.op import Op

    Run = Callable[[Mapping[str, memoryview], tuple[int, int, int]], None]

T = DataType
WARPS = 2
GROUPS = 4
COUNT = 32 * WARPS * GROUPS
_NAN, _INFINITY, _SIGN = 0x7FF8_0000_0000_0000, 0x7FF0_0000_0000_0000, 1 << 63


def admitted(build: Callable[[Program], Run]) -> frozenset[str]:
    """The hardware ids of the instructions that gave the right bits; `build` compiles a program."""
    found: set[str] = set()
    for ops in families():
        try:
            right = is_right(ops, build)
        except (SourceRejected, UnsupportedByBackend):  # what is not compiled, the device does not have
            right = False
        found |= {op.hardware for op in ops if right}
    return frozenset(found)


def families() -> Iterator[list[Op]]:
    """The ops of each instruction: those of one helper are elements of one result."""
    found: dict[str, list[Op]] = {}
    for op in all_instructions().values():
        if op.hardware in MATRICES:
            found.setdefault(ELEMENTS.get(op.id, (op.id, 0))[0], []).append(op)
    return iter(found.values())


def is_right(ops: Sequence[Op], build: Callable[[Program], Run]) -> bool:
    """Whether all elements of an instruction are what the definition gives, in every lane."""
    operands = trial_operands(ops[0])
    data = b"".join(_packed(ops[0], row) for row in operands)
    size = ops[0].output.stride
    out = bytearray(size * COUNT * len(ops))
    run = build(trial_program(ops))
    run({"out": memoryview(out), "data": memoryview(data).toreadonly()}, (GROUPS, 1, 1))
    for number, op in enumerate(ops):
        wanted = b"".join(value.to_bytes(size, "little") for value in expected(op, operands))
        if bytes(out[number * len(wanted) : (number + 1) * len(wanted)]) != wanted:
            return False
    return True


def trial_program(ops: Sequence[Op]) -> Program:
    """The instruction on the operands of every invocation, each element of the result in a part of `out`."""
    element = ops[0].output
    data = BufferDecl.read("data", 1, element)
    entry: list[Node] = [Let("i", InvocationId(0) * len(ops[0].params))]
    operands: list[Expr] = []
    for number, param in enumerate(ops[0].params):
        value: Expr = data[Var("i") + number]
        if param.type is T.Vec2U32:
            value = MakeVec(T.Vec2U32, (Lane(value, 0), Lane(value, 1)))
        entry.append(Let(param.name, value))
        operands.append(Var(param.name))
    entry += [Let(f"r{number}", Call(op.id, operands)) for number, op in enumerate(ops)]
    entry += [
        Store("out", InvocationId(0) + LitU32(number * COUNT), Var(f"r{number}"))
        for number in range(len(ops))
    ]
    return Program([BufferDecl.read_write("out", 0, element), data], (32 * WARPS,), entry)


def trial_operands(op: Op) -> list[tuple[int, ...]]:
    """The operands of every lane; each warp has matrices of another kind."""
    random = Random(0x9E37)
    kinds = (_plain, _cancelling, _small, _special)
    return [
        tuple(
            (kinds[lane // 32 % len(kinds)] if param.type is T.F64 else _word)(random, param.type, param.name)
            for param in op.params
        )
        for lane in range(COUNT)
    ]


def _double(random: Random, low: int, high: int) -> int:
    return random.getrandbits(1) << 63 | (1023 + random.randint(low, high)) << 52 | random.getrandbits(52)


def _plain(random: Random, kind: DataType, name: str) -> int:
    return _double(random, -3, 3)


def _cancelling(random: Random, kind: DataType, name: str) -> int:
    """Products of very different sizes; most powers of two, so that many sums are ties or zero."""
    bits = _double(random, -30, 30)
    return bits if random.random() < 0.3 else bits >> 52 << 52


def _small(random: Random, kind: DataType, name: str) -> int:
    """Products around the least number, and sums that are subnormal."""
    return _double(random, -1022, -1015) if name.startswith("c") else _double(random, -545, -505)


def _special(random: Random, kind: DataType, name: str) -> int:
    if random.random() < 0.98:
        return _double(random, -3, 3)
    values = (0, _INFINITY, 0x7FEF_FFFF_FFFF_FFFF, _NAN | 7, 1)
    return random.choice(values) | random.choice((0, _SIGN))


def _word(random: Random, kind: DataType, name: str) -> int:
    """Words of bytes of which a third are the least and the greatest; sums of any size, which wrap."""
    edges = (0x80, 0x7F, 0xFF, 0)
    count = kind.stride
    return int.from_bytes(
        bytes(random.choice(edges) if random.random() < 0.3 else random.getrandbits(8) for _ in range(count)),
        "little",
    )


def expected(op: Op, operands: Sequence[tuple[int, ...]]) -> list[int]:
    """What `op` gives in every lane, by definition."""
    exchange = exchange_of(op.hardware)
    assert exchange is not None, op.hardware
    return [
        result
        for start in range(0, len(operands), op.lanes)
        for result in exchange(operands[start : start + op.lanes])
    ]


def _packed(op: Op, row: tuple[int, ...]) -> bytes:
    size = op.output.stride
    return b"".join(value.to_bytes(size, "little") for value in row)
