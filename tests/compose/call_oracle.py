"""A second reading of call semantics: one invocation on U32 values, calls executed as calls.

It never inlines, so it can judge inlining: `trace` is the order of all memory accesses.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from vyre.ir import (
    Assign,
    Atomic,
    AtomicOp,
    BinaryOp,
    BinOp,
    Block,
    Call,
    Expr,
    If,
    Let,
    LitU32,
    Load,
    Loop,
    Node,
    Program,
    Return,
    Select,
    Store,
    Var,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vyre.compose import Registry

_MASK = 0xFFFF_FFFF
Trace = list[tuple[str, str, int, int]]


class _Returned(Exception):
    pass


class Oracle:
    def __init__(self, registry: Registry, memory: dict[str, list[int]]) -> None:
        self.registry = registry
        self.memory = memory
        self.trace: Trace = []

    def value(self, expr: Expr, env: dict[str, int]) -> int:
        match expr:
            case LitU32(value=value):
                return value
            case Var(name=name):
                return env[name]
            case Call(op_id=op_id):
                return self.call(op_id, [self.value(c, env) for c in expr.children])
            case Select():
                condition, yes, no = (self.value(c, env) for c in expr.children)
                return yes if condition else no
            case BinOp(op=op):
                a, b = (self.value(c, env) for c in expr.children)
                return _binary(op, a, b)
            case Load(buffer=buffer):
                return self.access("load", buffer, self.value(expr.index, env), None)
            case Atomic(op=AtomicOp.Add, buffer=buffer):
                index, value = (self.value(c, env) for c in expr.children)
                before = self.access("atomic", buffer, index, None)
                self.memory[buffer][index % len(self.memory[buffer])] = (before + value) & _MASK
                return before
            case _:
                raise NotImplementedError(repr(expr))

    def access(self, kind: str, buffer: str, index: int, new: int | None) -> int:
        """Indices wrap here, which the language does not do; the tests keep them in bounds."""
        cells = self.memory[buffer]
        old = cells[index % len(cells)]
        self.trace.append((kind, buffer, index, old if new is None else new))
        if new is not None:
            cells[index % len(cells)] = new
        return old

    def call(self, op_id: str, arguments: list[int]) -> int:
        op = self.registry[op_id]
        env = dict(zip((p.name for p in op.params), arguments, strict=True))
        self.run(op.body, env)
        assert op.result is not None
        return self.value(op.result, env)

    def run(self, nodes: Iterable[Node], env: dict[str, int]) -> None:
        for node in nodes:
            match node:
                case Let(name=name, value=value) | Assign(name=name, value=value):
                    env[name] = self.value(value, env)
                case Store(buffer=buffer):
                    index, value = (self.value(x, env) for x in node.exprs)
                    self.access("store", buffer, index, value)
                case If(condition=condition, then=then, orelse=orelse):
                    self.run(then if self.value(condition, env) else orelse, env)
                case Loop(var=var):
                    start, stop = (self.value(x, env) for x in node.exprs)
                    for i in range(start, stop):
                        env[var] = i
                        self.run(node.body, env)
                case Block(body=body):
                    self.run(body, env)
                case Return():
                    raise _Returned
                case _:
                    raise NotImplementedError(repr(node))


def observe(program: Program, registry: Registry, memory: dict[str, list[int]]) -> Trace:
    """The memory accesses of one invocation, in order; `memory` holds the final state."""
    oracle = Oracle(registry, memory)
    with contextlib.suppress(_Returned):
        oracle.run(program.entry, {})
    return oracle.trace


def _binary(op: BinaryOp, a: int, b: int) -> int:
    match op:
        case BinaryOp.Add:
            return (a + b) & _MASK
        case BinaryOp.Sub:
            return (a - b) & _MASK
        case BinaryOp.Mul:
            return (a * b) & _MASK
        case BinaryOp.BitXor:
            return a ^ b
        case BinaryOp.BitAnd:
            return a & b
        case BinaryOp.Lt:
            return int(a < b)
        case BinaryOp.Shr:
            return a >> (b & 31)
        case _:
            raise NotImplementedError(op)
