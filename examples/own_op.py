"""An op of one's own with its laws: one is proved for all inputs, a false one is refuted.

    python examples/own_op.py

`rotate_nibble` turns a word by four bits. It is defined once for kernels and once, independently, for the
proofs; solvers then decide its laws over all 2^32 words. A package offers such ops through the entry
points `vyre.ops` and `vyre.specs` (docs/adding.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import vyre
from vyre import Call, DataType, In, Out, u32
from vyre.conform.algebra.listing import render, results
from vyre.conform.registry.build import law1
from vyre.conform.spec.law import Bounded
from vyre.conform.spec.op import EquivalenceClass, ExpressionForm, OpSpec
from vyre.conform.spec.term import Equation
from vyre.ir.signature import OpSignature


@vyre.op(id="example.rotate_nibble")
def rotate_nibble(x: u32) -> u32:
    return (x << 4) | (x >> 28)


@vyre.kernel
def rotated(a: In[u32], out: Out[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = rotate_nibble(a[i])


def meaning(d: Any, x: Any) -> Any:
    """The same in other words: what moves up, plus what comes round."""
    return d.add(d.mul(x, d.const(16)), d.shr(x, d.const(28)))


def eight_times(f: Any, x: Any) -> Equation:
    found = x
    for _ in range(8):
        found = f(found)
    return Equation(found, x)


SPEC = OpSpec(
    "example.rotate_nibble",
    OpSignature((DataType.U32,), DataType.U32),
    meaning,
    ExpressionForm(lambda x: Call("example.rotate_nibble", x)),
    "Turns a word by four bits.",
    properties=(law1("eight turns are none", eight_times), Bounded(0, 0x7FFFFFFF)),
    classes=(EquivalenceClass("all", lambda d, x: d.const(1), lambda d, x: x),),
    boundaries=((0, 1, 0xF, 0xF0000000, 0xFFFFFFFF),),
)


def main() -> None:
    found = rotated(np.array([0x12345678, 0xF0000000], np.uint32))
    print([f"{word:#010x}" for word in found])
    proved, refuted = results([SPEC], lookup=lambda _: SPEC)
    print(render([proved, refuted]))
    if not proved.as_declared or refuted.counterexample is None:
        raise SystemExit("the solver did not decide as it should")
    (word,) = refuted.counterexample
    (given,) = rotated(np.array([word], np.uint32))
    print(f"the false law fails at {word:#010x}: the kernel gives {given:#010x}")


if __name__ == "__main__":
    main()
