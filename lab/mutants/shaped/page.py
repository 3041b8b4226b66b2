"""The part of `docs/mutants.md` about shaped mutants: tables by fault and by feature, and survivors."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lab.mutants.page import table
from lab.mutants.shaped.claims import claimed, envelope_of_all_rows
from lab.mutants.shaped.roster import SETS, members
from vyre.backends.protocol import BackendLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.mutants.shaped.certified import CertifyFate
    from lab.mutants.shaped.fault import ShapedMutant
    from lab.mutants.shaped.judge import ShapedFate

    Run = Sequence[tuple[ShapedMutant, ShapedFate]]

HEAD = "## Shaped mutants"


class Figures(NamedTuple):
    mutants: int
    caught: int
    inside: int
    inside_caught: int

    def __str__(self) -> str:
        share = f" ({100 * self.inside_caught / self.inside:.1f} %)" if self.inside else ""
        return (
            f"{self.mutants} shaped mutants, {self.caught} caught; "
            f"{self.inside} inside the envelope, {self.inside_caught} of them caught{share}; "
            f"{self.mutants - self.inside} outside of it, {self.caught - self.inside_caught} of them caught"
        )


def is_inside(mutant: ShapedMutant) -> bool:
    return claimed(envelope_of_all_rows(BackendLimits()), mutant)


def summary(run: Run) -> Figures:
    within = [fate for mutant, fate in run if is_inside(mutant)]
    return Figures(
        len(run), sum(bool(f.found) for _, f in run), len(within), sum(bool(f.found) for f in within)
    )


def of_set(run: Run, name: str) -> Run:
    names = {m.name for m in members(name)}
    return [(m, f) for m, f in run if m.name in names]


def part(run: Run, total: int, certified: Sequence[CertifyFate] = ()) -> str:
    lines = [HEAD, "", *_TEXT, ""]
    if len(run) < total:
        lines += [f"{total - len(run)} of {total} have not been run.", ""]
    lines += table(
        ("written by", "mutants", "caught", "inside the envelope", "of them caught"),
        [_figures(by, some) for name, by in SETS.items() if (some := of_set(run, name))],
    )
    if certified:
        lines += ["", "### By the whole of `vyre certify`", "", *_CERTIFIED, ""]
        rows = [(f.name, " ".join(f.levels) or "none", f.first, f"{f.seconds:.0f}") for f in certified]
        lines += table(("mutant", "levels", "first failure", "seconds"), rows)
    lines += ["", "### By what the trigger is about", ""]
    lines += table(
        ("quantity", "mutants", "caught", "inside", "of them caught", "seconds"), _by_quantity(run)
    )
    lines += ["", "### By fault", ""]
    lines += table(("fault", "mutants", "caught", "inside", "of them caught"), _by_fault(run))
    for title, within in (("inside the envelope", True), ("outside of it", False)):
        lines += ["", f"### Survivors {title}", ""]
        rows = [_survivor(m, f) for m, f in run if not f.found and is_inside(m) is within]
        lines += table(("mutant", "why"), rows) if rows else ["None."]
    return "\n".join(lines) + "\n"


def written(page: str, made: str) -> str:
    """The page with this part in place of the one that it has, or at its end."""
    before = page.partition(f"\n{HEAD}\n")[0].rstrip("\n")
    return f"{before}\n\n{made}"


def kept(page: str, before: str) -> str:
    """A page made anew, with the part about shaped mutants that it had before."""
    _, head, rest = before.partition(f"\n{HEAD}\n")
    return written(page, f"{head.lstrip()}{rest}") if head else page


def _figures(name: str, run: Run) -> tuple[object, ...]:
    return (name, *summary(run))


def _by_quantity(run: Run) -> list[tuple[object, ...]]:
    groups: dict[str, list[tuple[ShapedMutant, ShapedFate]]] = {}
    for mutant, fate in run:
        for test in mutant.trigger.tests:
            groups.setdefault(test.quantity, []).append((mutant, fate))
    return [
        (name, *summary(some), f"{sum(f.seconds for _, f in some):.0f}")
        for name, some in sorted(groups.items())
    ]


def _by_fault(run: Run) -> list[tuple[object, ...]]:
    groups: dict[str, list[tuple[ShapedMutant, ShapedFate]]] = {}
    for mutant, fate in run:
        groups.setdefault(mutant.fault.name, []).append((mutant, fate))
    return [(name, *summary(some)) for name, some in groups.items()]


def _survivor(mutant: ShapedMutant, fate: ShapedFate) -> tuple[str, str]:
    if fate.struck:
        return mutant.name, f"struck in {fate.struck} rows, and no output of them changed"
    if not fate.whole:
        return mutant.name, "no row has it by the table; the others were not run"
    return mutant.name, "no row has what its trigger asks for"


_CERTIFIED = (
    "All stages of the default plan, not one alone. A run is ended as soon as neither track can be granted",
    "L3 any more: by a row of `shapes` that failed, or by an operation of each track.",
)
_TEXT = (
    "Made by `python -m lab.mutants.shaped.exam --write`; do not edit this part either.",
    "",
    "A shaped mutant is right until a dispatch has a certain shape: a fault, and a trigger of one or two",
    "tests on what the exam reads from the program, its memory and grid by itself. Each is run through the",
    "stage `shapes` alone on `cpu`, up to its first failure. It is inside the envelope",
    "([envelope.md](envelope.md)) where a certificate claims that it would have been met; what the fault",
    "needs of a program counts as a condition. Mutants of a fresh reader were written without having seen",
    "which shapes are tried.",
    "",
    "The fresh reader's set is not unseen any more: of a first run of 97 of them six survived inside,",
    "and what the rows compute was changed after that for whole kinds of faults. One of its faults made",
    "invalid programs and was mended, and the needs of two of ours were tightened. Rows that the table",
    "does not name for a trigger were not run, so mutants outside may be caught by more than is said",
    "here.",
)
