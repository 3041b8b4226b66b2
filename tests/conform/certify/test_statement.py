"""The file: what it holds, that it reads back, and that no byte of it can be changed unseen."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
import socket
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("cryptography")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.conform.certify.made_up import ADD, FADD, NOT, SHUFFLE, failure, full, perfect, registry
from vyre.conform.certify.certificate import CertificateContents, certificates
from vyre.conform.certify.keys import SigningKey
from vyre.conform.certify.proofs import LawProof
from vyre.conform.certify.statement import (
    PAYLOAD_TYPE,
    PREDICATE_TYPE,
    authenticated,
    read,
    sealed_record,
    write,
)
from vyre.conform.certify.verify import verify
from vyre.conform.records.documents import canonical
from vyre.conform.records.evidence import KindCount, density_found
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Callable

OPS = (ADD, NOT, SHUFFLE)
PROOFS = (LawProof(ADD, "Commutative", "proved", "bitwuzla 0.9.1", ""),)


def made() -> CertificateContents:
    results = perfect(*OPS)
    wrong = (full("u8", 65536), KindCount("boundary", 900, 900, 3), full("random", 1 << 20))
    add = replace(results.ops[0], status="failed", parity=wrong)
    results = replace(results, ops=(add, *results.ops[1:]), failures=(failure(ADD),))
    return certificates(results, promised=registry(*OPS), proofs=PROOFS, baselines=("copy",))[0]


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return SigningKey.generate()


def test_a_certificate_reads_back_and_is_canonical() -> None:
    certificate = made()
    data = certificate.to_json()
    assert CertificateContents.from_json(data) == certificate
    assert CertificateContents.from_json(data).to_json() == data
    assert data == canonical(json.loads(data))
    assert certificate.derived() == certificate


def test_it_says_all_that_a_reader_needs() -> None:
    record = json.loads(made().to_json())
    add = record["ops"][0]
    assert (add["version"], add["lowering"], add["evidence"]) == (
        1,
        "native",
        "exhaustive u8 + witnessed 1049476",
    )
    law = add["laws"][0]
    assert (law["evidence"], law["witnessed"]) == ("exhaustive u8 + witnessed 1048576", 1 << 20)
    assert float(law["density"]) == pytest.approx(density_found(1 << 20), rel=0.01)
    assert (law["proof"], law["solver"]) == ("proved", "bitwuzla 0.9.1")
    assert add["laws"][1]["proof"] == "unverified"
    assert record["engines"][0]["engine"] == "engine.scan"
    assert len(record["engines"][0]["invariants"]) == 8
    assert record["backend"]["canaries"][1]["fault"] == "word 0 is 0x1, expected 0x0"
    assert record["failures"][0]["expected"] == "0x0"
    assert record["plan"]["seed"] == 1
    assert record["tracks"][0]["levels"][0]["level"] == "L1"


def test_nothing_in_it_depends_on_the_moment_or_the_machine() -> None:
    text = write(made()).decode()
    assert socket.gethostname() not in text or len(socket.gethostname()) < 4
    assert "/home" not in text
    assert "seconds" not in text
    assert not re.search(r"20\d\d-\d\d-\d\d", text)
    assert write(made()) == write(made())
    assert "float" not in {type(v).__name__ for v in _leaves(json.loads(text))}


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in _leaves(v)]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [leaf for v in value for leaf in _leaves(v)]  # pyright: ignore[reportUnknownVariableType]
    return [value]


def test_unsigned_it_is_a_bare_statement() -> None:
    certificate = made()
    data = write(certificate)
    record = json.loads(data)
    assert record["_type"] == "https://in-toto.io/Statement/v1"
    assert record["predicateType"] == PREDICATE_TYPE
    assert record["subject"] == [{"name": "mine", "digest": {"sha256": certificate.backend.digest}}]
    document = read(data)
    assert document.certificate == certificate
    assert document.signers == ()
    assert document.digest == hashlib.sha256(data).hexdigest()


def test_the_bytes_that_are_signed_are_those_of_dsse() -> None:
    assert authenticated("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_signed_it_is_an_envelope_that_others_can_check(key: SigningKey) -> None:
    envelope = json.loads(write(made(), key=key))
    assert envelope["payloadType"] == PAYLOAD_TYPE
    body = base64.b64decode(envelope["payload"])
    assert body == write(made())
    (signature,) = envelope["signatures"]
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["keyid"].removeprefix("ed25519:")))
    signed = b"DSSEv1 %d %b %d %b" % (len(PAYLOAD_TYPE), PAYLOAD_TYPE.encode(), len(body), body)
    public.verify(base64.b64decode(signature["sig"]), signed)
    document = read(write(made(), key=key))
    assert document.signers == (key.keyid,)
    assert document.digest == hashlib.sha256(body).hexdigest()


def flips(data: bytes, rng: random.Random) -> list[tuple[int, bytes]]:
    """Every byte changed once: half of them by a bit, half to any other value."""
    found: list[tuple[int, bytes]] = []
    for at, byte in enumerate(data):
        other = byte ^ (1 << rng.randrange(8)) if at % 2 else (byte + rng.randrange(1, 256)) & 0xFF
        found.append((at, data[:at] + bytes([other]) + data[at + 1 :]))
    return found


def test_every_changed_byte_is_found_and_named() -> None:
    results = perfect(NOT)
    small = certificates(results, promised=registry(NOT), baselines=("copy",))[0]
    data = write(small)
    rng = random.Random(1)
    named: set[str] = set()
    for at, changed in flips(data, rng):
        with pytest.raises(CertificateError) as error:
            read(changed)
        assert error.value.place or "schema" in error.value.message, (at, error.value)
        named.add(re.sub(r"\d+", "N", error.value.place or "schema"))
    sections = {
        f"predicate.{f}" for f in ("ops", "plan", "backend", "tracks", "stages", "registry", "engines")
    }
    assert sections <= named
    assert {"subject", "_type", "predicateType", "the file, byte N"} <= named


def test_every_changed_byte_of_a_signed_one_is_found_and_named(key: SigningKey) -> None:
    small = certificates(perfect(NOT), promised=registry(NOT))[0]
    data = write(small, key=key)
    named: set[str] = set()
    for at, changed in flips(data, random.Random(2))[::3]:
        with pytest.raises(CertificateError) as error:
            read(changed)
        assert error.value.place or "schema" in error.value.message, (at, error.value)
        named.add(re.sub(r"\d+", "N", error.value.place or "schema"))
    assert {"predicate.ops", "payload, byte N", "payloadType", "signatures"} <= named


SPELLINGS: list[Callable[[bytes], bytes]] = [
    lambda d: d + b" ",
    lambda d: d[:-1],
    lambda d: b" " + d,
    lambda d: d.replace(b'"_type":', b'"_type": ', 1),
    lambda d: d.replace(b'{"_type"', b'{"_type":1,"_type"', 1),
    lambda d: b"[]\n",
    lambda d: b"",
    lambda d: b"\xff",
    lambda d: b"[" * 100_000,
    lambda d: d.replace(b'"seed":1,', b'"seed":1.0,', 1),
    lambda d: d.replace(b'"seed":1,', b"", 1),
]


@pytest.mark.parametrize("change", SPELLINGS)
def test_other_spellings_are_refused(change: Callable[[bytes], bytes]) -> None:
    data = write(made())
    assert change(data) != data
    with pytest.raises(CertificateError):
        read(change(data))


def forged(change: Callable[[dict[str, Any]], None], key: SigningKey | None = None) -> bytes:
    """A certificate changed by somebody who makes the digests anew."""
    record = json.loads(write(made()))
    predicate = {k: v for k, v in record["predicate"].items() if k != "digests"}
    change(predicate)
    backend = CertificateContents.from_record(predicate).backend
    record["predicate"] = sealed_record(predicate)
    record["subject"] = [{"name": backend.name, "digest": {"sha256": backend.digest}}]
    body = canonical(record)
    if key is None:
        return body
    from vyre.conform.certify.statement import seal

    return seal(body, PAYLOAD_TYPE, key)


def grant_all(predicate: dict[str, Any]) -> None:
    for level in predicate["tracks"][1]["levels"]:
        level["granted"], level["reasons"] = True, []


def finding(data: bytes, check: str, **options: Any) -> tuple[str, str]:
    found = {f.check: f for f in verify(data, registry=registry(*OPS), **options).findings}
    return found[check].status, found[check].text


def test_a_level_that_the_contents_do_not_support_is_refused() -> None:
    status, text = finding(forged(grant_all), "levels")
    assert status == "wrong"
    assert "L1f" in text
    assert "no float operations" in text


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("ops", 1, "evidence"), "proved", "the section ops does not follow from the rest"),
        (("ops", 1, "laws", 0, "density"), "1.00e-30", "the section ops does not follow"),
        (("unsupported",), [{"op": ADD, "reason": "", "blocking": True}], "the section unsupported"),
        (("engines", 0, "engine"), "engine.other", "the section engines"),
        (("ops", 1, "parity", 0, "cases"), 70000, "impossible counts of u8 cases"),
        (("ops", 0, "status"), "passed", "is called passed and has failures"),
    ],
)
def test_contents_that_contradict_each_other_are_refused(
    path: tuple[Any, ...], value: Any, message: str
) -> None:
    def change(predicate: dict[str, Any]) -> None:
        at: Any = predicate
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value

    status, text = finding(forged(change), "levels")
    assert status == "wrong"
    assert message in text


def test_other_words_of_another_version_are_no_forgery() -> None:
    def reworded(predicate: dict[str, Any]) -> None:
        predicate["tracks"][1]["levels"][0]["reasons"] = ["said otherwise"]

    assert finding(forged(reworded), "levels")[0] == "wrong"

    def older(predicate: dict[str, Any]) -> None:
        reworded(predicate)
        predicate["vyre"] = "0.0.1"

    assert finding(forged(older), "levels")[0] == "good"

    def older_and_bolder(predicate: dict[str, Any]) -> None:
        older(predicate)
        grant_all(predicate)

    assert finding(forged(older_and_bolder), "levels")[0] == "wrong"


def test_a_forger_without_the_key_is_found(key: SigningKey) -> None:
    other = SigningKey.generate()

    def better(predicate: dict[str, Any]) -> None:
        predicate["backend"]["device"] = "a better device"

    data = forged(better, other)
    assert finding(data, "signature", trusted=key.keyid) == (
        "wrong", f"it is signed by {other.keyid}, not by {key.keyid}.",
    )  # fmt: skip
    mixed = json.loads(data)
    mixed["signatures"] = json.loads(write(made(), key=key))["signatures"]
    report = verify(canonical(mixed), trusted=key.keyid)
    assert not report.ok
    assert "signature is not one of" in report.findings[0].text
    assert finding(write(made()), "signature", trusted=key.keyid) == ("wrong", "it is not signed.")
    assert finding(write(made(), key=key), "signature", trusted=key.keyid)[0] == "good"
    assert finding(write(made(), key=key), "signature")[0] == "open"


def test_a_changed_registry_names_the_ops() -> None:
    now = registry(ADD, FADD)
    found = {f.check: f for f in verify(write(made()), registry=now).findings}
    assert found["registry"].status == "wrong"
    assert f"{NOT} was removed" in found["registry"].text
    assert f"{FADD} was added" in found["registry"].text
    first = replace(registry(*OPS).ops[0], digest="f" * 64)
    changed = replace(registry(*OPS), ops=(first, *registry(*OPS).ops[1:]))
    found = {f.check: f for f in verify(write(made()), registry=changed).findings}
    assert f"{ADD} was changed" in found["registry"].text
    assert finding(write(made()), "registry")[0] == "good"


def test_another_schema_is_refused() -> None:
    record = asdict(made())
    record["schema"] = "vyre.certificate/0"
    with pytest.raises(CertificateError, match="schema"):
        CertificateContents.from_json(canonical(record))
    with pytest.raises(CertificateError, match="not a certificate"):
        CertificateContents.from_json(b"\xff")
