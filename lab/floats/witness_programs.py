"""The runs of `witness.py` as programs, for any backend: make the operands, apply the operation, compare.

Three programs, because a compiler that saw both ways of an operation could fold the comparison away.
Compiling `applied` with different ways gives the two sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.floats.hardest import classes
from lab.floats.witness import BLOCK, BLOCK_BITS
from vyre.compose.inline import inline
from vyre.compose.registry import Registry
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, BinOp, Call, Cast, Expr, FMulAdd, InvocationId, LitU32, Load, Var
from vyre.ir.node import If, Let, Node, Store
from vyre.ir.operators import AtomicOp, BinaryOp
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.ir.op import Op

WORKGROUP = 256
_OPERATORS = {"add": BinaryOp.FAdd, "sub": BinaryOp.FSub, "mul": BinaryOp.FMul, "div": BinaryOp.FDiv}
_I = Var("i")


def made(name: str, index: int) -> Program:
    """Operands of class `index`; `start` holds a block number of the class, and the seed's word of block 0.

    Turn `t` of the class is block `t * classes + index`, as in a run on this machine.
    """
    kinds = classes(name)
    kind = kinds[index]
    ops = [kind.operand(k) for k in range(kind.arity)]
    start = BufferDecl.read("start", 0, DataType.U32, count=2)
    outs = [BufferDecl.read_write(x, k + 1, DataType.U32) for k, x in enumerate("abc"[: kind.arity])]
    block = Var("block")
    steps: tuple[Node, ...] = (
        Let("block", (Load("start", LitU32(0)) + (_I >> BLOCK_BITS)) * len(kinds) + index),
        Let("number", block << BLOCK_BITS | _I & (BLOCK - 1)),
        Let("seed", Load("start", LitU32(1)) + (block >> (32 - BLOCK_BITS))),
        *(
            Store(out.name, _I, Call(op.id, (Var("number"), Var("seed"))))
            for out, op in zip(outs, ops, strict=True)
        ),
    )
    return inline(_program((start, *outs), outs[0], *steps), Registry(ops))


def applied(name: str, *, by: Op | None = None) -> Program:
    """`out[i]` is the operation on the operands, as bits; `by` is an op on bits to take in its place."""
    operands = "abc" if name == "fma" else "ab"
    given = [BufferDecl.read(x, k, DataType.U32) for k, x in enumerate(operands)]
    out = BufferDecl.read_write("out", len(given), DataType.U32)
    bits = [Load(x, _I) for x in operands]
    if by is not None:
        return inline(
            _program((*given, out), out, Store("out", _I, Call(by.id, tuple(bits)))), Registry([by])
        )
    values: list[Expr] = [Cast(DataType.F32, x) for x in bits]
    result = FMulAdd(*values) if name == "fma" else BinOp(_OPERATORS[name], *values)
    return _program((*given, out), out, Store("out", _I, Cast(DataType.U32, result)))


def compared() -> Program:
    """Adds the number of differences to `found[0]` and takes the least index of one into `found[1]`."""
    x, y = (BufferDecl.read(name, k, DataType.U32) for k, name in enumerate("xy"))
    found = BufferDecl.read_write("found", 2, DataType.U32, count=2)
    count = Let("before", Atomic(AtomicOp.Add, "found", LitU32(0), LitU32(1)))
    least = Let("least", Atomic(AtomicOp.Min, "found", LitU32(1), _I))
    return _program((x, y, found), x, If(Load("x", _I).ne(Load("y", _I)), (count, least)))


def _program(buffers: tuple[BufferDecl, ...], sized: BufferDecl, *body: Node) -> Program:
    i = Var("i")
    entry = (Let("i", InvocationId(0)), If(i < sized.length, body))
    return Program(buffers, (WORKGROUP, 1, 1), entry)
