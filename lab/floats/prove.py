"""Shows that the soft floats are right, and records it beside their definitions.

Run as `python -m lab.floats.prove` with

    claims [PATTERN]       every claim a solver settles at once, its lemmas and mutants
    kissat PATH [PATTERN]  the long proofs, through the kissat program at PATH
    exhaustive PATTERN     every input (all pairs of a 16-bit binary op)
    hard COUNT PATTERN     COUNT hard cases against this processor's floats
    table                  the table of docs/numeric.md, from the records

PATTERN is part of an op id. What is already recorded for the present definition is not run again.
"""

from __future__ import annotations

import fcntl
import os
import platform
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.floats import records
from lab.floats.claims import Claim, expressible
from lab.floats.evidence_page import with_table
from lab.floats.lemmas import lemmas
from lab.floats.mutants import mutants
from lab.floats.solve import Answer, ask_bitwuzla, ask_kissat
from lab.floats.sweep import Sweep, exhaustive, hard
from vyre.numeric.soft import soft_ops

if TYPE_CHECKING:
    from collections.abc import Generator

    from lab.floats.records import Evidence
    from vyre.ir.op import Op

LIMIT = float(os.environ.get("PROVE_SECONDS", "60"))
HARD_FOR_ONE_SCRIPT = (".add", ".sub", ".mul", ".div", ".fma", ".sqrt")
EQUALS = "equals the IEEE theory for all inputs"


def known(op: Op, kind: str, claim: str, script: str = "") -> bool:
    """Whether the records hold this claim for the present definition and the present script."""
    record = records.load().get(op.id)
    if record is None or record["digest"] != records.digest(op):
        return False
    wanted = (kind, claim, records.script_digest(script) if script else None)
    return any((item["kind"], item["claim"], item.get("script")) == wanted for item in record["evidence"])


@contextmanager
def alone() -> Generator[None]:
    """Runs beside each other take turns at the records."""
    with open(Path(tempfile.gettempdir()) / "vyre-prove-floats.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def keep(op: Op, evidence: Evidence) -> None:
    with alone():
        found = records.load()
        records.add(found, op, evidence)
        records.save(found)


def proved(op: Op, kind: str, claim: str, script: str, answer: Answer) -> None:
    print(f"{op.id}: {claim}: {answer.verdict} in {answer.seconds:.1f} s by {answer.solver}", flush=True)
    if answer.verdict == "refuted":
        raise SystemExit(f"{op.id} is wrong on {answer.counterexample}")
    if answer.verdict == "proved":
        keep(
            op,
            {
                "kind": kind,
                "claim": claim,
                "script": records.script_digest(script),
                "by": answer.solver,
                "options": answer.options,
                "seconds": round(answer.seconds, 2),
            },
        )


def claims(op: Op) -> None:
    for name, script in lemmas(op).items():
        if not known(op, "lemma", name, script):
            proved(op, "lemma", name, script, ask_bitwuzla(script, time_limit=LIMIT))
    direct = expressible(op) and not op.id.endswith(HARD_FOR_ONE_SCRIPT)
    if direct and not known(op, "proved", EQUALS, script := Claim(op).script()):
        proved(op, "proved", EQUALS, script, ask_bitwuzla(script, time_limit=LIMIT))
    refute(op)


def refute(op: Op) -> None:
    """Every mutant must be caught: by the solver, or by hard cases where the theory has no BF16."""
    record = records.load().get(op.id)
    if record is not None and record["digest"] == records.digest(op) and record["refuted"]:
        return
    refuted: list[records.Refutation] = []
    for name, wrong in mutants(op):
        operands, by = counterexample(wrong)
        verdict = "refuted" if operands else "equal, as far as seen,"
        print(f"{op.id}: a version that {name}: {verdict} by {by}", flush=True)
        if operands:
            refuted.append({"mutant": name, "operands": operands, "by": by})
    with alone():
        found = records.load()
        record = found.get(op.id)
        if record is None or record["digest"] != records.digest(op):
            record = records.Record(digest=records.digest(op), evidence=[], refuted=[])
        found[op.id] = {**record, "refuted": refuted}
        records.save(found)


def counterexample(wrong: Op) -> tuple[list[int], str]:
    if expressible(wrong):
        answer = ask_bitwuzla(Claim(wrong).script(), time_limit=min(LIMIT, 20.0))
        if answer.verdict == "refuted":
            return [answer.counterexample.get(p.name, 0) for p in wrong.params], answer.solver
    unary = len(wrong.params) == 1
    sweep = exhaustive(wrong, part=(0, 64)) if unary else hard(wrong, 1 << 22)
    return list(sweep.first), sweep.kind


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def swept(op: Op, kind: str, claim: str, sweep: Sweep) -> None:
    rate = sweep.cases / sweep.seconds
    print(
        f"{op.id}: {claim}: {sweep.failures} of {sweep.cases} differ, {sweep.seconds:.1f} s, {rate:.2e}/s",
        flush=True,
    )
    if sweep.failures:
        raise SystemExit(f"{op.id} is wrong on {[hex(x) for x in sweep.first]}")
    keep(
        op,
        {
            "kind": kind,
            "claim": claim,
            "by": f"float instructions of {processor()}",
            "cases": sweep.cases,
            "seconds": round(sweep.seconds, 1),
        },
    )


def main(arguments: list[str]) -> None:
    match arguments:
        case ["claims", *rest]:
            for op in chosen(rest):
                claims(op)
        case ["kissat", path, *rest]:
            for op in chosen(rest):
                for name, script in lemmas(op).items():
                    if not known(op, "lemma", name, script):
                        answer = ask_kissat(script, path, options={"ABSTRACTION": 0}, time_limit=LIMIT)
                        proved(op, "lemma", name, script, answer)
                if lemmas(op) or not expressible(op):
                    continue
                if not known(op, "proved", EQUALS, script := Claim(op).script()):
                    answer = ask_kissat(script, path, options={"ABSTRACTION": 0}, time_limit=LIMIT)
                    proved(op, "proved", EQUALS, script, answer)
        case ["exhaustive", pattern]:
            claim = "equals the processor on every input"
            for op in chosen([pattern]):
                if not known(op, "exhaustive", claim):
                    swept(op, "exhaustive", claim, exhaustive(op))
        case ["hard", count, pattern]:
            for op in chosen([pattern]):
                claim = "equals the processor on hard cases of seed 1"
                swept(op, "witnessed", claim, hard(op, int(float(count)), seed=1))
        case ["table"]:
            page = Path(__file__).parents[2] / "docs" / "numeric.md"
            page.write_text(with_table(page.read_text()))
        case _:
            raise SystemExit(__doc__)


def chosen(patterns: list[str]) -> list[Op]:
    wanted = [p for pattern in patterns for p in pattern.split(",")]
    return [op for op in soft_ops() if not wanted or any(p in op.id for p in wanted)]


if __name__ == "__main__":
    main(sys.argv[1:])
