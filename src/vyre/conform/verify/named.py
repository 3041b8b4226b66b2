"""One case by its permanent name.

primitive.math.div/boundary/17              an op on case 17 of a kind
primitive.math.div/inputs/0x5,0x0           an op on these operand words
primitive.math.add/Commutative/random/3     a law on case 3 of a kind
primitive.math.add/coverage/class zero      whether a class or boundary of an op meets a case
primitive.math.add/made/random/3            the inputs of case 3, made by the backend
primitive.math.add/laws/random/0-262143     these cases as one block, as a run has them
barrier/visibility/4, golden/ROW            a case of a stage
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.process.inspection import inspect
from vyre.conform.records.sides import sides
from vyre.conform.registry import lookup, spec
from vyre.conform.verify.bench import program_of
from vyre.conform.verify.blame import LATE, LAWS, failure_kind
from vyre.conform.verify.cases import kind_of, kinds
from vyre.conform.verify.confirm import once
from vyre.conform.verify.golden import stage as golden
from vyre.conform.verify.graph import PARITY, graph
from vyre.conform.verify.made import InputMaker, maker_program
from vyre.conform.verify.operations import TILE, columns, covers_classes, meeting, run_block
from vyre.errors import UnsupportedByBackend, VyreError
from vyre.semantics.domain import CONCRETE
from vyre.semantics.words import mask_of, to_bits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.verify.bench import Bench
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Check, Graph
    from vyre.conform.verify.stage import Outcome, Stage

INPUTS, COVERAGE, MADE = "inputs", "coverage", "made"


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case that was run alone: `status` is passed, failed or refused."""

    name: str
    status: str
    kind: str
    inputs: tuple[str, ...]
    expected: str
    actual: str
    program: str
    source: str
    law: str = ""
    """The equation of a law, whose right side is `expected` and whose left side is `actual`."""

    @property
    def failed(self) -> bool:
        return self.status == "failed"

    def render(self) -> str:
        lines = [f"{self.name}: {self.status}" + (f" ({self.kind})" if self.kind else "")]
        rows = [*(("input", text) for text in self.inputs), *([("law", self.law)] if self.law else [])]
        rows += [side for side in sides(self.expected, self.actual, law=bool(self.law)) if side[1]]
        label = max((len(name) for name, _ in rows), default=0)
        lines += [f"  {name:<{label}}  {text}" for name, text in rows]
        for title, text in (("program", self.program), ("generated source", self.source)):
            if text:
                lines += ["", f"{title}:", *(f"  {line}" for line in text.splitlines())]
        return "\n".join(lines)


def run_named(bench: Bench, name: str, plan: RunPlan, stages: Mapping[str, Stage]) -> CaseReport:
    """Runs the case of this name. Raises `VyreError` for a name that no case has."""
    head = name.partition("/")[0]
    if head in stages:
        return _of_stage(bench.backend, name, plan, stages[head])
    return _of_op(bench, name, plan)


def _of_stage(backend: Backend, name: str, plan: RunPlan, stage: Stage) -> CaseReport:
    if stage.name == "golden":
        row = golden.row_named(name.partition("/")[2])
        outcomes = golden.run_rows(backend, (row,)) if row is not None else []
    else:
        number = name.rpartition("/")[2]
        known = number.isdecimal() and int(number) < stage.count(plan)
        outcomes = [once(backend, stage, plan, int(number))] if known else []
    if not outcomes or outcomes[0].case != name:
        raise _unknown(name)
    return _report(outcomes[0])


def _report(o: Outcome) -> CaseReport:
    return CaseReport(o.case, o.status, o.kind, o.inputs, o.expected, o.actual, o.program, o.source)


def _unknown(name: str) -> VyreError:
    return VyreError(
        f"no case is called {name!r}.",
        fix="write op/kind/number, op/law/kind/number, op/kind/first-last, op/inputs/0x1,0x2, or a name"
        " from a report.",
    )


def _of_op(bench: Bench, name: str, plan: RunPlan) -> CaseReport:
    op, _, rest = name.partition("/")
    if rest.startswith(f"{COVERAGE}/"):
        return _covered(name, graph(spec(op), lookup), rest.partition("/")[2], plan)
    if rest.startswith(f"{MADE}/"):
        return _made(bench, name, graph(spec(op), lookup), plan)
    where, _, number = rest.rpartition("/")
    law, _, kind = where.rpartition("/")
    if not number or not kind:
        raise _unknown(name)
    found = graph(spec(op), lookup)
    if "-" in number and kind != INPUTS:
        return _of_range(bench, name, kind_of(found, kind, plan), number)
    checks = [c for c in found.checks if c.name == (law or PARITY) or law == LAWS]
    if not checks:
        raise VyreError(
            f"{op} has no law {law!r}.",
            fix=f"use one of {', '.join(dict.fromkeys(c.name for c in found.checks))}.",
        )
    words = _words(found, name, kind, number, plan)
    reports = [_check(bench, name, found, check, words) for check in checks]
    return next((r for r in reports if r.status != "passed"), reports[0])


def _covered(name: str, found: Graph, missing: str, plan: RunPlan) -> CaseReport:
    """Whether the cases of a run meet what is declared. Raises `VyreError` where it is declared no longer."""
    meets = meeting(found.spec, missing)
    if meets is None:
        raise VyreError(
            f"{found.spec.id} no longer declares the {missing}.", fix="declare it again: it is promised."
        )
    met = sum(
        int(np.count_nonzero(meets(kind.block(lo, min(TILE, kind.count - lo)))))
        for kind in kinds(found, plan)
        if covers_classes(kind) and kind.stream.words >= found.spec.words
        for lo in range(0, kind.count, TILE)
    )
    status, said = ("passed", f"{met:,} cases") if met else ("failed", "none")
    return CaseReport(name, status, "" if met else COVERAGE, (missing,), "at least one case", said, "", "")


