"""The permanence lock: what was promised once is compared with what is there now.

    python -m vyre.conform.permanence.lock             names every promise that was changed, removed or not
    yet locked
    python -m vyre.conform.permanence.lock --update    locks what is new; refuses to change or remove anything

The lock file holds one entry per golden row, cast, wire tag, V-code, standard op, type size, operator name,
limit, specified op with its version, and of each its laws, non-laws, classes of inputs and boundaries. Adding
is fine, changing or removing is red: what is superseded keeps its entry and gets a new version beside it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.conform.oracle.golden.rows import load_rows
from vyre.errors import VyreError
from vyre.ir import limits, operators
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import LitU32, Load
from vyre.ir.node import Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.ir.op import Op

LOCK_FILE = "permanence.lock.json"
_BOUNDARY = "boundary/"
_DIGITS = 16  # 64 bits of SHA-256: the lock guards against mistakes, not against forgery

Promises = dict[str, str]
"""Every promise by its permanent name, `group/name`, with a digest or the value itself."""


class Breach(Enum):
    """How a promise can differ from the lock. The first two are never allowed."""

    Changed = "changed"
    Removed = "removed"
    Unlocked = "not yet locked"


@dataclass(frozen=True, slots=True)
class LockFinding:
    breach: Breach
    name: str
    locked: str = ""
    current: str = ""

    def __str__(self) -> str:
        match self.breach:
            case Breach.Changed:
                return f"{self.name} was changed from {self.locked} to {self.current}."
            case Breach.Removed:
                return f"{self.name} was removed; it was {self.locked}."
            case Breach.Unlocked:
                return f"{self.name} is not yet locked."


def collect() -> Promises:
    """Everything that is promised now."""
    return {
        **{f"golden/{row.id}": row.digest()[:_DIGITS] for row in load_rows()},
        **{f"cast/{a.value}->{b.value}": rule.name for (a, b), rule in CAST_TABLE.items()},
        **{f"type/{t.value}": f"{t.min_bytes()} bytes, {t.lanes} lanes" for t in DataType},
        **_operator_names(),
        **_limits(),
        **_wire_tags(),
        **_codes(),
        **_ops(),
        **_specs(),
        **_inputs(),
    }


def _operator_names() -> Promises:
    kinds = (
        operators.BinaryOp,
        operators.UnaryOp,
        operators.AtomicOp,
        operators.ReduceOp,
        operators.ReduceOrder,
        operators.RoundMode,
        operators.ApproxOp,
    )
    return {f"operator/{kind.__name__}.{member.name}": member.value for kind in kinds for member in kind}


def _limits() -> Promises:
    return {f"limit/{name}": str(value) for name, value in vars(limits).items() if name.isupper()}


def _wire_tags() -> Promises:
    from vyre.wire.graph_tags import GRAPH_TABLES
    from vyre.wire.tags import TABLES, all_tags

    return {f"wire/{name}": str(tag) for name, tag in all_tags({**TABLES, **GRAPH_TABLES}).items()}


def _codes() -> Promises:
    from vyre.validate import CODES

    return {f"code/{code}": _digest(f"{rule.title}\n{rule.meaning}") for code, rule in CODES.items()}


def _ops() -> Promises:
    from vyre.ops import standard_ops
    from vyre.ops.intrinsics import intrinsic_ops

    return {f"op/{op.id}": definition_digest(op) for op in (*standard_ops(), *intrinsic_ops())}


def _specs() -> Promises:
    """What each specified op computes, and every law and property it declares; laws may be added."""
    from vyre.conform.registry import every_own_spec
    from vyre.conform.spec.law import label
    from vyre.conform.spec.sides import sides
    from vyre.conform.suite.plan import definition_program
    from vyre.conform.verify.graph import law_names
    from vyre.wire import meaning_digest

    found: Promises = {}
    for spec in every_own_spec():
        meaning = meaning_digest(definition_program(spec))[:_DIGITS]
        found[f"spec/{spec.id}"] = f"version {spec.version}, {spec.category} {meaning}"
        for name, role, law in law_names(spec):
            equations = "\n".join(map(str, sides(law, spec)))
            found[f"law/{spec.id}/{name}"] = f"{role} {_digest(equations)}"
        for denied in spec.non_laws:
            equations = "\n".join(map(str, sides(denied.law, spec)))
            found[f"non_law/{spec.id}/{label(denied.law)}"] = _digest(equations)
    return found


def _inputs() -> Promises:
    """The inputs on which every op is tried: its classes, and its boundaries, a row per operand word."""
    from vyre.conform.registry import every_own_spec
    from vyre.conform.suite.plan import class_digest

    found: Promises = {}
    for spec in every_own_spec():
        for one in spec.classes:
            found[f"class/{spec.id}/{one.name}"] = class_digest(spec, one)[:_DIGITS]
        for word, values in enumerate(spec.boundaries):
            found[f"{_BOUNDARY}{spec.id}/{word}"] = " ".join(f"{v:X}" for v in sorted(values))
    return found


def definition_digest(op: Op) -> str:
    """A digest of what an op computes, blind to its names and its documentation.

    It is the meaning digest of the program that applies the op to one element of each input, so it rests
    on the wire form, which is permanent. An instruction is what it declares; who has it may change.
    """
    from vyre.wire import meaning_digest

    if op.hardware:
        types = " ".join(t.value for t in (*op.signature.inputs, op.output))
        return f"{op.category.value} {_digest(f'{op.hardware} of {op.lanes} lanes over {types}')}"

    zero = LitU32(0)
    buffers = [BufferDecl.read(f"in{k}", k, p.type) for k, p in enumerate(op.params)]
    buffers.append(BufferDecl.read_write("out", len(buffers), op.output))
    entry = [*(Let(p.name, Load(f"in{k}", zero)) for k, p in enumerate(op.params)), *op.body]
    if op.result is not None:
        entry.append(Store("out", zero, op.result))
    return f"{op.category.value} {meaning_digest(Program(buffers, (1,), entry))[:_DIGITS]}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def read_lock() -> Promises:
    """The committed lock."""
    groups: dict[str, dict[str, str]] = json.loads(
        (files("vyre.conform.permanence") / LOCK_FILE).read_text(encoding="utf-8")
    )
    return {f"{group}/{name}": value for group, entries in groups.items() for name, value in entries.items()}


def compare(locked: Mapping[str, str], current: Mapping[str, str]) -> list[LockFinding]:
    """Every difference between the lock and the present, worst first."""
    differing = [(n, value) for n, value in locked.items() if n in current and current[n] != value]
    grown = [name for name, value in differing if _grown(name, value, current[name])]
    changed = [LockFinding(Breach.Changed, n, value, current[n]) for n, value in differing if n not in grown]
    removed = [
        LockFinding(Breach.Removed, name, value) for name, value in locked.items() if name not in current
    ]
    new = [name for name in current if name not in locked]
    return changed + removed + [LockFinding(Breach.Unlocked, name) for name in (*grown, *new)]


def _grown(name: str, locked: str, current: str) -> bool:
    """Whether a row of boundaries has all that it had, and more."""
    return name.startswith(_BOUNDARY) and set(locked.split()) < set(current.split())


def check() -> list[LockFinding]:
    """The differences between the committed lock and the present; empty means that all promises hold."""
    return compare(read_lock(), collect())


def extended(locked: Mapping[str, str], current: Mapping[str, str]) -> Promises:
    """The lock with what is new. Raises when a promise was changed or removed."""
    broken = [f for f in compare(locked, current) if f.breach is not Breach.Unlocked]
    if broken:
        raise VyreError(
            f"{len(broken)} promises are broken: {broken[0]}",
            fix="restore it, and give the new meaning a new row, number or version beside it.",
        )
    return {**locked, **current}


def render_lock(promises: Mapping[str, str]) -> str:
    """The text of a lock file: one promise a line, so that a change of one is a change of one line."""
    groups: dict[str, dict[str, str]] = {}
    for name in sorted(promises):
        group, _, rest = name.partition("/")
        groups.setdefault(group, {})[rest] = promises[name]
    return json.dumps(groups, indent=0, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m vyre.conform.permanence.lock", description="Check the promises."
    )
    parser.add_argument("--update", action="store_true", help="lock what is new")
    options = parser.parse_args(arguments)
    if options.update:
        return _update()
    findings = check()
    for finding in findings:
        print(finding)
    if findings:
        print("Fix: restore what was changed or removed; lock what is new with --update.")
    return 1 if findings else 0


def _update() -> int:
    path = Path(__file__).with_name(LOCK_FILE)
    locked = read_lock() if path.exists() else {}
    try:
        promises = extended(locked, collect())
    except VyreError as error:
        print(error)
        return 1
    path.write_text(render_lock(promises), encoding="utf-8")
    print(f"{len(promises) - len(locked)} promises locked, {len(promises)} in all.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
