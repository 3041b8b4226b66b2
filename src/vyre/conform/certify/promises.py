"""What the registry promised when a certificate was made: one digest per op, and the names of its laws.

now = registry_now()
changes(then, now)      the ops that were added, removed or changed since
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.plan import promise_digest
from vyre.conform.registry import specs
from vyre.conform.results import canonical
from vyre.conform.verify.graph import law_names

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class PromisedOp:
    """An op of the registry; `digest` covers its types, definition, laws, classes and boundaries."""

    id: str
    category: str
    laws: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Promises:
    """Every op of the registry, run or not, so that a reader sees what a run left out."""

    digest: str
    ops: tuple[PromisedOp, ...]


def promises(ops: Sequence[PromisedOp]) -> Promises:
    return Promises(hashlib.sha256(canonical([asdict(op) for op in ops])).hexdigest(), tuple(ops))


@cache
def registry_now() -> Promises:
    """The registry of this installation."""
    return promises(
        [
            PromisedOp(s.id, s.category, tuple(name for name, _, _ in law_names(s)), promise_digest(s))
            for s in specs()
        ]
    )


def changes(then: Promises, now: Promises) -> list[str]:
    """What differs, a sentence part each: `primitive.math.add was changed`."""
    old, new = ({op.id: op for op in p.ops} for p in (then, now))
    found = [f"{i} was changed" for i, op in old.items() if i in new and new[i] != op]
    found += [f"{i} was removed" for i in old if i not in new]
    found += [f"{i} was added" for i in new if i not in old]
    return found
