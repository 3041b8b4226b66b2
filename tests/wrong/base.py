"""A right backend with places for one fault: in expressions, in statements, before a run and after it.

Everything here is constructed without arguments, so that a child process can.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.backends.cpu.backend import CpuBackend
from vyre.backends.protocol import BackendInfo
from vyre.backends.reference.backend import ReferenceBackend
from vyre.ir.expr import BinOp, Expr
from vyre.ir.program import Program
from vyre.ir.walk import expressions, transform, with_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.node import Node
    from vyre.ir.operators import BinaryOp


def binary(op: BinaryOp, expr: Expr) -> BinOp | None:
    return expr if isinstance(expr, BinOp) and expr.op is op else None


def applies(op: BinaryOp, program: Program) -> bool:
    """Whether the program applies this operator anywhere."""
    return any(binary(op, x) is not None for x in expressions(program.entry))


@cache
def processor() -> CpuBackend:
    return CpuBackend(threads=1)


class Right:
    """No fault at all. A fault overrides one of the methods, and `cpu` runs what comes out."""

    name = "right"

    def __init__(self) -> None:
        self.inner: Any = processor()

    def describe(self) -> BackendInfo:
        return BackendInfo(self.name, "0", "a processor with at most one fault")

    def compile(self, program: Program) -> Any:
        changed = self.changed(program)
        return Spoiled(self, changed, self.inner.compile(changed))

    def changed(self, program: Program) -> Program:
        return Program(program.buffers, program.workgroup_size, self.body(program.entry))

    def body(self, body: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            with_parts(n, tuple(transform(x, self.fault) for x in n.exprs), tuple(map(self.body, n.bodies)))
            for n in body
        )

    def fault(self, expr: Expr) -> Expr:
        return expr

    def before(self, program: Program, buffers: Mapping[str, memoryview]) -> None: ...

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None: ...


class Spoiled:
    """A compiled program with what its owner does before and after a run."""

    def __init__(self, owner: Right, program: Program, inner: Any) -> None:
        self.owner, self.program, self.compiled = owner, program, inner
        self.source = "the source of a broken backend"

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        self.owner.before(self.program, buffers)
        self.compiled.run(buffers, workgroups)
        self.owner.after(self.program, buffers)


class Assembled(Right):
    """Shows the assembly of what it compiles."""

    name = "assembled"

    def compile(self, program: Program) -> Any:
        made = super().compile(program)
        made.assembly = lambda: "the assembly of a broken backend"
        return made


class Posing(Right):
    """Passes for `cpu` itself, with all its abilities: certificates of several of these fit together."""

    name = "cpu"

    def describe(self) -> BackendInfo:
        return self.inner.describe()

    def compile(self, program: Program) -> Any:
        return self.inner.compile(self.changed(program))


class Interpreted(Right):
    """The same fault on the reference interpreter."""

    def __init__(self) -> None:
        self.inner = ReferenceBackend()

    def describe(self) -> BackendInfo:
        return self.inner.describe()
