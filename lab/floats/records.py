"""What has been shown of each soft op, kept beside the code: one JSON file per format.

A record holds the digest of the definition that it covers, so a changed definition has no evidence
until it is shown again. `lab/floats/prove.py` writes the records; a test reads them all.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

import vyre.numeric
from vyre.numeric.smt import PRELUDE, definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.ir.op import Op

FOLDER = Path(str(vyre.numeric.__file__)).parent / "proofs"


class Evidence(TypedDict):
    """One thing that was run. `kind` is proved, lemma (a step of a chain), exhaustive or witnessed."""

    kind: str
    claim: str
    by: str
    seconds: float
    script: NotRequired[str]
    options: NotRequired[dict[str, int | str]]
    cases: NotRequired[int]
    classes: NotRequired[dict[str, int]]
    generators: NotRequired[str]


class Refutation(TypedDict):
    """A wrong version of the op, and operands on which it is wrong."""

    mutant: str
    operands: list[int]
    by: str


class Record(TypedDict):
    digest: str
    evidence: list[Evidence]
    refuted: list[Refutation]


def digest(op: Op) -> str:
    """SHA-256 of the op as a solver reads it: parameters, every step, the result."""
    params = " ".join(p.name for p in op.params)
    return hashlib.sha256(f"{op.id} {params}\n{PRELUDE}{definitions(op)}".encode()).hexdigest()


def script_digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()


def load() -> dict[str, Record]:
    """All records by op id."""
    found: dict[str, Record] = {}
    for path in sorted(FOLDER.glob("*.json")):
        found |= cast("dict[str, Record]", json.loads(path.read_text()))
    return found


def save(records: Mapping[str, Record]) -> None:
    """Writes every record to the file of its format."""
    FOLDER.mkdir(exist_ok=True)
    by_format: dict[str, dict[str, Record]] = {}
    for op_id in sorted(records):
        by_format.setdefault(op_id.split(".")[1], {})[op_id] = records[op_id]
    for name, group in by_format.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(group, indent=1) + "\n")


def add(records: dict[str, Record], op: Op, evidence: Evidence) -> None:
    """Puts evidence into the op's record, in place of an older run of the same claim."""
    record = records.get(op.id)
    if record is None or record["digest"] != digest(op):
        record = Record(digest=digest(op), evidence=[], refuted=[])
        records[op.id] = record
    by_claim = {(item["kind"], item["claim"]): item for item in (*record["evidence"], evidence)}
    record["evidence"] = [by_claim[key] for key in sorted(by_claim)]
