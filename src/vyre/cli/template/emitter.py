"""From a program in normal form to NumPy code.

All invocations go through the code together. `m1`, `m2`, … are masks: which of them a statement is for. A
branch narrows the mask, a loop runs until its mask is empty, and `Break` and `Return` take invocations out
of it. A barrier needs no code, because nobody is ahead of anybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import vyre as v
from vyre import BinaryOp, DataType, UnaryOp, UnsupportedByBackend
from vyre.ir.expr import Approx, Convert, FMulAdd, FReduce, FReduceApprox
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.ir.walk import postorder
from vyre.lower.clike import lanes_of
from vyre.lower.prepare import Prepared, function_name

if TYPE_CHECKING:
    from collections.abc import Callable

BINARY = {
    BinaryOp.Add: "{} + {}",
    BinaryOp.Sub: "{} - {}",
    BinaryOp.Mul: "{} * {}",
    BinaryOp.Div: "div({}, {})",
    BinaryOp.Mod: "mod({}, {})",
    BinaryOp.MulHi: "mul_hi({}, {})",
    BinaryOp.BitAnd: "{} & {}",
    BinaryOp.BitOr: "{} | {}",
    BinaryOp.BitXor: "{} ^ {}",
    BinaryOp.Shl: "{} << ({} & 31)",
    BinaryOp.Shr: "{} >> ({} & 31)",
    BinaryOp.Eq: "u32({} == {})",
    BinaryOp.Ne: "u32({} != {})",
    BinaryOp.Lt: "u32({} < {})",
    BinaryOp.Gt: "u32({} > {})",
    BinaryOp.Le: "u32({} <= {})",
    BinaryOp.Ge: "u32({} >= {})",
    BinaryOp.And: "u32(({} != 0) & ({} != 0))",
    BinaryOp.Or: "u32(({} != 0) | ({} != 0))",
}
UNARY = {
    UnaryOp.Negate: "0 - {}",
    UnaryOp.BitNot: "~{}",
    UnaryOp.LogicalNot: "u32({} == 0)",
    UnaryOp.Popcount: "popcount({})",
    UnaryOp.Clz: "clz({})",
    UnaryOp.Ctz: "ctz({})",
    UnaryOp.ReverseBits: "reverse({})",
    UnaryOp.FNeg: "{} ^ {}",
    UnaryOp.FAbs: "{} & ~{}",
}
"""The last two take the sign bit too. All other float operators are calls when `prepare` is done."""
CASTS = {
    CastRule.Identity: "{}",
    CastRule.Bitcast: "{}",
    CastRule.ToBool: "u32({}.reshape({have}, -1).any(0))",
    CastRule.FromBool: "{}",
    CastRule.ZeroExtend: "zero_extend({}, {want})",
    CastRule.SignExtend: "sign_extend({}, {want})",
    CastRule.Splat: "vector(*[{}] * {want})",
    CastRule.LowLanes: "{}[{low}]",
    CastRule.LowHalf: "{} & 0xFFFF",
    CastRule.ZeroExtendHalf: "{}",
}
WRITTEN_OUT = frozenset({Approx, Convert, FMulAdd, FReduce, FReduceApprox})
"""`prepare` has made calls and loops of these; where it cannot, `check_supported` refuses them by name."""


class LaneEmitter:
    """Prints one function: the statements of a program, or those of a soft float operation."""

    def __init__(self, prepared: Prepared, backend: str) -> None:
        self.prepared = prepared
        self.lines: list[str] = []
        self._backend = backend
        self._indent = 1
        self._temporaries = 0
        self._masks = 1
        self._mask = "m1"
        self._going = ["going"]

    def line(self, text: str) -> None:
        self.lines.append("    " * self._indent + text)

    def body(self) -> None:
        self.line("going = m1")
        self._block(self.prepared.entry, "m1")

    def value(self, root: v.Expr) -> str:
        """Emits an expression, each part on a line of its own, and gives the name of the result."""
        done: dict[v.Expr, str] = {}
        for expr in postorder(root):
            emit = EXPRESSIONS.get(type(expr))
            if emit is None:
                raise UnsupportedByBackend(type(expr).__name__, self._backend)
            self._temporaries += 1
            done[expr] = f"t{self._temporaries}"
            self.line(f"{done[expr]} = {emit(self, expr, [done[x] for x in expr.children])}")
        return done[root]

    def _block(self, nodes: tuple[v.Node, ...], mask: str) -> None:
        outer, self._mask = self._mask, mask
        for node in nodes:
            emit = STATEMENTS.get(type(node))
            if emit is None:
                raise UnsupportedByBackend(type(node).__name__, self._backend)
            emit(self, node)
            if node.breaks or _returns(node):
                self.line(f"{mask} = {mask} & {self._going[-1]}")
        self._mask = outer

    def _nested(self, nodes: tuple[v.Node, ...], condition: str) -> None:
        """A block for those of the mask for whom a condition holds; skipped when there is nobody."""
        if not nodes:
            return
        self._masks += 1
        mask = f"m{self._masks}"
        self.line(f"{mask} = {self._mask} & ({condition})")
        self.line(f"if {mask}.any():")
        self._indent += 1
        self._block(nodes, mask)
        self._indent -= 1

    def let(self, node: v.Let) -> None:
        self.line(f"v_{node.name} = {self.value(node.value)}")

    def assign(self, node: v.Assign) -> None:
        self.line(f"v_{node.name} = np.where({self._mask}, {self.value(node.value)}, v_{node.name})")

    def store(self, node: v.Store) -> None:
        index, value = self.value(node.index), self.value(node.value)
        self.line(f"b_{node.buffer}.store({index}, {value}, {self._mask})")

    def branch(self, node: v.If) -> None:
        holds = self.value(node.condition)
        self._nested(node.then, f"{holds} != 0")
        self._nested(node.orelse, f"{holds} == 0")

    def loop(self, node: v.Loop) -> None:
        start, stop = self.value(node.start), self.value(node.stop)
        self._masks += 1
        mask, going = f"m{self._masks}", f"going{self._masks}"
        self.line(f"v_{node.var}, {going} = {start}, {self._mask}")
        self.line("while True:")
        self._indent += 1
        self.line(f"{going} = {mask} = {going} & (v_{node.var} < {stop})")
        self.line(f"if not {mask}.any():")
        self.line("    break")
        self._going.append(going)
        self._block(node.body, mask)
        self._going.pop()
        self.line(f"v_{node.var} = v_{node.var} + 1")
        self._indent -= 1

    def leave_loop(self, _: v.Break) -> None:
        self.line(f"{self._going[-1]} = {self._going[-1]} & ~{self._mask}")

    def leave(self, _: v.Return) -> None:
        for going in self._going:
            self.line(f"{going} = {going} & ~{self._mask}")

    def block(self, node: v.Block) -> None:
        self._block(node.body, self._mask)

    def barrier(self, _: v.Barrier) -> None:
        """Everybody is here already."""

    def literal(self, expr: v.Literal, _: list[str]) -> str:
        words = [f"word({expr.bits >> (32 * i) & 0xFFFFFFFF})" for i in range(lanes_of(expr.type))]
        return words[0] if len(words) == 1 else f"vector({', '.join(words)})"

    def binary(self, expr: v.BinOp, parts: list[str]) -> str:
        if expr.op not in BINARY:
            raise UnsupportedByBackend(expr.op.value, self._backend)
        return BINARY[expr.op].format(*parts)

    def unary(self, expr: v.UnOp, parts: list[str]) -> str:
        if expr.op not in UNARY:
            raise UnsupportedByBackend(expr.op.value, self._backend)
        return UNARY[expr.op].format(*parts, _SIGN.get(self.prepared.type(expr)))

    def cast(self, expr: v.Cast, parts: list[str]) -> str:
        source = self.prepared.type(expr.value)
        rule, have, want = CAST_TABLE[source, expr.target], lanes_of(source), lanes_of(expr.target)
        if rule not in CASTS:
            raise UnsupportedByBackend(f"Cast {source.value} to {expr.target.value}", self._backend)
        return CASTS[rule].format(*parts, have=have, want=want, low="0" if want == 1 else f":{want}")

    def atomic(self, expr: v.Atomic, parts: list[str]) -> str:
        index, value, expected = (*parts, "word(0)")[:3]
        return f"b_{expr.buffer}.atomic(AtomicOp.{expr.op.name}, {self._mask}, {index}, {value}, {expected})"

    def call(self, expr: v.Call, parts: list[str]) -> str:
        return f"{function_name(expr.op_id)}({', '.join([self._mask, *parts])})"


_SIGN = {
    DataType.F16: "word(0x8000)",
    DataType.BF16: "word(0x8000)",
    DataType.F32: "word(0x80000000)",
    DataType.F64: "vector(word(0), word(0x80000000))",
}

EXPRESSIONS: dict[type[v.Expr], Callable[[LaneEmitter, Any, list[str]], str]] = {
    v.LitU32: lambda _, x, __: f"word({x.value})",
    v.LitI32: lambda _, x, __: f"word({x.value})",
    v.LitBool: lambda _, x, __: f"word({int(x.value)})",
    v.Literal: LaneEmitter.literal,
    v.Var: lambda _, x, __: f"v_{x.name}",
    v.Load: lambda _, x, parts: f"b_{x.buffer}.load({parts[0]})",
    v.BufLen: lambda _, x, __: f"word(b_{x.buffer}.count)",
    v.InvocationId: lambda _, x, __: f"invocation[{x.axis}]",
    v.WorkgroupId: lambda _, x, __: f"group[{x.axis}]",
    v.LocalId: lambda _, x, __: f"local[{x.axis}]",
    v.BinOp: LaneEmitter.binary,
    v.UnOp: LaneEmitter.unary,
    v.Call: LaneEmitter.call,
    v.Select: lambda _, __, parts: "np.where({} != 0, {}, {})".format(*parts),
    v.Cast: LaneEmitter.cast,
    v.Lane: lambda _, x, parts: f"{parts[0]}[{x.index}]",
    v.MakeVec: lambda _, __, parts: f"vector({', '.join(parts)})",
    v.Atomic: LaneEmitter.atomic,
}
STATEMENTS: dict[type[v.Node], Callable[[LaneEmitter, Any], None]] = {
    v.Let: LaneEmitter.let,
    v.Assign: LaneEmitter.assign,
    v.Store: LaneEmitter.store,
    v.If: LaneEmitter.branch,
    v.Loop: LaneEmitter.loop,
    v.Break: LaneEmitter.leave_loop,
    v.Return: LaneEmitter.leave,
    v.Block: LaneEmitter.block,
    v.Barrier: LaneEmitter.barrier,
}


def _returns(node: v.Node) -> bool:
    return isinstance(node, v.Return) or any(_returns(x) for body in node.bodies for x in body)


def emit(prepared: Prepared, backend: str) -> str:
    """The program as Python: a function for each soft float operation, and `program` behind them."""
    lines: list[str] = []
    for function in prepared.functions:
        emitter = LaneEmitter(function.body, backend)
        emitter.body()
        emitter.line(f"return {emitter.value(function.result)}")
        parameters = ", ".join(["m1", *(f"v_{name}" for name in function.params)])
        lines += [f"def {function.name}({parameters}):", *emitter.lines, ""]
    emitter = LaneEmitter(prepared, backend)
    emitter.body()
    parameters = ["m1", "invocation", "group", "local", *(f"b_{b.name}" for b in prepared.buffers)]
    return "\n".join([*lines, f"def program({', '.join(parameters)}):", *emitter.lines, ""])
