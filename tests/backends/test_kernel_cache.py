"""The disk cache of compiled kernels: hits, damage, sharing, and trouble with the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from vyre.backends.kernel_cache import KernelCache, default_cache, kept, key_of

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ["source", "options"]


class Builder:
    """Counts how often the kernel was really built."""

    def __init__(self, payload: bytes = b"machine code") -> None:
        self.payload = payload
        self.times = 0

    def __call__(self) -> bytes:
        self.times += 1
        return self.payload


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "kernels")


def entry(cache: KernelCache) -> Path:
    (found,) = cache.folder.glob("??/*")
    return found


def test_the_second_request_builds_nothing(cache: KernelCache) -> None:
    build = Builder()
    assert cache.kept("cpu", PARTS, build) == cache.kept("cpu", PARTS, build) == b"machine code"
    assert build.times == 1


def test_a_key_may_have_the_path_of_a_folder_that_does_not_decode() -> None:
    """Such as one named in Latin-1, or in UTF-8 where the file system is said to be ASCII."""
    paths = [os.fsdecode(b"/home/gr\xfc\xdf"), os.fsdecode(b"/home/gr\xfc"), "/home/gr\u00fc\u00df"]
    assert len({key_of("cpu", [path]) for path in paths}) == 3


def test_every_part_of_the_key_counts() -> None:
    keys = {
        key_of("cpu", ["ab", "c"]),
        key_of("cpu", ["a", "bc"]),
        key_of("cpu", ["abc"]),
        key_of("cuda", ["ab", "c"]),
        key_of("cpu", ["ab", "c", ""]),
    }
    assert len(keys) == 5


def test_any_damaged_byte_is_noticed_and_the_entry_rebuilt(cache: KernelCache) -> None:
    build = Builder(b"four")
    cache.kept("cpu", PARTS, build)
    whole = entry(cache).read_bytes()
    for at in range(len(whole)):
        entry(cache).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.kept("cpu", PARTS, build) == b"four"
    assert build.times == 1 + len(whole)
    for length in (0, 10, len(whole) - 1):
        entry(cache).write_bytes(whole[:length])
        assert cache.kept("cpu", PARTS, build) == b"four"
    assert build.times == 4 + len(whole)


def test_an_entry_under_the_name_of_another_is_damaged(cache: KernelCache) -> None:
    cache.keep(key_of("cpu", ["one"]), b"one")
    one = entry(cache)
    key = key_of("cpu", ["two"])
    (cache.folder / key[:2]).mkdir(exist_ok=True)
    (cache.folder / key[:2] / key[2:]).write_bytes(one.read_bytes())
    assert cache.find(key) is None
    assert cache.find(key_of("cpu", ["one"])) == b"one"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("VYRE_CACHE", str(blocked / "below"))
    build = Builder()
    assert kept("cpu", PARTS, build) == b"machine code"
    assert KernelCache(blocked / "below").kept("cpu", PARTS, build) == b"machine code"
    assert build.times == 2


def test_a_full_disk_is_no_error(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    build = Builder()
    assert cache.kept("cpu", PARTS, build) == b"machine code"
    assert not list(cache.folder.glob("??/*"))


def test_a_folder_others_may_write_to_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("VYRE_CACHE", str(folder))
    assert default_cache() is None
    folder.chmod(0o700)
    assert default_cache() is not None


def test_it_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", "off")
    build = Builder()
    kept("cpu", PARTS, build)
    kept("cpu", PARTS, build)
    assert build.times == 2


def test_the_least_used_go_first(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, capacity=10_000)
    keys = [key_of("cpu", [str(n)]) for n in range(20)]
    for age, key in enumerate(keys):
        cache.keep(key, bytes(1000))
        os.utime(cache.folder / key[:2] / key[2:], (age, age))
    assert cache.find(keys[0]) is not None
    cache.shrink()
    assert cache.usage().size <= cache.capacity
    assert cache.find(keys[0]) is not None
    assert cache.find(keys[1]) is None
    assert cache.find(keys[19]) is not None
    assert cache.clear() == 7
    assert cache.usage().entries == 0


_CHILD = """
import sys
from pathlib import Path
from vyre.backends.kernel_cache import KernelCache
cache = KernelCache(Path(sys.argv[1]))
for turn in range(200):
    for n in range(5):
        payload = bytes([n]) * 5000
        if cache.kept("cpu", [str(n)], lambda: payload) != payload:
            sys.exit(3)
        if turn % 7 == int(sys.argv[2]):
            cache.clear()
"""


def test_two_processes_share_it(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", _CHILD, str(tmp_path / "kernels"), str(n)]) for n in (2, 5)
    ]
    assert [w.wait(60) for w in workers] == [0, 0]
