"""Mutation: wrong backends, false laws, wrong definitions and broken checkers, made on purpose.

    from vyre.conform.mutate import hunt, mutants
    verdicts = [hunt(mutant, backend) for mutant in mutants()]

Whoever writes a checker uses these to see it fail; whoever writes a backend, to see what a run would find.
`Mutated` makes one more wrong backend out of any, `mutations` changes a single place of a program.
"""

from vyre.conform.mutate.backend import Mutated
from vyre.conform.mutate.catalogue import mutants, one_of_each_kind
from vyre.conform.mutate.hunt import hunt
from vyre.conform.mutate.mutant import Mutant, Verdict
from vyre.conform.mutate.rewrite import rewrite
from vyre.conform.mutate.run import run_all, run_backends
from vyre.conform.mutate.sites import Mutation, mutations

__all__ = [
    "Mutant",
    "Mutated",
    "Mutation",
    "Verdict",
    "hunt",
    "mutants",
    "mutations",
    "one_of_each_kind",
    "rewrite",
    "run_all",
    "run_backends",
]
