"""Asks a solver about a claim. Needs bitwuzla; the long proofs hand its CNF to kissat."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

_MODEL = re.compile(r"in_([abc])$")


@dataclass(frozen=True, slots=True)
class Answer:
    """`proved`, `refuted` with the operands of a counterexample, or `unknown`."""

    verdict: str
    seconds: float
    solver: str
    options: dict[str, int | str] = field(default_factory=dict[str, "int | str"])
    counterexample: dict[str, int] = field(default_factory=dict[str, int])


def ask_bitwuzla(
    script: str, *, options: dict[str, int | str] | None = None, time_limit: float | None = None
) -> Answer:
    """The answer of bitwuzla within `time_limit` seconds."""
    bitwuzla: Any = import_module("bitwuzla")
    given = dict(options or {})
    settings: Any = bitwuzla.Options()
    settings.set(bitwuzla.Option.PRODUCE_MODELS, True)
    for name, value in given.items():
        settings.set(getattr(bitwuzla.Option, name), value)
    if time_limit is not None:
        settings.set(bitwuzla.Option.TIME_LIMIT_PER, int(time_limit * 1000))
    manager: Any = bitwuzla.TermManager()
    parser: Any = bitwuzla.Parser(manager, settings)
    started = time.monotonic()
    parser.parse(script.replace("(check-sat)", ""), True, False)
    solver: Any = parser.bitwuzla()
    result = solver.check_sat()
    seconds = time.monotonic() - started
    name = f"bitwuzla {_version()}"
    if result == bitwuzla.Result.UNSAT:
        return Answer("proved", seconds, name, given)
    if result != bitwuzla.Result.SAT:
        return Answer("unknown", seconds, name, given)
    model: dict[str, int] = {}
    for term in parser.get_declared_funs():
        if found := _MODEL.search(str(term.symbol())):
            model[found[1]] = int(solver.get_value(term).value(10))
    return Answer("refuted", seconds, name, given, model)


def _version() -> str:
    return version("bitwuzla")


def write_cnf(script: str, path: Path, *, options: dict[str, int | str] | None = None) -> None:
    """The claim as CNF: bitwuzla blasts it and writes the file before its own search, which is cut short."""
    ask_bitwuzla(script, options={**(options or {}), "WRITE_CNF": str(path)}, time_limit=1.0)


def ask_kissat(
    script: str, kissat: str, *, options: dict[str, int | str] | None = None, time_limit: float = 600.0
) -> Answer:
    """The answer of the kissat program on bitwuzla's CNF; a counterexample is not read back."""
    shown = subprocess.run([kissat, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        cnf = Path(folder) / "claim.cnf"
        write_cnf(script, cnf, options=options)
        started = time.monotonic()
        run = subprocess.run(
            [kissat, "-q", f"--time={int(time_limit)}", str(cnf)], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - started
    verdict = {10: "refuted", 20: "proved"}.get(run.returncode, "unknown")
    solver = f"kissat {shown} on the CNF of bitwuzla {_version()}"
    return Answer(verdict, seconds, solver, dict(options or {}))
