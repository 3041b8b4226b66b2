"""What became of the mutants, as tables: by kind, with survivors and their density by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.mutants.laws import Judged
    from lab.mutants.mutant import Fate


@dataclass(frozen=True, slots=True)
class Outcome:
    """A whole run: wrong backends, false laws, wrong definitions, broken checkers."""

    verdicts: Sequence[Fate]
    laws: Sequence[Judged]
    definitions: Sequence[tuple[str, bool]]
    checkers: Sequence[tuple[str, bool]]
    seconds: float

    @property
    def ok(self) -> bool:
        """Every promise was kept."""
        kept = all(v.as_promised for v in self.verdicts) and all(j.said != "unverified" for j in self.laws)
        return kept and all(done for _, done in (*self.definitions, *self.checkers))


def summary(run: Outcome) -> list[tuple[str, str]]:
    """The figures of a run, each with its name."""
    caught = sum(v.caught for v in run.verdicts)
    kinds = len({v.mutant.kind for v in run.verdicts})
    refuted = [j for j in run.laws if j.said == "refuted"]
    return [
        ("wrong backends", f"{len(run.verdicts)} of {kinds} kinds: {caught} caught, {_lost(run)} survive"),
        (
            "false laws",
            f"{len(refuted)} refuted by the solver, {sum(j.by_cases for j in refuted)} by cases too; "
            f"{sum(j.said == 'proved' for j in run.laws)} changes made another true law",
        ),
        ("wrong definitions", f"{sum(done for _, done in run.definitions)} of {len(run.definitions)} caught"),
        ("broken checkers", f"{sum(done for _, done in run.checkers)} of {len(run.checkers)} noticed"),
        ("time", f"{run.seconds:.0f} s"),
    ]


def _lost(run: Outcome) -> int:
    return sum(not v.caught for v in run.verdicts)


def by_kind(verdicts: Sequence[Fate]) -> list[tuple[str, str, int, int, str, str]]:
    """Kind, where it is planted, mutants, caught, the first of them and the case that found it."""
    rows: dict[str, list[Fate]] = {}
    for verdict in verdicts:
        rows.setdefault(verdict.mutant.kind, []).append(verdict)
    return [
        (
            kind,
            found[0].mutant.layer,
            len(found),
            sum(v.caught for v in found),
            found[0].mutant.witness,
            found[0].found or "none",
        )
        for kind, found in rows.items()
    ]


def survivors(verdicts: Sequence[Fate]) -> list[tuple[str, str, str, str]]:
    """Name, density, witness, and whether finding it was promised."""
    return [
        (
            v.mutant.name,
            "unknown" if v.mutant.density is None else f"{v.mutant.density:.1e}",
            v.mutant.witness,
            "NOT AS PROMISED" if v.mutant.promised else "beyond what cases can find",
        )
        for v in verdicts
        if not v.caught
    ]


def markdown(run: Outcome) -> str:
    """The page `docs/mutants.md`, without the time, which depends on the machine."""
    lines = [*_HEAD, *(f"- {name}: {text}." for name, text in summary(run) if name != "time"), ""]
    lines += ["## Wrong backends by kind", ""]
    lines += table(
        ("kind", "in", "mutants", "caught", "witness of the first", "found by"), by_kind(run.verdicts)
    )
    lines += ["", "## Survivors", "", *_SURVIVORS, ""]
    lines += table(("mutant", "density", "witness", ""), survivors(run.verdicts))
    lines += ["", "## Broken checkers", ""]
    lines += table(
        ("checker made to accept", "noticed"), [(n, "yes" if d else "NO") for n, d in run.checkers]
    )
    return "\n".join(lines) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """The lines of a table."""
    made = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return made + [f"| {' | '.join(_cell(c) for c in row)} |" for row in rows]


def _cell(value: object) -> str:
    text = str(value).replace("|", "\\|")
    return f"`{text}`" if "/" in text and " " not in text.partition("/")[0] else text


_HEAD = (
    "# Mutants: how we know that the checks work",
    "",
    "Made by `python -m lab.mutants.exam --write`; do not edit.",
    "",
    "A mutant is a right backend made wrong in one way: its programs are changed before it compiles them,",
    "the code it emits is, or its buffers are around a run. Each has a witness, the name of a case that",
    "fails on it and passes on the right backend (`vyre certify BACKEND --case NAME` runs one). `truth/…` is",
    "an input of `vyre certify --exhaustive`, `probe/…` a row of `vyre probe`, `canaries/…` what a device is",
    "asked when it is opened. The checks of a run are let loose on the mutant, and must find it. Laws,",
    "definitions and the checkers are mutated as well.",
    "",
)
_SURVIVORS = (
    "A fault at one input in 2^64 cannot be sampled, only proved; a density of 10^-9 takes 5·10^9 cases of",
    "an op (`--cases 5000000000`). Neither is claimed: a certificate says the density its cases would find.",
)
