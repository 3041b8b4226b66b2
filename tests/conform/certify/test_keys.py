"""Keys are kept in files for their owner, never replaced, and told apart from everything else."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("cryptography")

from vyre.conform.certify.keys import SigningKey, checks, load_public
from vyre.errors import CertificateError, VyreError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_key_signs_and_its_public_half_checks(tmp_path: Path) -> None:
    key = SigningKey.generate()
    public = key.write(str(tmp_path / "a.key"))
    assert stat.S_IMODE((tmp_path / "a.key").stat().st_mode) == 0o600
    again = SigningKey.load(str(tmp_path / "a.key"))
    assert again.keyid == key.keyid == load_public(str(public))
    signature = again.sign(b"data")
    assert checks(key.keyid, b"data", signature)
    assert not checks(key.keyid, b"datb", signature)
    assert not checks(SigningKey.generate().keyid, b"data", signature)
    assert not checks(key.keyid, b"data", b"short")
    assert key.sign(b"data") == signature


@pytest.mark.parametrize("name", ["a.key", "a.key.pub"])
def test_no_file_is_replaced(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(VyreError, match="cannot be made again"):
        SigningKey.generate().write(str(tmp_path / "a.key"))
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    public = SigningKey.generate().write(str(tmp_path / "a.key"))
    (tmp_path / "text").write_text("hello")
    for wrong in (str(public), str(tmp_path / "text"), str(tmp_path / "nothing")):
        with pytest.raises(VyreError):
            SigningKey.load(wrong)
    for wrong in (str(tmp_path / "a.key"), str(tmp_path / "text"), str(tmp_path / "nothing")):
        with pytest.raises(VyreError):
            load_public(wrong)
    with pytest.raises(VyreError, match="cannot write"):
        SigningKey.generate().write(str(tmp_path / "no" / "folder"))


@pytest.mark.parametrize("keyid", ["", "rsa:00", "ed25519:00", "ed25519:" + "G" * 64, "ed25519:" + "AB" * 32])
def test_a_key_id_has_one_spelling(keyid: str) -> None:
    with pytest.raises(CertificateError, match="not a key id"):
        checks(keyid, b"data", bytes(64))
