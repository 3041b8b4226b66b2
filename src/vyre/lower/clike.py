"""The emitter that WGSL, CUDA C and OpenCL C share; a small `Dialect` table holds what differs.

Every value is u32 bits: scalars of all types in one u32, U64, Vec2U32 and F64 in two lanes, U128 and
Vec4U32 in four. I32 and floats are moved and never reinterpreted by the target language, so NaN
payloads survive and nothing overflows as a signed number. All names are prefixed (`v_` variables,
`b_` buffers), so that none is a keyword anywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from vyre.ir import expr as e
from vyre.ir import node as n
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule
from vyre.lower.copies import copies
from vyre.lower.guards import Guards
from vyre.lower.joined import JoinedCalls
from vyre.lower.prepare import function_name
from vyre.lower.unrolled import is_unrolled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.buffers import BufferDecl
    from vyre.lower.prepare import Prepared

_PLAIN = {
    BinaryOp.Add: "({a} + {b})",
    BinaryOp.Sub: "({a} - {b})",
    BinaryOp.Mul: "({a} * {b})",
    BinaryOp.BitAnd: "({a} & {b})",
    BinaryOp.BitOr: "({a} | {b})",
    BinaryOp.BitXor: "({a} ^ {b})",
}
"""Operators that are one expression in every language."""
_HELPERS = {
    BinaryOp.MulHi: "mul_hi_u32",
    UnaryOp.Popcount: "popcount_u32",
    UnaryOp.Clz: "clz_u32",
    UnaryOp.Ctz: "ctz_u32",
    UnaryOp.ReverseBits: "reverse_u32",
}
"""Operators that are a helper in every language, which the prelude of each defines."""
_COMPARE = {
    BinaryOp.Eq: "==",
    BinaryOp.Ne: "!=",
    BinaryOp.Lt: "<",
    BinaryOp.Gt: ">",
    BinaryOp.Le: "<=",
    BinaryOp.Ge: ">=",
}
_SHIFT = {BinaryOp.Shl: "<<", BinaryOp.Shr: ">>"}
_DIVISION = {BinaryOp.Div: ("/", "div_u32"), BinaryOp.Mod: ("%", "mod_u32")}
"""The sign where the divisor is a literal, and the helper where it may be zero."""
_LOGIC = {BinaryOp.And: "&&", BinaryOp.Or: "||"}
_AXES = "xyz"
_LANES = "xyzw"
_SIGN = {DataType.F32: 0x80000000, DataType.F16: 0x8000, DataType.BF16: 0x8000}
_PLAIN_UNARY = {
    UnaryOp.Negate: "(0u - {a})",
    UnaryOp.BitNot: "(~{a})",
}


class Dialect(ABC):
    """What differs between the languages. Helpers named here are defined by the prelude of each; `called`
    are the functions that the text made so far calls."""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def call(self, function: str, *operands: str) -> str:
        self.called.add(function)
        return f"{function}({', '.join(operands)})"

    @property
    def elements(self) -> Mapping[str, tuple[str, int]]:
        """Ops that are one of several results of an instruction: the helper that gives all, and which."""
        return {}

    @abstractmethod
    def type_name(self, lanes: int) -> str:
        """The type of a value of one, two or four u32 lanes."""

    @abstractmethod
    def vector(self, lanes: list[str]) -> str: ...

    @abstractmethod
    def from_bool(self, condition: str) -> str:
        """A u32 0 or 1 from a condition of the language."""

    @abstractmethod
    def choose(self, condition: str, if_true: str, if_false: str) -> str: ...

    doubles = False
    """Whether F64 values are doubles of the language; else they are two lanes that are only moved."""

    def value_type(self, t: DataType) -> str:
        return "double" if self.doubles and t is DataType.F64 else self.type_name(lanes_of(t))

    def double(self, bits: int) -> str:
        """The double of these bits, where the language has doubles."""
        raise AssertionError(bits)

    @abstractmethod
    def declare(self, name: str, kind: str, value: str) -> str:
        """A local variable that may be assigned later."""

    @abstractmethod
    def loop_head(self, var: str, start: str, stop: str) -> str: ...

    unroll = ""
    """The line before a loop that tells the compiler to write out its turns, where the language has one."""

    pointers = False
    """Whether an address may have a number added; else `offset` below is always zero."""

    @abstractmethod
    def load(self, decl: BufferDecl, index: str, *, guard: bool, offset: int) -> str:
        """The element `offset` places behind the index; without `guard` both are known to be in bounds."""

    @abstractmethod
    def store(self, decl: BufferDecl, index: str, value: str, *, guard: bool, offset: int) -> str: ...

    copied: Sequence[str] = ()
    """The lines that wait for what `copy` asked for; none where the device copies nothing by itself."""

    def copy(self, decl: BufferDecl, index: str, source: BufferDecl, at: str, *, offset: int) -> str:
        """Asks for a vector of the source in workgroup memory (`vyre.lower.copies`); 0 past its end."""
        raise AssertionError(decl, source)

    @abstractmethod
    def atomic(self, decl: BufferDecl, op: e.Atomic, operands: list[str], *, guard: bool) -> str: ...

    @abstractmethod
    def function_head(self, name: str, params: list[tuple[str, str]], output: str, *, cold: bool) -> str:
        """The first line of a function; `params` are types and names. A cold one is not inlined."""

    def opaque(self, literal: str) -> str:
        """A literal that the compiler may not take for a constant expression, where it would judge it."""
        return literal

    @property
    @abstractmethod
    def barrier(self) -> list[str]: ...


def _is_constant(expr: e.Expr, prepared: Prepared) -> bool:
    """True for text that is made of literals alone; operations are not, their operands are opaque."""
    match expr:
        case e.LitU32() | e.LitI32() | e.LitBool() | e.Literal():
            return True
        case e.BufLen(buffer=buffer):
            return prepared.buffer(buffer).count > 0
        case e.Cast() | e.Lane() | e.MakeVec() | e.Select():
            return all(_is_constant(c, prepared) for c in expr.children)
        case _:
            return False


def lanes_of(t: DataType) -> int:
    """How many u32 lanes carry a value of this type, or what is loaded from a buffer of it."""
    return 2 if t is DataType.F64 else t.loaded.lanes


def function_lines(prepared: Prepared, dialect: Dialect) -> list[str]:
    """The ops that the program calls, one function each."""
    lines: list[str] = []
    for function in prepared.functions:
        emitter = ClikeEmitter(function.body, dialect)
        params = [
            (dialect.value_type(t), f"v_{name}")
            for t, name in zip(function.inputs, function.params, strict=True)
        ]
        output = dialect.value_type(function.output)
        lines.append(dialect.function_head(function.name, params, output, cold=function.cold))
        lines += emitter.body()
        lines += [f"  return {emitter.value(function.result)};", "}"]
    return lines


class ClikeEmitter:
    """Prints the statements of a prepared program; each expression on one line."""

    def __init__(self, prepared: Prepared, dialect: Dialect) -> None:
        self.prepared = prepared
        self.dialect = dialect
        self.lines: list[str] = []
        self._indent = 1
        self._guards = Guards(prepared)
        self._node: n.Node | None = None
        self._joined = JoinedCalls(dialect, self.value)
        self._copies = copies(prepared, self._guards) if dialect.copied else frozenset[n.Store]()

    def body(self) -> list[str]:
        self._block(self.prepared.entry)
        return self.lines

    def _line(self, text: str) -> None:
        self.lines.append("  " * self._indent + text)

    def _block(self, body: tuple[n.Node, ...]) -> None:
        for node in body:
            self._statement(node)

    def _nested(self, body: tuple[n.Node, ...]) -> None:
        self._indent += 1
        self._block(body)
        self._joined.close()
        self._indent -= 1

    def _statement(self, node: n.Node) -> None:
        d = self.dialect
        self._node = node
        kind = d.value_type(self.prepared.variables[node.name]) if isinstance(node, n.Let) else ""
        if joined := self._joined.lines(node, kind):
            for text in joined:
                self._line(text)
            return
        match node:
            case n.Let(name=name, value=value):
                self._line(d.declare(f"v_{name}", kind, self.value(value)))
            case n.Assign(name=name, value=value):
                self._line(f"v_{name} = {self.value(value)};")
            case n.Store(buffer=buffer, index=index, value=value):
                decl = self.prepared.buffer(buffer)
                guard = self._guards.needed(node, buffer, index)
                index, offset = self._place(buffer, index)
                if isinstance(value, e.Load) and node in self._copies:
                    source = self.prepared.buffer(value.buffer)
                    text = d.copy(decl, self.value(index), source, self.value(value.index), offset=offset)
                else:
                    text = d.store(decl, self.value(index), self.value(value), guard=guard, offset=offset)
                self._line(text)
            case n.If(condition=condition, then=then, orelse=orelse):
                self._line(f"if ({self.condition(condition)}) {{")
                self._nested(then)
                if orelse:
                    self._line("} else {")
                    self._nested(orelse)
                self._line("}")
            case n.Loop(var=var, start=start, stop=stop, body=body):
                self._line(d.declare(f"stop_{var}", d.type_name(1), self.value(stop)))
                if d.unroll and is_unrolled(node):
                    self._line(d.unroll)
                going = self.prepared.left.get(var)
                end = f"stop_{var} && v_{going} != 0u" if going else f"stop_{var}"
                self._line(d.loop_head(f"v_{var}", self.value(start), end))
                self._nested(body)
                self._line("}")
            case n.Block(body=body):
                self._line("{")
                self._nested(body)
                self._line("}")
            case n.Break():
                self._line("break;")
            case n.Return():
                self._line("return;")
            case n.Barrier():
                for text in [*(d.copied if self._copies else ()), *d.barrier]:
                    self._line(text)
            case _:
                raise AssertionError(node)

    def condition(self, expr: e.Expr) -> str:
        """A condition of the target language."""
        match expr:
            case e.BinOp(op=op, left=left, right=right) if op in _COMPARE:
                return f"{self._first(left, right)} {_COMPARE[op]} {self.value(right)}"
            case e.BinOp(op=op, left=left, right=right) if op in _LOGIC:
                return f"({self.condition(left)}) {_LOGIC[op]} ({self.condition(right)})"
            case e.UnOp(op=UnaryOp.LogicalNot, operand=operand):
                return f"!({self.condition(operand)})"
            case _:
                return f"{self.value(expr)} != 0u"

    def value(self, expr: e.Expr) -> str:
        """The expression as u32 lanes. Depth is bounded by `prepare`."""
        d = self.dialect
        match expr:
            case e.LitU32(value=value) | e.LitI32(value=value):
                return f"{value & 0xFFFFFFFF}u"
            case e.LitBool(value=value):
                return "1u" if value else "0u"
            case e.Literal(type=DataType.F64, bits=bits) if d.doubles:
                return d.double(bits)
            case e.Literal(type=t, bits=bits):
                lanes = [f"{(bits >> (32 * i)) & 0xFFFFFFFF}u" for i in range(lanes_of(t))]
                return lanes[0] if len(lanes) == 1 else d.vector(lanes)
            case e.Var(name=name):
                return f"v_{name}"
            case e.BufLen(buffer=buffer):
                return self.length(self.prepared.buffer(buffer))
            case e.InvocationId(axis=axis):
                return f"invocation_{_AXES[axis]}"
            case e.WorkgroupId(axis=axis):
                return f"workgroup_{_AXES[axis]}"
            case e.LocalId(axis=axis):
                return f"local_{_AXES[axis]}"
            case e.Load(buffer=buffer, index=index):
                guard = self._guards.needed(self._node, buffer, index)
                index, offset = self._place(buffer, index)
                return d.load(self.prepared.buffer(buffer), self.value(index), guard=guard, offset=offset)
            case e.Atomic(buffer=buffer, index=index):
                operands = [self.value(c) for c in expr.children]
                guard = self._guards.needed(self._node, buffer, index)
                return d.atomic(self.prepared.buffer(buffer), expr, operands, guard=guard)
            case e.BinOp():
                return self._binary(expr)
            case e.UnOp():
                return self._unary(expr)
            case e.Select(condition=condition, if_true=yes, if_false=no):
                return d.choose(self.condition(condition), self.value(yes), self.value(no))
            case e.Lane(value=value, index=index):
                return f"{self.value(value)}.{_LANES[index]}"
            case e.MakeVec(lanes=lanes):
                return d.vector([self.value(x) for x in lanes])
            case e.Cast():
                return self._cast(expr)
            case e.Call(op_id=op_id, args=args):
                return d.call(function_name(op_id), *(self.value(x) for x in args))
            case _:
                raise AssertionError(expr)

    def _place(self, buffer: str, index: e.Expr) -> tuple[e.Expr, int]:
        """The index, and a number that the compiler can add into the address of the access itself."""
        return self._guards.offset(self._node, buffer, index) if self.dialect.pointers else (index, 0)

    def _first(self, first: e.Expr, *others: e.Expr) -> str:
        """The first operand of an operation, opaque where all operands are constant text."""
        constant = all(_is_constant(x, self.prepared) for x in (first, *others))
        opaque = constant and lanes_of(self.prepared.type(first)) == 1
        return self.dialect.opaque(self.value(first)) if opaque else self.value(first)

    def length(self, decl: BufferDecl) -> str:
        return f"{decl.count}u" if decl.count else f"len_{decl.name}"

    def _binary(self, expr: e.BinOp) -> str:
        op, right = expr.op, expr.right
        if op in _COMPARE or op in _LOGIC:
            return self.dialect.from_bool(self.condition(expr))
        a, b = self._first(expr.left, right), self.value(right)
        if op in _PLAIN:
            return _PLAIN[op].format(a=a, b=b)
        if op in _HELPERS:
            return self.dialect.call(_HELPERS[op], a, b)
        if op in _SHIFT:
            amount = f"{right.value & 31}u" if isinstance(right, e.LitU32) else f"({b} & 31u)"
            return f"({a} {_SHIFT[op]} {amount})"
        sign, helper = _DIVISION[op]
        if isinstance(right, e.LitU32) and right.value:
            return f"({a} {sign} {b})"
        return self.dialect.call(helper, a, b)

    def _unary(self, expr: e.UnOp) -> str:
        a = self._first(expr.operand)
        match expr.op:
            case UnaryOp.LogicalNot:
                return self.dialect.from_bool(self.condition(expr))
            case UnaryOp.FNeg | UnaryOp.FAbs:
                return self._sign(expr, a)
            case op if op in _HELPERS:
                return self.dialect.call(_HELPERS[op], a)
            case op:
                return _PLAIN_UNARY[op].format(a=a)

    def _sign(self, expr: e.UnOp, a: str) -> str:
        t = self.prepared.type(expr)
        negate = expr.op is UnaryOp.FNeg
        if t is DataType.F64:
            helper = f"{'neg' if negate else 'abs'}_{'double' if self.dialect.doubles else 'f64'}"
            return self.dialect.call(helper, a)
        bit = _SIGN[t]
        return f"({a} ^ {bit}u)" if negate else f"({a} & {bit - 1}u)"

    def _cast(self, expr: e.Cast) -> str:
        source, target = self.prepared.type(expr.value), expr.target
        a = self.value(expr.value)
        have, want = lanes_of(source), lanes_of(target)
        match CAST_TABLE[source, target]:
            case CastRule.ToBool:
                if have == 1:
                    return self.dialect.from_bool(self.condition(expr.value))
                return self.dialect.call(f"any_{have}", a)
            case CastRule.ZeroExtend:
                return self.dialect.call(f"zext_{have}_{want}", a)
            case CastRule.SignExtend:
                return self.dialect.call(f"sext_{want}", a)
            case CastRule.Splat:
                return self.dialect.call(f"splat_{want}", a)
            case CastRule.LowLanes:
                return f"{a}.x" if want == 1 else self.dialect.call(f"low_{have}_{want}", a)
            case CastRule.LowHalf:
                return f"({a} & 65535u)"
            case _:
                return a
