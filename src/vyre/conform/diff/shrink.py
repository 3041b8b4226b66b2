"""Shrinking a failing program: the smallest one that still fails, found by deleting and simplifying.

Deterministic: the same program and the same question give the same result. Every candidate that is asked
about is valid, free of races, and ends soon.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.conform.diff.reductions import (
    bound_assignments,
    fewer_buffers,
    shorter_inputs,
    simpler_expressions,
    smaller_grids,
    substituted_lets,
    unwrapped_statements,
    without_statements,
)
from vyre.errors import VyreError
from vyre.ir.blocks import rewrite_blocks
from vyre.ir.expr import Call, Var
from vyre.ir.limits import MAX_NESTING
from vyre.ir.node import Assign, Let, Loop, Node
from vyre.ir.program import Program
from vyre.ir.walk import expressions, transform, with_parts
from vyre.reference import run
from vyre.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vyre.conform.generate.programs import GeneratedProgram

MAX_QUESTIONS = 4_000
"""How often `still_fails` is asked at most; each question may compile a kernel."""

STEPS = 2_000_000
"""Steps of the reference that a candidate may take."""
_PASSES: tuple[Callable[[GeneratedProgram], Iterator[GeneratedProgram]], ...] = (
    without_statements,
    unwrapped_statements,
    smaller_grids,
    simpler_expressions,
    bound_assignments,
    substituted_lets,
    fewer_buffers,
    shorter_inputs,
)


def shrink_program(
    generated: GeneratedProgram,
    still_fails: Callable[[GeneratedProgram], bool],
    *,
    questions: int = MAX_QUESTIONS,
    candidates: int | None = None,
    steps: int = STEPS,
) -> GeneratedProgram:
    """A program no larger than `generated` for which `still_fails` holds.

    At most so many `candidates` are looked at, each of which takes the reference `steps` at most: together
    with `questions` a bound on the time.
    Raises `VyreError` when it does not hold for `generated` itself: there is nothing to shrink then.
    """
    if not still_fails(generated):
        raise VyreError(
            f"program {generated.seed} does not fail.", fix="pass the program and the question that failed."
        )
    shrinker = _Shrinker(generated, still_fails, questions, candidates, steps)
    shrinker.try_inlined()
    while shrinker.sweep():
        pass
    return shrinker.best


class _Shrinker:
    def __init__(
        self,
        first: GeneratedProgram,
        still_fails: Callable[[GeneratedProgram], bool],
        questions: int,
        candidates: int | None,
        steps: int,
    ) -> None:
        self.best = first
        self._still_fails = still_fails
        self._left = questions
        self._candidates = candidates
        self._steps = steps
        self._seen: set[tuple[Program, tuple[int, int, int], tuple[tuple[str, bytes], ...]]] = set()

    def try_inlined(self) -> None:
        """Without calls there is more to cut, unless the call is what fails."""
        program = self.best.program
        if any(isinstance(x, Call) for x in expressions(program.entry)):
            flat = inline(program)
            if all(node.nesting <= MAX_NESTING for node in flat.entry):
                self._accept(replace(self.best, program=_plain_names(flat)))

    def sweep(self) -> bool:
        """One round of every pass; False when none helped."""
        before = self.best
        for reduce in _PASSES:
            while self._improve(reduce):
                pass
        return self.best is not before

    def _improve(self, reduce: Callable[[GeneratedProgram], Iterator[GeneratedProgram]]) -> bool:
        for candidate in reduce(self.best):
            if self._left <= 0 or self._candidates == 0:
                return False
            if self._accept(candidate):
                return True
        return False

    def _accept(self, candidate: GeneratedProgram) -> bool:
        key = (candidate.program, candidate.workgroups, tuple(sorted(candidate.inputs.items())))
        if key in self._seen:
            return False
        self._seen.add(key)
        if self._candidates is not None:
            self._candidates -= 1
        if not is_sound(candidate, steps=self._steps):
            return False
        self._left -= 1
        if not self._still_fails(candidate):
            return False
        self.best = candidate
        return True


def is_sound(generated: GeneratedProgram, *, steps: int = STEPS) -> bool:
    """Valid, without races or divergent barriers, and within a small step budget."""
    if validate(generated.program):
        return False
    try:
        report = run(
            generated.program,
            generated.inputs,
            generated.workgroups,
            check=False,
            detect=True,
            step_budget=steps,
        ).report
    except VyreError:
        return False
    return not report.races and not report.divergent_barriers


def _plain_names(program: Program) -> Program:
    """Inlined names without the reserved prefix, so that the program can be written down and validated."""

    def plain(name: str) -> str:
        return name.lstrip("_") or "v"

    def enter(node: Node, _: None, __: list[Node]) -> tuple[Node, None]:
        exprs = tuple(
            transform(x, lambda e: Var(plain(e.name)) if isinstance(e, Var) else e) for x in node.exprs
        )
        match node:
            case Let(name=name):
                return Let(plain(name), exprs[0]), None
            case Assign(name=name):
                return Assign(plain(name), exprs[0]), None
            case Loop(var=var, body=body):
                return Loop(plain(var), exprs[0], exprs[1], body), None
            case _:
                return with_parts(node, exprs, node.bodies), None

    entry = rewrite_blocks(program.entry, enter, None)
    return Program(program.buffers, program.workgroup_size, entry)
