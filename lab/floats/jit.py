"""Runs an op of U32 formulas as machine code over arrays, for sweeps of 10^9 cases and more.

The translation is a page long and shares nothing with the backends, so that it can check them. Two
kernels never meet in one module: a compiler that saw an op beside its oracle could fold the comparison
away. Needs llvmlite.
"""

from __future__ import annotations

import ctypes
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import OpError
from vyre.ir import expr as e
from vyre.ir.node import Assign, If, Let
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.walk import postorder, statements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from vyre.ir.node import Node
    from vyre.ir.op import Op

    Words = NDArray[np.uint32]

_SIMPLE = {
    BinaryOp.Add: "add",
    BinaryOp.Sub: "sub",
    BinaryOp.Mul: "mul",
    BinaryOp.BitAnd: "and",
    BinaryOp.BitOr: "or",
    BinaryOp.BitXor: "xor",
}
_COMPARE = {
    BinaryOp.Eq: "eq",
    BinaryOp.Ne: "ne",
    BinaryOp.Lt: "ult",
    BinaryOp.Gt: "ugt",
    BinaryOp.Le: "ule",
    BinaryOp.Ge: "uge",
}


class JitKernel:
    """A function of one to three u32 words, applied to arrays."""

    def __init__(self, definition: str, arity: int) -> None:
        """`definition` is LLVM IR that defines `i32 @f(i32 …)` with this many parameters."""
        self.arity = arity
        self._text = definition + _loop(arity)
        llvm: Any = import_module("llvmlite.binding")
        self._engine: Any = llvm.create_mcjit_compiler(*_optimised(self._text))
        self._engine.finalize_object()
        pointers = [ctypes.c_void_p] * (arity + 1)
        signature = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_uint64)
        self._call = signature(self._engine.get_function_address("sweep"))

    def assembly(self, cpu: str | None = None) -> str:
        """The machine code as text: which instructions really run here, or would on an x86-64 named `cpu`."""
        module, machine = _optimised(self._text, cpu)
        return machine.emit_assembly(module)

    def __call__(self, *arguments: Words) -> Words:
        arrays = [np.ascontiguousarray(a, dtype=np.uint32) for a in arguments]
        if len(arrays) != self.arity or len({a.shape for a in arrays}) != 1:
            raise OpError(
                f"this kernel takes {self.arity} arrays of one length.", fix="pass one array per parameter."
            )
        out = np.empty_like(arrays[0])
        self._call(out.ctypes.data, *(a.ctypes.data for a in arrays), out.size)
        return out


