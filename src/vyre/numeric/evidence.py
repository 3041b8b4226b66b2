"""What has been shown of each correctly rounded function, bound to its definition by a digest.

    definitions()        the ids of all definitions: on integers in three formats, in doubles for F32
    digest(op_id)        of a definition as the IR has it: all steps, constants, tables, and what it calls
    load()               the evidence by op id, from `functions/evidence.json`
    unverified()         definitions whose evidence is missing or belongs to another definition

Names of variables are not part of a digest, nor is the Python that builds the op. A definition that changes
has no evidence until `lab/functions/prove.py` has run it again.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Call, LitU32
from vyre.ir.node import Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.ir.walk import expressions
from vyre.numeric.doubles import double_op, double_ops
from vyre.numeric.functions import function_op, function_ops
from vyre.wire import meaning_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op

RECORD = Path(__file__).parent / "functions" / "evidence.json"

EXHAUSTIVE, WITNESSED = "exhaustive", "witnessed"


class Evidence(TypedDict):
    """One run of one definition. `exhaustive` means every input, `witnessed` a number of pairs."""

    digest: str
    kind: str
    cases: int
    against: str
    by: str
    date: str
    open: NotRequired[int]
    """Of a function of two operands: pairs whose last rounding test failed."""


def definitions() -> list[str]:
    """On integers first, in the order of the catalogue, then in doubles."""
    return [op.id for op in (*function_ops(), *double_ops())]


def digest(op_id: str) -> str:
    """SHA-256 over the meaning of the op and of every op that it calls, in hex."""
    whole = hashlib.sha256(b"vyre function 1\n")
    for name, found in sorted(_meanings(_op(op_id)).items()):
        whole.update(f"{name} {found}\n".encode())
    return whole.hexdigest()


def _op(op_id: str) -> Op:
    found = function_op(op_id) or double_op(op_id)
    assert found is not None, op_id
    return found


def _meanings(op: Op) -> dict[str, str]:
    """The meaning digests of the op and of all definitions that it reaches."""
    found: dict[str, str] = {}
    waiting = [op]
    while waiting:
        taken = waiting.pop()
        if taken.id in found:
            continue
        program = _program(taken)
        found[taken.id] = meaning_digest(program)
        called = {x.op_id for x in expressions(program.entry) if isinstance(x, Call)}
        # What is left has no definition here: operations of the target, named by their ids.
        waiting += [o for x in sorted(called) if (o := function_op(x) or double_op(x)) is not None]
    return found


def _program(op: Op) -> Program:
    """The op on one element of a buffer for each parameter."""
    assert op.result is not None
    inputs = [BufferDecl.read(f"in{k}", k, p.type, count=1) for k, p in enumerate(op.params)]
    out = BufferDecl.read_write("out", len(inputs), DataType.U32, count=1)
    lets = [Let(p.name, b[LitU32(0)]) for p, b in zip(op.params, inputs, strict=True)]
    return Program((*inputs, out), (1, 1, 1), (*lets, *op.body, Store("out", LitU32(0), op.result)))


@cache
def load(path: Path = RECORD) -> Mapping[str, Evidence]:
    """The record by op id."""
    return cast("dict[str, Evidence]", json.loads(path.read_bytes())) if path.exists() else {}


def save(record: Mapping[str, Evidence], path: Path = RECORD) -> None:
    path.write_text(json.dumps(dict(sorted(record.items())), indent=1) + "\n", encoding="utf-8")
    load.cache_clear()


def state(op_id: str, record: Mapping[str, Evidence] | None = None) -> str:
    """Empty where the evidence is that of today's definition; else why there is none."""
    known = (load() if record is None else record).get(op_id)
    if known is None:
        return "there is no record of it"
    return "" if known["digest"] == digest(op_id) else "its definition is not the one that was run"


def unverified(record: Mapping[str, Evidence] | None = None) -> dict[str, str]:
    """The definitions without evidence, each with the reason."""
    return {op_id: why for op_id in definitions() if (why := state(op_id, record))}
