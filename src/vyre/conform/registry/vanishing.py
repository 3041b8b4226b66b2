"""Gate 3 at work: an op is lowered as a call and as its own expression, and the two texts must be the same.

    overhead(specs)    the first spec whose call leaves something behind, and what; None where all vanish

A call in a program is one text in each of the four languages; the same program with the expression written
out by hand is another. They may differ in names and in nothing else. All specs go into one program, which
takes a fraction of the time; a program that differs is taken apart until the op is found. What was seen is
kept on disk under the digests of all of it and of the lowering itself.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.compose.registry import Registry, default_registry
from vyre.conform.registry.seen import kept
from vyre.conform.registry.twins import written_out
from vyre.conform.spec.op import ExpressionForm
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, Expr, LitU32, Var
from vyre.ir.node import Let, Node, Store
from vyre.ir.op import Op, Param
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.lower.languages import LANGUAGES
from vyre.lower.prepare import prepare
from vyre.lower.version import lowering_version
from vyre.lower.ways import DEFAULT_WAYS
from vyre.wire import byte_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec
    from vyre.lower.prepare import Function

SUBJECT = "gate.subject_"
"""The id of the op that a spec becomes, without its number."""

_WORDS = re.compile(r"[%@$]?[A-Za-z_][\w.]*")


def overhead(specs: Sequence[OpSpec], *, library: Registry | None = None) -> tuple[OpSpec, str] | None:
    """`library` has the ops that specs call; by default the installed ones."""
    composed = [s for s in specs if isinstance(s.form, ExpressionForm) and s.category == "A"]
    doubles = [s for s in composed if _is_double(s)]
    known = default_registry() if library is None else library
    for group in ([s for s in composed if s not in doubles], doubles):
        found = _of_group(group, known) if group else None
        if found is not None:
            return found
    return None


def _of_group(specs: Sequence[OpSpec], library: Registry) -> tuple[OpSpec, str] | None:
    try:
        called, plain, ops = _programs(specs, library)
        registry = library.extend(ops)
        results = Program((), (1, 1, 1), [Let("result", op.result) for op in ops if op.result is not None])
        parts = [*(byte_digest(p) for p in (called, plain, results)), lowering_version()]
        reason = kept(parts, lambda: _difference(called, plain, registry))
    except VyreError as error:
        reason = error.message.rstrip(".")
    if not reason:
        return None
    if len(specs) == 1:
        return specs[0], reason
    half = len(specs) // 2
    found = _of_group(specs[:half], library) or _of_group(specs[half:], library)
    assert found is not None, f"only together: {reason}"
    return found


def _is_double(spec: OpSpec) -> bool:
    return DataType.F64 in (*spec.signature.inputs, spec.signature.output)


def _programs(specs: Sequence[OpSpec], library: Registry) -> tuple[Program, Program, list[Op]]:
    """The program of calls, the one with everything written out, and the ops that the first calls."""
    types = sorted({t for s in specs for t in s.signature.inputs}, key=lambda t: t.value)
    outs = sorted({s.signature.output for s in specs}, key=lambda t: t.value)
    reads = {t: BufferDecl.read(f"in_{t.value}", k, t) for k, t in enumerate(types)}
    writes = {t: BufferDecl.read_write(f"out_{t.value}", len(types) + k, t) for k, t in enumerate(outs)}
    called: list[Node] = []
    plain: list[Node] = []
    ops: list[Op] = []
    for number, spec in enumerate(specs):
        assert isinstance(spec.form, ExpressionForm)
        names = [f"x{number}_{k}" for k in range(spec.arity)]
        loads = [
            Let(n, reads[t][LitU32(8 * number + k)])
            for k, (n, t) in enumerate(zip(names, spec.signature.inputs, strict=True))
        ]
        ops.append(_op(f"{SUBJECT}{number}", spec))
        out, place = writes[spec.signature.output], LitU32(number)
        operands: tuple[Expr, ...] = tuple(Var(n) for n in names)
        called += [*loads, Store(out.name, place, Call(ops[-1].id, operands))]
        before, value = written_out(spec.form.build(operands), library, f"t{number}_")
        plain += [*loads, *before, Store(out.name, place, value)]
    buffers = (*reads.values(), *writes.values())
    size = (1, 1, 1)
    return Program(buffers, size, called), Program(buffers, size, plain), ops


def _op(op_id: str, spec: OpSpec) -> Op:
    params = tuple(Param(f"p{k}", t) for k, t in enumerate(spec.signature.inputs))
    assert isinstance(spec.form, ExpressionForm)
    return Op(op_id, params, spec.signature.output, spec.form.build(tuple(Var(p.name) for p in params)))


def _difference(called: Program, plain: Program, registry: Registry) -> str:
    """Empty where the texts are the same in every language that has the types."""
    for name, language in LANGUAGES.items():
        (first, helpers), (second, others) = (_text(program, name, registry) for program in (called, plain))
        if first == second and helpers == others:
            continue
        if helpers != others:
            return f"its call needs other helper functions in {language.title}"
        texts = [_numbered(text) for text in (first, second)]
        if texts[0] != texts[1]:
            lines = zip(*(text.splitlines() for text in texts), strict=False)
            place = next((f"{a!r} where {b!r} was written" for a, b in lines if a != b), "more lines")
            return f"its call leaves something behind in {language.title}: {place}"
    return ""


def _text(program: Program, language: str, registry: Registry) -> tuple[str, tuple[Function, ...]]:
    """The text of the kernel, and the helper functions it calls, whose text would be megabytes."""
    try:
        prepared = prepare(program, registry=registry, ways=DEFAULT_WAYS[language])
        return LANGUAGES[language].emit(replace(prepared, functions=())).text, prepared.functions
    except UnsupportedByBackend as refusal:
        return f"refused: {refusal.message}", ()


def _numbered(text: str) -> str:
    """Every name replaced by a number, in the order of first use."""
    numbers: dict[str, str] = {}
    return _WORDS.sub(lambda m: numbers.setdefault(m[0], f"n{len(numbers)}"), text)
