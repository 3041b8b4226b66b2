"""The laws of the strict float operations, and what is widely believed and false.

    laws_of("add", of)      -> Laws(laws, properties, non_laws) for a format

`laws` hold for every input, bit by bit: results that are NaN are the canonical NaN on both sides. What holds
for numbers alone says so in its precondition. Every non-law has a counterexample that a solver finds. Of F64,
what takes a solver minutes is not declared.
"""

from __future__ import annotations

from dataclasses import replace

from vyre.conform.registry.float_.arithmetic import ARITHMETIC
from vyre.conform.registry.float_.order import ORDER
from vyre.conform.registry.float_.vocabulary import Laws, Vocabulary
from vyre.conform.spec.law import label
from vyre.ir.types import DataType

_TABLE = ARITHMETIC | ORDER
_BEYOND = {"Sterbenz: exact for close operands", "a factor from 1 on does not lower"}


def laws_of(name: str, of: DataType) -> Laws:
    """What is declared of an operation in a format; nothing of those that no law is known for."""
    made = _TABLE.get(name)
    found = made(Vocabulary(of)) if made is not None else Laws()
    if of is not DataType.F64:
        return found
    return replace(found, properties=tuple(p for p in found.properties if label(p) not in _BEYOND))
