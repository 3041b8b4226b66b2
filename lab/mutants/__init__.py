"""Mutation: wrong backends, false laws, wrong definitions and broken checkers, made on purpose.

    from lab.mutants import hunt, mutants
    verdicts = [hunt(mutant, backend) for mutant in mutants()]

Whoever writes a checker uses these to see it fail; whoever writes a backend, to see what a run would find.
`Mutated` makes one more wrong backend out of any, `mutations` changes a single place of a program.
"""

from lab.mutants.backend import Mutated
from lab.mutants.catalogue import mutants, one_of_each_kind
from lab.mutants.hunt import hunt
from lab.mutants.mutant import Fate, Mutant
from lab.mutants.rewrite import rewrite
from lab.mutants.run import run_all, run_backends
from lab.mutants.sites import Mutation, mutations

__all__ = [
    "Fate",
    "Mutant",
    "Mutated",
    "Mutation",
    "hunt",
    "mutants",
    "mutations",
    "one_of_each_kind",
    "rewrite",
    "run_all",
    "run_backends",
]
