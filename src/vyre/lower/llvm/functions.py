"""The soft ops that a program calls, as LLVM functions that are always inlined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.lower.llvm.affine import Ranges
from vyre.lower.llvm.statements import StatementEmitter
from vyre.lower.llvm.text import FunctionText
from vyre.lower.llvm.values import Held

if TYPE_CHECKING:
    from vyre.lower.prepare import Function, Prepared


def soft_functions(prepared: Prepared) -> list[str]:
    """One definition for each soft op, from i32 bits to i32 bits."""
    return [line for function in prepared.functions for line in _definition(function)]


def _definition(function: Function) -> list[str]:
    text = FunctionText()
    params = [f"p_{name}" for name in function.params]
    text.reserve(params)
    emitter = StatementEmitter(function.body, text, Ranges(function.body, False), fast=False)
    for name, param in zip(function.params, params, strict=True):
        emitter.places[name] = Held((f"%{param}",))
    emitter.block(function.body.entry)
    emitter.forget()
    text.do(f"ret i32 {emitter.scalar(function.result)}")
    head = ", ".join(f"i32 %{param}" for param in params)
    return [f"define internal i32 @{function.name}({head}) alwaysinline nounwind {{", *text.finish(), "}", ""]
