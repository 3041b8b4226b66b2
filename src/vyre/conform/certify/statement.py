"""The file of a certificate: an in-toto Statement v1, in a DSSE envelope when it is signed.

    data = write(certificate)                     the bare Statement: canonical JSON, unsigned
    data = write(certificate, key=key)            a DSSE envelope around the same bytes
    document = read(data)                         raises `CertificateError`, naming what was changed

The subject is the backend, by the digest of its record (device, driver, toolchain, canaries): certificates of
one setup have one subject. The predicate is the certificate, and a digest of each of its sections, by which
`read` names the section in which a byte was changed. Only the one canonical spelling of a file is accepted.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from vyre.conform.certify import keys, schema1
from vyre.conform.certify.certificate import SECOND, CertificateContents
from vyre.conform.records.documents import FieldError, canonical, encode, parse
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from vyre.conform.certify.keys import SigningKey

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://vyre.dev/certificate/v3"
_EARLIER = {schema1.SCHEMA: schema1.PREDICATE_TYPE, SECOND: "https://vyre.dev/certificate/v2"}
PAYLOAD_TYPE = "application/vnd.in-toto+json"
DIGESTS = "digests"
FETCH_AGAIN = "fetch the certificate again from its source, or certify the backend anew."


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: the certificate, the bytes of its Statement, and who signed them."""

    certificate: CertificateContents
    statement: bytes
    signers: tuple[str, ...]
    subject: str
    """The digest of the backend's record, as it stands in the file."""

    @property
    def digest(self) -> str:
        """Of the Statement, signed or not."""
        return hashlib.sha256(self.statement).hexdigest()


def write(certificate: CertificateContents, *, key: SigningKey | None = None) -> bytes:
    """The bytes of a certificate's file; signing adds an envelope and changes nothing inside."""
    body = statement(certificate)
    return body if key is None else seal(body, PAYLOAD_TYPE, key)


def statement(certificate: CertificateContents) -> bytes:
    return canonical(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": certificate.backend.name, "digest": {"sha256": certificate.backend.digest}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": sealed_record(encode(certificate)),
        }
    )


def document_of(certificate: CertificateContents) -> Document:
    """What `read` gives for the unsigned file of a certificate."""
    return Document(certificate, statement(certificate), (), certificate.backend.digest)


def sealed_record(record: dict[str, Any]) -> dict[str, Any]:
    """A record with a digest of each of its sections."""
    return {**record, DIGESTS: {name: _digest(value) for name, value in record.items()}}


def seal(body: bytes, payload_type: str, key: SigningKey) -> bytes:
    """A DSSE envelope with one signature."""
    signature = key.sign(authenticated(payload_type, body))
    return canonical(
        {
            "payload": base64.b64encode(body).decode(),
            "payloadType": payload_type,
            "signatures": [{"keyid": key.keyid, "sig": base64.b64encode(signature).decode()}],
        }
    )


def authenticated(payload_type: str, body: bytes) -> bytes:
    """The bytes that DSSE signs: type and body, each with its length, so that neither can be reread."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(body), body)


def read(data: bytes) -> Document:
    """The certificate in a file. Every way in which the bytes can have been changed is named."""
    sealed = _envelope(data)
    body = data if sealed is None else _payload(sealed)
    # The contents come before the signature, so that what was changed is named, and not only that it was.
    certificate, subject = _certificate(_record(body, "the file" if sealed is None else "payload"))
    return Document(certificate, body, () if sealed is None else _signers(sealed, body), subject)


def opened(data: bytes) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Any Statement, in an envelope or bare, and who signed it."""
    sealed = _envelope(data)
    if sealed is None:
        return _record(data, "the file"), ()
    body = _payload(sealed)
    return _record(body, "payload"), _signers(sealed, body)


def _record(data: bytes, place: str) -> dict[str, Any]:
    value = strict_json(data, place)
    if not isinstance(value, dict):
        raise _changed(place, "it is not a Statement")
    return cast("dict[str, Any]", value)


