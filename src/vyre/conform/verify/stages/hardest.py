"""The hardest inputs of every correctly rounded function, all of them in every run.

A case is one function in one format: its whole list (`conform/oracle/truth/hardest.py`), which comes from a
search
that knows no definition of ours, through the backend, against results that MPFR and Arb have decided. The
program is the one that the function's other cases run, so nothing is compiled for it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.oracle.truth import hardest
from vyre.conform.registry import spec
from vyre.conform.spec.float_names import name_of
from vyre.conform.spec.program import application
from vyre.conform.verify.stage import Trial, TrialStage
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.conform.records.results import RunPlan

NOTE = "one of the inputs next to a midpoint between two floats"


def op_of(name: str) -> str:
    """The op id of a list: `float.f16.pow` for `f16.pow`."""
    kind, _, function = name.partition(".")
    return name_of(function, DataType(kind.upper()))


def trial(name: str, case: int, seed: int, plan: RunPlan) -> Trial:
    """All inputs of a list by one program."""
    found = spec(op_of(name))
    kernel, cases = application(found), hardest.load(name)
    (out,) = kernel.results
    words = np.uint16 if found.signature.output.bits == 16 else np.uint32

    def judge(buffers: Mapping[str, bytes]) -> tuple[tuple[str, ...], str, str] | None:
        got = np.frombuffer(buffers[out], words)
        wrong = np.flatnonzero(got != cases.results)
        if not wrong.size:
            return None
        k = int(wrong[0])
        given = tuple(f"0x{int(w[k]):X}" for w in cases.operands)
        more = f"; {wrong.size:,} of {cases.count:,} inputs differ"
        return given, f"0x{int(cases.results[k]):X}", f"0x{int(got[k]):X}{more}"

    given = {x.buffer: w.astype(words).tobytes() for x, w in zip(kernel.inputs, cases.operands, strict=True)}
    given[out] = bytes(cases.count * words().nbytes)
    groups = (-(-cases.count // kernel.program.workgroup_size[0]), 1, 1)
    return Trial("", kernel.program, given, groups, judge, plan.repeats, NOTE)


def _subjects() -> dict[str, Callable[[int, int, RunPlan], Trial]]:
    return {op_of(name): partial(trial, name) for name in hardest.index()}


STAGE = TrialStage("hardest", _subjects(), each=1)
