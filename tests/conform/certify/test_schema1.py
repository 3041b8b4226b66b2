"""Certificates of schema 1, written by the version that made them, verify as what they were."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("cryptography")

from tests.conform.certify.made_up import ADD, FADD, NOT, perfect, registry
from vyre.conform.certify import schema1, schema1_levels
from vyre.conform.certify.keys import load_public
from vyre.conform.certify.merge import merge
from vyre.conform.certify.promises import PromisedOp, changes, promises, registry_now
from vyre.conform.certify.statement import read, sealed_record
from vyre.conform.certify.verify import verify
from vyre.conform.records.documents import canonical
from vyre.conform.suite.regressions import Store
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Callable

OLD = Path(__file__).parent / "schema1"
FILES = {
    # Canaries and trials of memory were added since, for narrow elements.
    "passed": "its canaries are not those that a device is asked",
    "failed-signed": "the stage bounds has other cases than its plan",
    "merged": "its canaries are not those that a device is asked",
    "shard1": "its canaries are not those that a device is asked",
    "shard2": "its canaries are not those that a device is asked",
}
"""The certificates, and what can be said of their plans today."""


def old(name: str) -> bytes:
    return (OLD / f"{name}.json").read_bytes()


def statuses(data: bytes, **options: Any) -> dict[str, str]:
    return {f.check: f.status for f in verify(data, **options).findings}


@pytest.mark.parametrize("name", FILES)
def test_an_old_certificate_is_read_and_nothing_in_it_is_wrong(name: str) -> None:
    report = verify(old(name))
    assert report.ok, report.findings
    assert report.document is not None
    assert report.document.certificate.schema == "vyre.certificate/1"
    said = {f.check: f for f in report.findings}
    assert said["levels"].status == "good"
    assert said["settings"].text == schema1.UNSAID
    if not changes(report.document.certificate.registry, registry_now(1)):
        assert FILES[name] in said["plan"].text
        assert report.holds == ("accounted for" in FILES[name])


def test_its_signature_is_still_good() -> None:
    assert statuses(old("failed-signed"), trusted=load_public(str(OLD / "signer.pub")))["signature"] == "good"


def test_what_it_did_not_say_is_unknown() -> None:
    certificate = read(old("failed-signed")).certificate
    assert certificate.conditions.isolation == "unknown"
    assert certificate.settings == ()
    assert certificate.backend.limits == ()
    assert [op.status for op in certificate.ops] == ["failed"]


def test_it_keeps_the_rules_of_its_time() -> None:
    results = perfect(ADD, NOT, FADD)
    promised = registry(ADD, NOT, FADD)
    found = schema1_levels.levels("integer", results, promised, ("copy",))
    assert found.highest == "L4"
    assert schema1_levels.levels("integer", results, promised, ()).highest == "L3"
    assert schema1.op_track(ADD, (ADD,)) == "approximate"


def test_its_rules_know_nothing_of_todays() -> None:
    asked = "import sys, vyre.conform.certify.schema1_levels; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    today = {f"vyre.conform.certify.{name}" for name in ("level", "judged", "table", "track")}
    assert not today & set(ran.stdout.split())


def test_old_shards_are_not_merged_with_a_place_unknown() -> None:
    with pytest.raises(CertificateError, match="does not say where and how it was run"):
        merge([read(old(name)).certificate for name in ("shard1", "shard2")])


def forged(change: Callable[[dict[str, Any]], None], name: str = "passed") -> bytes:
    record = json.loads(old(name))
    predicate = {k: v for k, v in record["predicate"].items() if k != "digests"}
    change(predicate)
    record["predicate"] = sealed_record(predicate)
    return canonical(record)


def test_an_old_schema_is_no_way_round_the_checks() -> None:
    def granted(predicate: dict[str, Any]) -> None:
        predicate["tracks"][0]["highest"] = "L1"
        predicate["tracks"][0]["levels"][0] |= {"granted": True, "reasons": []}

    def fewer(predicate: dict[str, Any]) -> None:
        predicate["ops"][0]["parity"][0]["cases"] -= 1

    def settled(predicate: dict[str, Any]) -> None:
        predicate["settings"] = []

    assert statuses(forged(granted))["levels"] == "wrong"
    assert statuses(forged(fewer))["levels"] == "wrong"
    assert statuses(forged(settled)) == {"structure": "wrong"}
    new = json.loads(forged(lambda predicate: None))
    new["predicateType"] = "https://vyre.dev/certificate/v2"
    assert statuses(canonical(new)) == {"structure": "wrong"}


def test_a_smaller_registry_is_not_that_of_its_time() -> None:
    """Else a certificate of few ops could be forged to be of a whole registry."""

    def smaller(predicate: dict[str, Any]) -> None:
        kept = predicate["registry"]["ops"][:1]
        ops = [PromisedOp(o["id"], o["category"], tuple(o["laws"]), o["digest"]) for o in kept]
        predicate["registry"] = {"digest": promises(ops, schema=1).digest, "ops": kept}

    assert statuses(forged(smaller))["registry"] == "wrong"
    assert read(old("passed")).certificate.registry.digest == schema1.REGISTRY


def test_a_failure_that_was_stored_then_is_still_replayed(tmp_path: Path) -> None:
    (file,) = OLD.glob("0e5a*.json")
    folder = tmp_path / "division-by-zero"
    folder.mkdir()
    (folder / file.name).write_bytes(file.read_bytes())
    found = Store(tmp_path).load("division-by-zero")
    assert list(found) == [file.stem]
    assert found[file.stem].op == "primitive.math.div"
    assert not Store(tmp_path).damaged("division-by-zero")
