"""Alternates: other ways to compute an op, which must give the bits of its definition on the backend.

Where an op's own instruction is right and the expression that stands for it is not (`a - -b` for a sum), an
optimiser has taken one for the other wrongly. Each alternate is run on all pairs of 8 bits, on all pairs of
the op's boundary values, and on as many uniform cases as the plan has for an op.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.generate.cases import of_words
from vyre.conform.registry import spec, specs
from vyre.conform.spec.program import OUT, WORKGROUP
from vyre.conform.verify.stage import Trial, TrialStage
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import InvocationId, Load, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.semantics.arrays import NUMPY
from vyre.semantics.words import word_count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.op import Alternate, OpSpec

    Words = NDArray[np.uint32]

MOST = 1 << 20
"""Uniform cases of an alternate, at most."""


def program(of: OpSpec, alternate: Alternate) -> Program:
    """The alternate on element `i` of buffers."""
    i = Var("i")
    reads = [BufferDecl.read(f"x{k}", k, t) for k, t in enumerate(of.signature.inputs)]
    out = BufferDecl.read_write(OUT, len(reads), of.signature.output)
    result = alternate.build(tuple(Load(b.name, i) for b in reads))
    body = (Let("i", InvocationId(0)), If(i < out.length, (Store(OUT, i, result),)))
    return Program((*reads, out), WORKGROUP, body)


@cache
def _inputs(op: str, seed: int, uniform: int) -> tuple[Words, ...]:
    """Operand words of every case: small ones, boundaries, uniform ones."""
    of = spec(op)
    small = of_words("exhaustive", of, of.masks, seed, bits=8)
    edges = of_words("boundary", of, of.masks, seed)
    parts = [small.block(0, 1 << 8 * of.words), edges.block(0, edges.length or 0)]
    parts += [of_words("random", of, of.masks, seed).block(0, uniform)] if uniform else []
    return tuple(np.concatenate([p[k] for p in parts]) for k in range(of.words))


def _trial(op: str, number: int, _turn: int, _seed: int, plan: RunPlan) -> Trial:
    of = spec(op)
    alternate = of.alternates[number]
    words = _inputs(op, plan.seed, min(plan.cases, MOST))
    count = len(words[0])
    ((expected,),) = of.apply(NUMPY, *words)

    def judge(found: Mapping[str, bytes]) -> tuple[tuple[str, ...], str, str] | None:
        got = np.frombuffer(found[OUT], np.uint32)
        wrong = np.flatnonzero(got != expected)
        if not len(wrong):
            return None
        at = int(wrong[0])
        operands = tuple(f"0x{int(w[at]):X}" for w in words)
        return operands, f"0x{int(expected[at]):X}", f"0x{int(got[at]):X}"

    buffers = {f"x{k}": w.tobytes() for k, w in enumerate(words)} | {OUT: b"\xa5" * (4 * count)}
    grid = (-(-count // WORKGROUP[0]), 1, 1)
    return Trial("", program(of, alternate), buffers, grid, judge, note=f"{op} as {alternate.name}")


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    """Alternates of ops on whole words; a subject is the op and the number of its alternate, from 1 on."""
    found: dict[str, Callable[[int, int, RunPlan], Trial]] = {}
    for of in specs():
        plain = all(word_count(t) == 1 and t.stride == 4 for t in (*of.signature.inputs, *of.outputs))
        for number in range(len(of.alternates)):
            assert plain, f"an alternate of {of.id}, whose values are not whole words"
            found[f"{of.id} {number + 1}"] = partial(_trial, of.id, number)
    return found


STAGE = TrialStage("alternates", _subjects(), each=1)
"""A case is named `alternates/OP NUMBER/PLACE`."""
