"""What a program calls, as LLVM functions that are inlined unless they are cold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.node import If
from vyre.ir.walk import every_node
from vyre.lower.llvm.affine import Ranges
from vyre.lower.llvm.layout import registers
from vyre.lower.llvm.statements import StatementEmitter
from vyre.lower.llvm.text import FunctionText
from vyre.lower.llvm.values import Kept
from vyre.lower.native_llvm import OWN_F32, definitions, own_f32

if TYPE_CHECKING:
    from vyre.lower.prepare import Function, Prepared


def called_functions(prepared: Prepared, called: set[str]) -> list[str]:
    """One definition for each native operation and each op that is called; `called` takes what they call
    of LLVM's own."""
    lines = definitions(prepared.natives, called)
    for function in prepared.functions:
        native = prepared.natives and function.name in OWN_F32
        lines += own_f32(function.name) if native else _definition(function, called)
    return lines


def _definition(function: Function, called: set[str]) -> list[str]:
    text = FunctionText(called)
    params = [f"p_{name}" for name in function.params]
    text.reserve(params)
    emitter = StatementEmitter(function.body, text, Ranges(function.body, False), fast=False)
    for name, param in zip(function.params, params, strict=True):
        emitter.places[name] = Kept((f"%{param}",))
    emitter.block(function.body.entry)
    emitter.forget()
    output = registers(function.body, function.output)[0]
    text.do(f"ret {output} {emitter.scalar(function.result)}")
    kinds = [registers(function.body, t)[0] for t in function.inputs]
    head = ", ".join(f"{kind} %{param}" for kind, param in zip(kinds, params, strict=True))
    name = f"{output} @{function.name}"
    return [f"define internal {name}({head}) {_attributes(function)} {{", *text.finish(), "}", ""]


def _attributes(function: Function) -> str:
    """Branches on integers mean a thousand steps and no vector: out of line they compile in half the time."""
    if function.cold:
        return f"noinline cold {_PURE}"
    large = not function.body.natives and any(isinstance(x, If) for x in every_node(function.body.entry))
    return f"noinline {_PURE}" if large else "alwaysinline nounwind"


_PURE = "nounwind willreturn memory(none)"