def _envelope(data: bytes) -> dict[str, Any] | None:
    """The envelope of a signed file, None for a bare Statement."""
    record = _record(data, "the file")
    return record if "payload" in record else None


def strict_json(data: bytes, place: str) -> Any:
    """JSON in its canonical spelling, and in no other."""
    try:
        value = parse(data)
    except FieldError as error:
        raise _changed(place, str(error)) from None
    again = canonical(value)
    if again != data:
        pairs = zip(again, data, strict=False)
        at = next((k for k, (a, b) in enumerate(pairs) if a != b), min(len(again), len(data)))
        raise _changed(f"{place}, byte {at}", "it is not the canonical spelling")
    return value


def _payload(record: dict[str, Any]) -> bytes:
    if set(record) != {"payload", "payloadType", "signatures"}:
        raise _changed("the envelope", f"it has the fields {', '.join(sorted(record))}")
    if record["payloadType"] != PAYLOAD_TYPE:
        raise _changed("payloadType", f"it is not {PAYLOAD_TYPE}")
    return unbase64(record["payload"], "payload")


def _signers(record: dict[str, Any], body: bytes) -> tuple[str, ...]:
    """The keys that signed; a signature that does not fit its key or the contents raises."""
    data = authenticated(PAYLOAD_TYPE, body)
    found: list[str] = []
    listed = record["signatures"]
    if not isinstance(listed, list) or not listed:
        raise _changed("signatures", "an envelope holds at least one")
    for entry in cast("list[Any]", listed):
        if not isinstance(entry, dict) or set(cast("dict[str, Any]", entry)) != {"keyid", "sig"}:
            raise _changed("signatures", "each has a keyid and a sig")
        signature = cast("dict[str, Any]", entry)
        keyid = str(signature["keyid"])
        if not keys.checks(keyid, data, unbase64(signature["sig"], "signatures")):
            raise _changed("signatures", f"the signature is not one of {keyid} over these contents")
        found.append(keyid)
    return tuple(found)


def unbase64(text: Any, place: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise _changed(place, f"it is not base64 ({error})") from None
    if base64.b64encode(data).decode() != text:
        raise _changed(place, "it is not the canonical base64")
    return data


def _certificate(record: dict[str, Any]) -> tuple[CertificateContents, str]:
    """The certificate in a Statement, and the digest of its subject."""
    if set(record) != {"_type", "subject", "predicateType", "predicate"}:
        raise _changed("the Statement", f"it has the fields {', '.join(sorted(record))}")
    predicate = unsealed(record["predicate"], "predicate")
    certificate = CertificateContents.from_record(predicate)
    kind = _EARLIER.get(certificate.schema, PREDICATE_TYPE)
    for field, wanted in (("_type", STATEMENT_TYPE), ("predicateType", kind)):
        if record[field] != wanted:
            raise _changed(field, f"it is not {wanted}")
    digest = _digest(predicate["backend"])
    if record["subject"] != [{"name": certificate.backend.name, "digest": {"sha256": digest}}]:
        raise _changed("subject", "it is not the backend that the certificate describes")
    return certificate, digest


def unsealed(record: Any, place: str) -> dict[str, Any]:
    """A record without the digests of its sections, once they have been checked."""
    found = cast("dict[str, Any]", record) if isinstance(record, dict) else {}
    digests = found.get(DIGESTS)
    sections = {name: value for name, value in found.items() if name != DIGESTS}
    if not isinstance(digests, dict):
        raise _changed(place, "it has no digests")
    listed = cast("dict[str, Any]", digests)
    differing = [name for name in sections if listed.get(name) != _digest(sections[name])]
    if differing:
        raise _changed(f"{place}.{differing[0]}", "this section or its digest was changed")
    if set(listed) != set(sections):
        gone = sorted(set(listed) - set(sections))
        raise _changed(f"{place}.{gone[0]}", "this section was renamed or removed")
    return sections


def _digest(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def _changed(place: str, what: str) -> CertificateError:
    return CertificateError(f"the certificate was changed: {what}.", place=place, fix=FETCH_AGAIN)