def _made(bench: Bench, name: str, found: Graph, plan: RunPlan) -> CaseReport:
    """The tile of inputs around a case, as the backend makes them."""
    kind_name, _, number = name.split(f"/{MADE}/", 1)[1].partition("/")
    if not number.isdecimal():
        raise _unknown(name)
    kind, case = kind_of(found, kind_name, plan), int(number)
    start = case - case % TILE
    count = min(TILE, kind.count - start)
    if count <= case - start or not kind.stream.on_device:
        raise _unknown(name)
    program = maker_program(kind.stream).to_text()
    source = ""
    try:
        maker = InputMaker(bench, kind.stream, bench.memory())
        source = maker.source
        words = maker.block(start, count) or {}
        mistake = maker.mistake(start, words) if words else None
    except UnsupportedByBackend as refusal:
        return CaseReport(name, "refused", "", (), "", refusal.message, program, source)
    except Exception as error:  # a crash, a hang, or an exception of the backend
        text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
        return CaseReport(name, "failed", failure_kind(error), (), "its inputs", text, program, source)
    if mistake is None:
        return CaseReport(name, "passed", "", (), f"{count:,} inputs", "the same", program, source)
    where = (f"word {mistake.position} of case {mistake.case}",)
    return CaseReport(
        name, "failed", INPUTS, where, f"0x{mistake.wanted:X}", f"0x{mistake.found:X}", program, source
    )


def _of_range(bench: Bench, name: str, kind: Kind, numbers: str) -> CaseReport:
    """Cases LO to HI of a kind as one block, with every check, exactly as a run does it."""
    first, _, last = numbers.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < kind.count):
        raise _unknown(name)
    lo, hi = int(first), int(last) + 1
    record = run_block(bench, kind, lo, hi, bench.memory(), narrow=lambda: False, device_from=1)
    asked = (f"cases {lo:,} to {hi - 1:,} of {kind.name}, in one block",)
    program = program_of(kind.graph.spec).to_text()
    if record.refusal:
        return CaseReport(name, "refused", "", asked, "", record.refusal, program, "")
    if record.stop is not None:
        ended = record.stop
        return CaseReport(name, "failed", ended.kind, asked, "a result", ended.message, program, "")
    if record.made is not None:
        case, position, word, wanted, _ = record.made
        where = (f"word {position} of case {case}",)
        return CaseReport(name, "failed", INPUTS, where, f"0x{wanted:X}", f"0x{word:X}", program, "")
    if record.fails:
        number, count, case = record.fails[0]
        check = kind.graph.checks[number]
        actual = f"{count:,} cases differ, the first is {kind.name}/{case}"
        return CaseReport(name, "failed", "value", asked, f"{check.name} holds", actual, program, "")
    return CaseReport(name, "passed", "", asked, "all agree", "all agree", program, "")


def _words(found: Graph, name: str, kind: str, number: str, plan: RunPlan) -> tuple[int, ...]:
    try:
        if kind != INPUTS:
            return kind_of(found, kind, plan).case(int(number))
        given = tuple(int(part, 0) for part in number.split(","))
    except ValueError:
        raise _unknown(name) from None
    if not found.spec.words <= len(given) <= found.words or any(w >> 32 for w in given):
        raise VyreError(
            f"{name!r} has {len(given)} operand words.",
            fix=f"give {found.words} words below 2^32, lane 0 first.",
        )
    return (*given, *(0 for _ in range(found.words - len(given))))


def bits_of(found: Graph, check: Check, words: Sequence[int]) -> tuple[str, ...]:
    """The bits of every variable a check depends on."""
    shown: list[str] = []
    for variable in found.variables(check):
        lanes = [words[p] & mask_of(variable.type) for p in found.positions[variable]]
        shown.append(f"0x{to_bits(lanes):X}")
    return tuple(shown)


def _check(bench: Bench, name: str, found: Graph, check: Check, words: tuple[int, ...]) -> CaseReport:
    inputs = bits_of(found, check, words)
    program = source = ""
    try:
        compiled = bench.compiled(found.spec)
        program = compiled.program.to_text()
        refusal = bench.refused(found, check)
        if refusal is not None:
            raise refusal
        source = inspect(compiled.executable).source
        failed = bench.compare(found, [check], columns(words), bench.spare())[0] is not None
        left, right = bench.values(found, check, columns(words))
        bench.held.settle(LATE)
    except UnsupportedByBackend as refusal:
        return CaseReport(name, "refused", "", inputs, "", refusal.message, program, source)
    except Exception as error:  # a crash, a hang, or an exception of the backend
        text = error.message if isinstance(error, VyreError) else f"{type(error).__name__}: {error}"
        expected = _defined(found, words) if check.equation is None else "a result"
        return CaseReport(name, "failed", failure_kind(error), inputs, expected, text, program, source)
    status, kind = ("failed", "value" if check.equation is None else "law") if failed else ("passed", "")
    sign = {"=": "", "<=": "at most ", "<": "below "}[check.relation.value]
    law = "" if check.equation is None else str(check.equation)
    return CaseReport(name, status, kind, inputs, sign + hexes(right), hexes(left), program, source, law)


def _defined(found: Graph, words: tuple[int, ...]) -> str:
    operands = [words[p] & m for p, m in enumerate(found.spec.masks)]
    return hexes([w for result in found.spec.apply(CONCRETE, *operands) for w in result])


def hexes(words: Sequence[int]) -> str:
    return ", ".join(f"0x{w:X}" for w in words) or "nothing"
