"""What vyre keeps on disk is believed only where nobody else can have written it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vyre import disk
from vyre.backends.kernel_cache import KernelCache, default_cache, kept, key_of, why_none
from vyre.backends.verdicts import Verdicts
from vyre.conform.records.journal import Journal
from vyre.conform.suite.regressions import Store
from vyre.errors import VyreError
from vyre.semantics.proof_cache import ProofCache, default_folder
from vyre.semantics.solvers import Answer, Attempt

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = key_of("cpu", ["a"])


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    found = KernelCache(tmp_path / "cache")
    assert disk.private_folder(found.folder)
    found.keep(KEY, b"code")
    assert found.find(KEY) == b"code"
    return found


def entry(cache: KernelCache) -> Path:
    (found,) = cache.folder.glob("??/*")
    return found


def quickly(action: Callable[[], object]) -> object:
    """The result of a call that must not wait for anybody."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(action()), daemon=True)
    thread.start()
    thread.join(20)
    assert found, "the call waits"
    return found[0]


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_link(path: Path) -> None:
    target = path.with_name("elsewhere")
    path.rename(target)
    path.symlink_to(target)


def make_writable(path: Path) -> None:
    path.chmod(0o666)


def make_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


CHANGES = [make_pipe, make_folder, make_link, make_writable, make_device]


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__)
def test_an_entry_that_is_no_file_of_ours_is_built_again(
    change: Callable[[Path], None], cache: KernelCache
) -> None:
    change(entry(cache))
    assert quickly(lambda: cache.kept("cpu", ["a"], lambda: b"fresh")) == b"fresh"
    assert quickly(cache.usage)


@pytest.mark.parametrize("mode", [0o777, 0o720, 0o702])
def test_a_subfolder_that_others_may_write_is_not_believed(mode: int, cache: KernelCache) -> None:
    entry(cache).parent.chmod(mode)
    assert cache.find(KEY) is None
    cache.keep(KEY, b"other")
    assert entry(cache).read_bytes().endswith(b"code")


def test_a_subfolder_that_is_a_link_is_not_believed(cache: KernelCache, tmp_path: Path) -> None:
    folder = entry(cache).parent
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert cache.find(KEY) is None


def test_a_parent_that_others_may_write_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = tmp_path / "shared"
    parent.mkdir()
    monkeypatch.setenv("VYRE_CACHE", str(parent / "below" / "cache"))
    assert default_cache() is not None
    parent.chmod(0o777)
    assert default_cache() is None
    assert why_none() == f"others may write to {parent}"
    parent.chmod(0o1777)  # as /tmp: nobody but the owner may rename what lies there
    assert default_cache() is not None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_believed(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, -1)
    assert "belongs to another user" in disk.distrust(folder)
    inside = folder / "inside"
    inside.mkdir()
    assert disk.distrust(inside) == f"{folder} belongs to another user"
    link = tmp_path / "link"
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    link.symlink_to(mine)
    assert disk.distrust(link) == ""
    os.chown(link, 12345, -1, follow_symlinks=False)
    assert "link of another user" in disk.distrust(link)


def test_every_folder_on_the_way_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert disk.private_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("value", ["~nosuchuser/x", "~nosuchuser", "a\0b"])
def test_a_cache_of_nobody_is_one_clear_error(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ, "VYRE_CACHE": value})
    with pytest.raises(VyreError, match=r"VYRE_CACHE is .* Fix: set VYRE_CACHE"):
        kept("cpu", ["a"], lambda: b"")


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch], ids=["pipe", "file"])
def test_a_cache_that_is_no_folder_is_no_cache(
    make: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "x")
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path / "x"))
    assert quickly(lambda: kept("cpu", ["a"], lambda: b"built")) == b"built"
    assert "is not a folder" in why_none()


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(path: str) -> str:
        return path

    monkeypatch.setattr(os.path, "expanduser", homeless)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("VYRE_CACHE", raising=False)
    assert default_cache() is None
    assert why_none() == "this user has no home folder"
    assert default_folder() is None


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"key":' * 100_000,
        b'{"key": {"a": 1}}',
        b'{"key": {"a": "\\ud800"}}',
        b'{"key": []}',
        b"null",
        b"\xff",
        b"[1e400",
    ],
)
def test_verdicts_that_cannot_be_read_are_made_again(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "canaries.json"
    path.write_bytes(content)
    path.chmod(0o600)
    store = Verdicts(path)
    assert not store.find("key")
    store.keep("key", {"a": "wrong"})
    assert Verdicts(path).find("key") == {"a": "wrong"}


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.__name__)
def test_verdicts_that_are_no_file_of_ours_are_made_again(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "canaries.json"
    Verdicts(path).keep("key", {})
    change(path)
    assert quickly(lambda: not Verdicts(path).find("key"))


def test_proofs_that_cannot_be_trusted_are_made_again(tmp_path: Path) -> None:
    pytest.importorskip("bitwuzla")
    text = "(set-logic QF_BV)\n(declare-const x (_ BitVec 8))\n(assert (distinct x x))\n(check-sat)\n"
    attempts = (Attempt("bitwuzla", (), 0),)
    proofs = ProofCache(tmp_path)
    assert proofs.solve(text, attempts=attempts).answer is Answer.Unsat
    assert proofs.solve(text, attempts=attempts).cached
    (path,) = tmp_path.glob("??/*.json")
    path.parent.chmod(0o777)
    assert not proofs.solve(text, attempts=attempts).cached
    path.parent.chmod(0o700)
    tmp_path.chmod(0o777)
    assert not ProofCache(tmp_path).solve(text, attempts=attempts).cached
    tmp_path.chmod(0o700)
    make_pipe(path)
    assert not quickly(lambda: proofs.solve(text, attempts=attempts).cached)


def test_a_pipe_where_a_journal_or_a_failure_is_expected_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal.jsonl")

    def resumed() -> str:
        try:
            Journal(tmp_path / "journal.jsonl", {}, resume=True)
        except VyreError as error:
            return error.message
        return ""

    assert "it is not a plain file" in str(quickly(resumed))
    (tmp_path / "cpu").mkdir()
    os.mkfifo(tmp_path / "cpu" / "a.json")
    assert quickly(lambda: Store(tmp_path).load("cpu") == {})
