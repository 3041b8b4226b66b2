"""Asks a solver about a script that has been written once: bitwuzla, or kissat on bitwuzla's CNF.

The answer to a script is `Unsat` where its claim holds, and `Sat` with the operands of a counterexample.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path

from vyre.semantics.solvers import UNCOUNTED, Answer, Attempt, Solved, solve, solver_version

Options = tuple[tuple[str, str], ...]

_PREFIX = "in_"


def ask_bitwuzla(script: str, *, seconds: float, options: Options = ()) -> Solved:
    """The answer of bitwuzla within so many seconds."""
    attempt = Attempt("bitwuzla", options, UNCOUNTED, seconds)
    return solve(script.replace("(check-sat)", ""), attempts=[attempt])


def operands(found: Solved) -> dict[str, int]:
    """The operands of a counterexample by name; one that does not matter is missing."""
    return {n.removeprefix(_PREFIX): v for n, v in found.model.items() if n.startswith(_PREFIX)}


def ask_kissat(script: str, kissat: str, *, seconds: float, options: Options = ()) -> Solved:
    """The answer of the kissat program on bitwuzla's CNF; a counterexample is not read back."""
    shown = subprocess.run([kissat, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        cnf = Path(folder) / "claim.cnf"
        # Bitwuzla writes the file before its own search, which is cut short.
        ask_bitwuzla(script, seconds=1.0, options=(*options, ("WRITE_CNF", str(cnf))))
        started = time.perf_counter()
        run = subprocess.run(
            [kissat, "-q", f"--time={int(seconds)}", str(cnf)], capture_output=True, text=True, check=False
        )
        took = time.perf_counter() - started
    answer = {10: Answer.Sat, 20: Answer.Unsat}.get(run.returncode, Answer.Unknown)
    version = f"{shown} on the CNF of bitwuzla {solver_version('bitwuzla')}"
    return Solved(answer, {}, Attempt("kissat", options), version, took)
