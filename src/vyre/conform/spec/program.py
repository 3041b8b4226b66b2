"""Terms as programs, one case per invocation.

    kernel(term, lookup)    the whole side in one program
    stages(term, lookup)    one program per application, results handed on in buffers
    application(spec)       one op, for comparing it with its definition

A compiler knows that `~~a` is `a` and that `a * 1` is `a`. So a kernel reads every use of a variable from
a buffer of its own (the host binds the same data) and every constant from a buffer of one element; and
`stages` leaves a compiler nothing but the one operation. Each `Input` says what a buffer must hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.spec.evaluate import type_of
from vyre.conform.spec.op import AtomicForm, ExpressionForm, LanesForm, LoadForm, StoreForm
from vyre.conform.spec.term import Apply, Constant, Variable
from vyre.errors import OpError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Atomic, Expr, InvocationId, LitU32, Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from vyre.conform.spec.evaluate import Lookup
    from vyre.conform.spec.op import OpSpec
    from vyre.conform.spec.term import Term

WORKGROUP = (256, 1, 1)
OUT = "out"
CELLS = "cells"


@dataclass(frozen=True, slots=True)
class Result:
    """A result buffer of an earlier stage."""

    stage: int
    buffer: str


Source = Variable | Constant | Result


@dataclass(frozen=True, slots=True)
class Input:
    """A buffer the host fills: a variable's values, one constant (one element), or an earlier result."""

    buffer: str
    type: DataType
    source: Source


@dataclass(frozen=True, slots=True)
class OpKernel:
    """A program, what goes in, and the buffers of its results, in the order of the op's outputs."""

    program: Program
    inputs: tuple[Input, ...]
    results: tuple[str, ...] = (OUT,)


def kernel(term: Term, lookup: Lookup) -> OpKernel:
    """One side of an equation as one program. Every op in it must be an expression."""
    inputs: list[Input] = []
    expr = _expression(term, lookup, inputs)
    return _kernel(expr, inputs, type_of(term, lookup))


def _expression(term: Term, lookup: Lookup, inputs: list[Input]) -> Expr:
    match term:
        case Variable(type=of) | Constant(type=of):
            return _read(of, term, inputs)
        case Apply(op=op, args=args):
            form = lookup(op).form
            if not isinstance(form, ExpressionForm):
                raise OpError(
                    f"{op} touches memory and cannot stand inside an expression.",
                    fix="use stages(), which gives it a program of its own.",
                )
            return form.build(tuple(_expression(arg, lookup, inputs) for arg in args))


def _read(of: DataType, source: Source, inputs: list[Input]) -> Expr:
    name = f"x{len(inputs)}"
    inputs.append(Input(name, of, source))
    return Load(name, LitU32(0) if isinstance(source, Constant) else Var("i"))


def _kernel(expr: Expr, inputs: list[Input], output: DataType) -> OpKernel:
    buffers = [_declare(k, x) for k, x in enumerate(inputs)]
    buffers.append(BufferDecl.read_write(OUT, len(buffers), output))
    return OpKernel(_guarded(buffers, (Store(OUT, Var("i"), expr),)), tuple(inputs))


def _declare(binding: int, found: Input) -> BufferDecl:
    count = 1 if isinstance(found.source, Constant) else 0
    return BufferDecl.read(found.buffer, binding, found.type, count=count)


def _guarded(buffers: list[BufferDecl], body: tuple[Store, ...]) -> Program:
    i = Var("i")
    entry = (Let("i", InvocationId(0)), If(i < buffers[-1].length, body))
    return Program(tuple(buffers), WORKGROUP, entry)


def application(spec: OpSpec) -> OpKernel:
    """One application of the op: operand k is variable k. Memory ops have programs of their own."""
    sources = tuple(Variable(k, t) for k, t in enumerate(spec.signature.inputs))
    return _apply(spec, sources)


def _apply(spec: OpSpec, sources: tuple[Source, ...]) -> OpKernel:
    match spec.form:
        case ExpressionForm(build=build):
            inputs: list[Input] = []
            reads = tuple(_read(t, s, inputs) for t, s in zip(spec.signature.inputs, sources, strict=True))
            return _kernel(build(reads), inputs, spec.signature.output)
        case AtomicForm():
            return _atomic(spec.form, sources)
        case LoadForm() | StoreForm():
            raise OpError(
                f"{spec.id} is about whole buffers.", fix="use memory_program(), which has one to address."
            )
        case LanesForm():
            raise OpError(
                f"{spec.id} takes the invocations of a subgroup.",
                fix="run the stage `subgroups`, which has them.",
            )


def _atomic(form: AtomicForm, sources: tuple[Source, ...]) -> OpKernel:
    """Invocation i works on cell i, so the cell's history is one operation long."""
    u32 = DataType.U32
    old, *rest = sources
    inputs: list[Input] = []
    operands = [_read(u32, source, inputs) for source in rest]
    cells = BufferDecl.read_write(CELLS, len(inputs), u32)
    buffers = [*(_declare(k, x) for k, x in enumerate(inputs)), cells]
    buffers.append(BufferDecl.read_write(OUT, len(buffers), u32))
    returned = Atomic(form.op, CELLS, Var("i"), *operands)
    program = _guarded(buffers, (Store(OUT, Var("i"), returned),))
    return OpKernel(program, (Input(CELLS, u32, old), *inputs), (CELLS, OUT))


def stages(term: Term, lookup: Lookup) -> tuple[OpKernel, ...]:
    """One program per application, in an order in which they can run; equal applications share one.

    The value of the term is the last stage's result. A bare variable or constant has no stage: the host
    holds its value already.
    """
    kernels: list[OpKernel] = []
    _stage(term, lookup, kernels, {})
    return tuple(kernels)


def _stage(term: Term, lookup: Lookup, kernels: list[OpKernel], done: dict[Term, int]) -> Source:
    if not isinstance(term, Apply):
        return term
    spec = lookup(term.op)
    whole = Apply(term.op, term.args)
    if whole not in done:
        made = _apply(spec, tuple(_stage(arg, lookup, kernels, done) for arg in term.args))
        done[whole] = len(kernels)
        kernels.append(made)
    return Result(done[whole], kernels[done[whole]].results[term.result])


def memory_program(spec: OpSpec) -> Program:
    """Loads and stores at indices that may be out of bounds.

    Load: `out[i] = memory[index[i]]`. Store: `memory[index[i]] = value[i]`, where the indices in bounds
    must differ. `memory` is sized by the host.
    """
    i = Var("i")
    index = BufferDecl.read("index", 0, DataType.U32)
    match spec.form:
        case LoadForm(element=element):
            memory = BufferDecl.read("memory", 1, element)
            out = BufferDecl.read_write(OUT, 2, element.loaded)
            return _guarded([index, memory, out], (Store(OUT, i, Load("memory", Load("index", i))),))
        case StoreForm(element=element):
            memory = BufferDecl.read_write("memory", 1, element)
            value = BufferDecl.read("value", 2, element.loaded)
            return _guarded([index, memory, value], (Store("memory", Load("index", i), Load("value", i)),))
        case _:
            raise OpError(f"{spec.id} addresses no memory.", fix="use application() for it.")
