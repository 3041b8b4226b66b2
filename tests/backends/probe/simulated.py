"""A device with a fault of its own behind guarded operations, as an evaluator of the probe's programs.

The guard is taken from the table of ranges, the instructions from a table of functions on bits: exact ones by
default, so that a fault is one function. Nothing of the lowering is used.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.protocol import BackendInfo
from vyre.ir import Assign, BinaryOp, BinOp, Cast, If, Let, Load, Loop, Store, Var
from vyre.ir.expr import FMulAdd, Literal, LitU32, Select
from vyre.ir.float_formats import F32
from vyre.lower.native import GUARDED_KEYS, GUARDED_RANGES
from vyre.lower.ways import SOFT, Ways
from vyre.reference import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir import Expr, Node, Program

    Instructions = Mapping[str, Callable[..., int]]

_NAMES = {BinaryOp.FAdd: "add", BinaryOp.FSub: "sub", BinaryOp.FMul: "mul"}
_WORDS: dict[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.Add: lambda a, b: a + b & 0xFFFFFFFF,
    BinaryOp.Mul: lambda a, b: a * b & 0xFFFFFFFF,
    BinaryOp.Eq: lambda a, b: int(a == b),
}


def exactly(name: str) -> Callable[..., int]:
    """The operation as the reference has it."""
    return partial(_exactly, name)


@cache
def _exactly(name: str, *operands: int) -> int:
    if name == "fma":
        return floats.fma(F32, *operands)
    return floats.binary(next(op for op, own in _NAMES.items() if own == name), F32, *operands)


def is_inside(name: str, operands: tuple[int, ...]) -> bool:
    """Whether the table of ranges covers these operands."""
    return all(
        bits & F32.magnitude == 0 or low <= (bits >> 23 & 0xFF) - F32.bias < high
        for bits, (low, high) in zip(operands, GUARDED_RANGES[f"f32.{name}"], strict=True)
    )


class Simulated:
    """A backend that can be told which operations are guarded."""

    name = "simulated"
    ways = SOFT

    def __init__(self, fault: Instructions, *, fuses: bool = False) -> None:
        self._instructions = {name: exactly(name) for name in ("add", "sub", "mul", "fma")} | dict(fault)
        self._fuses = fuses
        self.compiled = 0

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a device with a fault")

    def compile(self, program: Program, *, ways: Ways | None = None) -> _Evaluated:
        self.compiled += 1
        return _Evaluated(program, ways or SOFT, self._instructions, fuses=self._fuses)


class _Evaluated:
    def __init__(self, program: Program, ways: Ways, instructions: Instructions, *, fuses: bool) -> None:
        assert ways.guarded <= GUARDED_KEYS
        guarded = program.entry[1]
        assert isinstance(guarded, If)
        self._body, self._ways, self._instructions, self._fuses = guarded.then, ways, instructions, fuses

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        del workgroups
        out = np.frombuffer(buffers["out"], np.uint32)
        columns: dict[str, Any] = {k: np.frombuffer(v, np.uint32) for k, v in buffers.items() if k != "out"}
        for place in range(len(out)):
            out[place] = self._do(self._body, {k: int(v[place]) for k, v in columns.items()})

    def _do(self, body: tuple[Node, ...], row: dict[str, int]) -> int:
        """The value that is stored; a `row` has buffers and variables by name."""
        stored = 0
        for node in body:
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    row[name] = self._of(value, row, {})
                case Loop(var=var, start=start, stop=stop, body=inner):
                    for turn in range(self._of(start, row, {}), self._of(stop, row, {})):
                        row[var] = turn
                        self._do(inner, row)
                case Store(value=value):
                    stored = self._of(value, row, {})
                case _:
                    raise AssertionError(node)
        return stored

    def _of(self, expr: Expr, row: dict[str, int], known: dict[Expr, int]) -> int:
        if expr not in known:
            known[expr] = self._evaluate(expr, row, known)
        return known[expr]

    def _evaluate(self, expr: Expr, row: dict[str, int], known: dict[Expr, int]) -> int:
        match expr:
            case Load(buffer=buffer):
                return row[buffer]
            case Var(name=name):
                return row[name]
            case Literal(bits=bits):
                return bits
            case LitU32(value=value):
                return value
            case Cast(value=value):
                return self._of(value, row, known)
            case Select(condition=c, if_true=yes, if_false=no):
                return self._of(yes if self._of(c, row, known) else no, row, known)
            case FMulAdd(a=a, b=b, c=c):
                return self._operation("fma", tuple(self._of(x, row, known) for x in (a, b, c)))
            case BinOp(op=op, left=a, right=b) if op in _NAMES:
                x, y = (a, b) if isinstance(a, BinOp) else (b, a)
                if self._fuses and op is BinaryOp.FAdd and isinstance(x, BinOp) and x.op is BinaryOp.FMul:
                    parts = tuple(self._of(v, row, known) for v in (x.left, x.right, y))
                    if is_inside("fma", parts):
                        return floats.fma(F32, *parts)
                return self._operation(_NAMES[op], (self._of(a, row, known), self._of(b, row, known)))
            case BinOp(op=op, left=a, right=b):
                return _WORDS[op](self._of(a, row, known), self._of(b, row, known))
            case _:
                raise AssertionError(expr)

    def _operation(self, name: str, operands: tuple[int, ...]) -> int:
        native = f"f32.{name}" in self._ways.guarded and is_inside(name, operands)
        return (self._instructions[name] if native else exactly(name))(*operands)
