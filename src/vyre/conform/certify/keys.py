"""Ed25519 keys: made, kept in PEM files, used to sign and to check.

    key = SigningKey.generate()
    key.keyid                        "ed25519:" and the public key in hex: who signed can be read off
    checks("ed25519:…", data, signature)

A key id is the public key itself, so a signature can always be checked; whether that key is to be trusted is
for the reader to say.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from vyre.errors import CertificateError, VyreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PREFIX = "ed25519:"


def _module() -> Any:
    """The parts of `cryptography` that are used here, or an error that says how to get it."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise VyreError(
            "signatures need the package cryptography.", fix="install it with `pip install cryptography`."
        ) from None
    return serialization, ed25519


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key."""

    private: Ed25519PrivateKey

    @classmethod
    def generate(cls) -> SigningKey:
        return cls(_module()[1].Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, file: str) -> SigningKey:
        serialization, ed25519 = _module()
        try:
            found = serialization.load_pem_private_key(_read(file), password=None)
        except (ValueError, TypeError):
            found = None
        if not isinstance(found, ed25519.Ed25519PrivateKey):
            raise VyreError(f"{file!r} holds no private ed25519 key.", fix="make one with `vyre keygen`.")
        return cls(cast("Ed25519PrivateKey", found))

    @property
    def keyid(self) -> str:
        return _keyid(self.private.public_key())

    def sign(self, data: bytes) -> bytes:
        return self.private.sign(data)

    def write(self, file: str) -> Path:
        """Writes the private key for its owner alone, and the public one beside it as FILE.pub.

        Raises `VyreError` rather than replace a file.
        """
        serialization, _ = _module()
        pem = serialization.Encoding.PEM
        private = self.private.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        public = self.private.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
        beside = Path(f"{file}.pub")
        if beside.exists():
            raise _kept(str(beside))
        _create(file, private, mode=0o600)
        _create(str(beside), public, mode=0o644)
        return beside


def load_public(file: str) -> str:
    """The key id of a public key file."""
    serialization, ed25519 = _module()
    try:
        found = serialization.load_pem_public_key(_read(file))
    except ValueError:
        found = None
    if not isinstance(found, ed25519.Ed25519PublicKey):
        raise VyreError(
            f"{file!r} holds no public ed25519 key.", fix="pass the .pub file that `vyre keygen` wrote."
        )
    return _keyid(found)


def checks(keyid: str, data: bytes, signature: bytes) -> bool:
    """Whether a signature over `data` was made with the private half of this key."""
    _, ed25519 = _module()
    from cryptography.exceptions import InvalidSignature

    digits = keyid.removeprefix(PREFIX)
    if not keyid.startswith(PREFIX) or len(digits) != 64 or set(digits) - set("0123456789abcdef"):
        raise CertificateError(
            f"{keyid!r} is not a key id.",
            place="signatures",
            fix="fetch the certificate again from its source.",
        )
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(digits)).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


def _keyid(public: Any) -> str:
    return PREFIX + public.public_bytes_raw().hex()


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise VyreError(f"cannot read {file!r}: {error.strerror}.", fix="check the name.") from None


def _create(file: str, data: bytes, *, mode: int) -> None:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise _kept(file) from None
    except OSError as error:
        raise VyreError(
            f"cannot write {file!r}: {error.strerror}.", fix="choose a folder that can be written."
        ) from None
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)


def _kept(file: str) -> VyreError:
    return VyreError(
        f"{file!r} exists, and a key that is lost cannot be made again.", fix="choose another name."
    )
