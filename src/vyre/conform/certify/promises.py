"""What the registry promised when a certificate was made: of each op a digest, and everything it declared.

now = registry_now()
changes(then, now)      the ops that were added, removed or changed since
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.records.documents import canonical
from vyre.conform.registry import specs
from vyre.conform.spec.law import label
from vyre.conform.suite.plan import promise_digest
from vyre.conform.verify.graph import law_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.spec.op import OpSpec


@dataclass(frozen=True, slots=True)
class PromisedOp:
    """An op of the registry; `digest` covers its types, definition, laws, non-laws, classes, boundaries.

    What it declares is listed as well, so that a certificate shows what was dropped since: a non-law, a class
    or a boundary (its values in hex, per operand word) no less than a law.
    """

    id: str
    category: str
    laws: tuple[str, ...]
    digest: str
    non_laws: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    boundaries: tuple[str, ...] = ()

    def declared(self) -> dict[str, None]:
        """Everything that can be dropped, in words."""
        found = [f"law {name}" for name in self.laws]
        found += [f"non-law {name}" for name in self.non_laws]
        found += [f"class {name}" for name in self.classes]
        found += [f"boundary 0x{v} of word {k}" for k, row in enumerate(self.boundaries) for v in row.split()]
        return dict.fromkeys(found)


@dataclass(frozen=True, slots=True)
class Promises:
    """Every op of the registry, run or not, so that a reader sees what a run left out."""

    digest: str
    ops: tuple[PromisedOp, ...]


def promises(ops: Sequence[PromisedOp], *, schema: int = 2) -> Promises:
    """What these ops promise together; schema 1 listed only their laws."""
    records = [asdict(op) for op in ops]
    if schema == 1:
        records = [{k: r[k] for k in ("id", "category", "laws", "digest")} for r in records]
    return Promises(hashlib.sha256(canonical(records)).hexdigest(), tuple(ops))


@cache
def registry_now(schema: int = 2) -> Promises:
    """The registry of this installation, as a certificate of a schema would say it."""
    return promises([_promised(s, schema) for s in specs()], schema=schema)


def _promised(spec: OpSpec, schema: int) -> PromisedOp:
    laws = tuple(name for name, _, _ in law_names(spec))
    digest = promise_digest(spec, schema=schema)
    if schema == 1:
        return PromisedOp(spec.id, spec.category, laws, digest)
    return PromisedOp(
        spec.id, spec.category, laws, digest,
        tuple(label(n.law) for n in spec.non_laws),
        tuple(c.name for c in spec.classes),
        tuple(" ".join(f"{v:X}" for v in values) for values in spec.boundaries),
    )  # fmt: skip


def changes(then: Promises, now: Promises) -> list[str]:
    """What differs, a sentence part each: `primitive.math.add was changed`, `… lost the class zero`."""
    old, new = ({op.id: op for op in p.ops} for p in (then, now))
    found = [f"{i} {what}" for i, op in old.items() if i in new for what in _changes(op, new[i])]
    found += [f"{i} was removed" for i in old if i not in new]
    found += [f"{i} was added" for i in new if i not in old]
    return found


def _changes(then: PromisedOp, now: PromisedOp) -> list[str]:
    if then == now:
        return []
    old, new = then.declared(), now.declared()
    told = [f"lost the {name}" for name in old if name not in new]
    told += [f"gained the {name}" for name in new if name not in old]
    return told or ["was changed"]
