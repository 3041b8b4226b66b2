"""That guarded operations meet nothing but zeros and normal numbers within their ranges, for all operands.

    script(op)    satisfiable by operands inside the guard of `op` where one of them is subnormal, infinite or
                  NaN, or where the result is, rounded in some direction

The guard is read off the definition in `vyre.numeric.guarded`. Directions stand for the exact result: one
that is tiny rounds to a subnormal number upward or downward. Where no direction gives one, it makes no
difference whether a device looks for tiny results before or after it rounds, and whether it flushes them.

Run as `python -m lab.floats.ranges`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.floats.claims import decoded, sort
from lab.floats.solve import ask_bitwuzla, operands
from vyre.ir.expr import Call, Expr, Var
from vyre.ir.float_formats import F32
from vyre.ir.node import Let
from vyre.ir.walk import transform
from vyre.numeric.guarded import OPAQUE, guarded_ops
from vyre.semantics.solvers import Answer
from vyre.semantics.spellings import PRELUDE
from vyre.semantics.terms import SORT, word
from vyre.semantics.translate import definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.ir.op import Op

DIRECTIONS = ("RNE", "RTP", "RTN", "RTZ")


def guard(op: Op) -> Op:
    """Whether the op leaves its operands to the soft way, as an op of its own."""
    steps = [n for n in op.body if isinstance(n, Let) and n.name != "result"]
    body = tuple(Let(n.name, transform(n.value, _seen_through)) for n in steps)
    return replace(op, id=f"{op.id}.outside", body=body, result=Var(steps[-1].name))


def _seen_through(expr: Expr) -> Expr:
    return expr.args[0] if isinstance(expr, Call) and expr.op_id == OPAQUE else expr


def script(op: Op, directions: Sequence[str] = DIRECTIONS) -> str:
    """`unsat` where the claim holds."""
    lines = [PRELUDE]
    for p in op.params:
        lines.append(f"(declare-const in_{p.name} {SORT})")
        lines.append(f"(define-fun {p.name} () {SORT} in_{p.name})")
        lines.append(f"(define-fun fp_{p.name} () {sort(F32)} {decoded(F32, f'in_{p.name}')})")
    lines.append(definitions(guard(op)))
    name, given = op.id.rpartition(".")[2], " ".join(f"fp_{p.name}" for p in op.params)
    results = [f"(fp.{name} {direction} {given})" for direction in directions]
    plain = " ".join(_plain(x) for x in (*(f"fp_{p.name}" for p in op.params), *results))
    lines.append(f"(assert (= result {word(0)}))\n(assert (not (and {plain})))\n(check-sat)\n")
    return "\n".join(lines)


def _plain(value: str) -> str:
    return f"(or (fp.isZero {value}) (fp.isNormal {value}))"


def main(seconds: float = 600.0) -> int:
    failed = 0
    for op in guarded_ops():
        found = ask_bitwuzla(script(op), seconds=seconds)
        by = f"{found.attempt.solver} {found.version}"
        print(f"{op.id}: {found.answer.value} in {found.seconds:.1f} s by {by} {operands(found)}", flush=True)
        failed += found.answer is not Answer.Unsat
    return failed


if __name__ == "__main__":
    sys.exit(main())