def _optimised(text: str, cpu: str | None = None) -> tuple[Any, Any]:
    """The module after all passes, and the machine to make code with."""
    llvm: Any = import_module("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module: Any = llvm.parse_assembly(text)
    module.verify()
    triple: str = llvm.get_process_triple() if cpu is None else "x86_64-unknown-linux-gnu"
    name: str = llvm.get_host_cpu_name() if cpu is None else cpu
    features: str = llvm.get_host_cpu_features().flatten() if cpu is None else ""
    machine: Any = llvm.Target.from_triple(triple).create_target_machine(cpu=name, features=features, opt=3)
    module.triple = triple
    options: Any = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    builder: Any = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module, machine


def _loop(arity: int) -> str:
    names = "abc"[:arity]
    pointers = "".join(f", ptr noalias %{x}" for x in names)
    loads = "".join(
        f"  %p{x} = getelementptr i32, ptr %{x}, i64 %i\n  %v{x} = load i32, ptr %p{x}\n" for x in names
    )
    values = ", ".join(f"i32 %v{x}" for x in names)
    return f"""
define void @sweep(ptr noalias %out{pointers}, i64 %n) {{
entry:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %end, label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
{loads}  %r = call i32 @f({values})
  %po = getelementptr i32, ptr %out, i64 %i
  store i32 %r, ptr %po
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %end, label %body
end:
  ret void
}}
"""


def compiled(op: Op) -> JitKernel:
    """The op as machine code. Bodies are `Let`, `Assign` and `If` over U32; anything else is an `OpError`."""
    return JitKernel(definition(op), len(op.params))


def definition(op: Op) -> str:
    """The op as the LLVM function `@f`."""
    writer = _Writer(op)
    writer.block(op.body)
    if op.result is None:
        raise _unsupported(op, "its missing result")
    result = writer.value(op.result)
    params = ", ".join(f"i32 %{p.name}" for p in op.params)
    lines = "\n".join(f"  {line}" for line in writer.lines)
    return f"""declare i32 @llvm.ctlz.i32(i32, i1)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
define internal i32 @f({params}) alwaysinline {{
{lines}
  ret i32 {result}
}}
"""


class _Writer:
    def __init__(self, op: Op) -> None:
        self.op = op
        self.names = {p.name: f"%{p.name}" for p in op.params}
        self.lines: list[str] = []
        self._done: dict[e.Expr, str] = {}
        self._assigned = {node.name for _, node in statements(op.body) if isinstance(node, Assign)}

    def put(self, text: str) -> str:
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def block(self, body: tuple[Node, ...]) -> None:
        """Statements in order; a branch forgets the values that only it has computed."""
        for node in body:
            match node:
                case Let(name=name, value=value) if name in self._assigned:
                    self.names[name] = place = self.put("alloca i32")
                    self.lines.append(f"store i32 {self.value(value)}, ptr {place}")
                case Let(name=name, value=value):
                    self.names[name] = self.value(value)
                case Assign(name=name, value=value):
                    self.lines.append(f"store i32 {self.value(value)}, ptr {self.names[name]}")
                    self._done = {}
                case If(condition=condition, then=then, orelse=()):
                    self._branch(condition, then)
                case _:
                    raise _unsupported(self.op, type(node).__name__)

    def _branch(self, condition: e.Expr, then: tuple[Node, ...]) -> None:
        taken = self.put(f"icmp ne i32 {self.value(condition)}, 0")
        number = len(self.lines)
        self.lines += [f"br i1 {taken}, label %then{number}, label %after{number}", f"then{number}:"]
        self.block(then)
        self.lines += [f"br label %after{number}", f"after{number}:"]
        self._done = {}

    def value(self, root: e.Expr) -> str:
        for expr in postorder(root):
            if expr not in self._done:
                self._done[expr] = self._one(expr, [self._done[child] for child in expr.children])
        return self._done[root]

    def _one(self, expr: e.Expr, of: list[str]) -> str:
        match expr:
            case e.LitU32(value=value):
                return str(value)
            case e.Var(name=name) if name in self._assigned and name in self.names:
                return self.put(f"load i32, ptr {self.names[name]}")
            case e.Var(name=name) if name in self.names:
                return self.names[name]
            case e.BinOp(op=op):
                return self._binary(op, *of)
            case e.UnOp(op=op):
                return self._unary(op, *of)
            case e.Select():
                condition = self.put(f"icmp ne i32 {of[0]}, 0")
                return self.put(f"select i1 {condition}, i32 {of[1]}, i32 {of[2]}")
            case _:
                raise _unsupported(self.op, repr(expr))

    def _binary(self, op: BinaryOp, a: str, b: str) -> str:
        if op in _SIMPLE:
            return self.put(f"{_SIMPLE[op]} i32 {a}, {b}")
        if op in _COMPARE:
            return self._bit(self.put(f"icmp {_COMPARE[op]} i32 {a}, {b}"))
        match op:
            case BinaryOp.Shl | BinaryOp.Shr:
                amount = self.put(f"and i32 {b}, 31")
                return self.put(f"{'shl' if op is BinaryOp.Shl else 'lshr'} i32 {a}, {amount}")
            case BinaryOp.MulHi:
                x, y = self.put(f"zext i32 {a} to i64"), self.put(f"zext i32 {b} to i64")
                high = self.put(f"lshr i64 {self.put(f'mul i64 {x}, {y}')}, 32")
                return self.put(f"trunc i64 {high} to i32")
            case BinaryOp.Div | BinaryOp.Mod:
                zero = self.put(f"icmp eq i32 {b}, 0")
                divisor = self.put(f"select i1 {zero}, i32 1, i32 {b}")
                value = self.put(f"{'udiv' if op is BinaryOp.Div else 'urem'} i32 {a}, {divisor}")
                return self.put(f"select i1 {zero}, i32 0, i32 {value}")
            case _:
                raise _unsupported(self.op, op.value)

    def _unary(self, op: UnaryOp, a: str) -> str:
        match op:
            case UnaryOp.Negate:
                return self.put(f"sub i32 0, {a}")
            case UnaryOp.BitNot:
                return self.put(f"xor i32 {a}, -1")
            case UnaryOp.LogicalNot:
                return self._bit(self.put(f"icmp eq i32 {a}, 0"))
            case UnaryOp.Clz:
                return self.put(f"call i32 @llvm.ctlz.i32(i32 {a}, i1 false)")
            case UnaryOp.Ctz:
                return self.put(f"call i32 @llvm.cttz.i32(i32 {a}, i1 false)")
            case UnaryOp.Popcount:
                return self.put(f"call i32 @llvm.ctpop.i32(i32 {a})")
            case _:
                raise _unsupported(self.op, op.value)

    def _bit(self, flag: str) -> str:
        return self.put(f"zext i1 {flag} to i32")


def _unsupported(op: Op, what: str) -> OpError:
    return OpError(
        f"{op.id} cannot be compiled for a sweep because of {what}.",
        fix="use Let, Assign, If, Select and integer operators over U32, and inline calls first.",
    )
