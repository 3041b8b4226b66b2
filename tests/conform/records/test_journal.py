"""The journal believes whole lines only, and goes on after the last of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vyre.conform.records.journal import Journal, read, write_durably
from vyre.errors import VyreError

if TYPE_CHECKING:
    from pathlib import Path


def filled(path: Path, count: int) -> bytes:
    journal = Journal(path, {"plan": "a"}, resume=False)
    for k in range(count):
        journal.append({"block": k})
    journal.close()
    return path.read_bytes()


def test_a_journal_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal"
    filled(path, 3)
    again = Journal(path, {"plan": "ignored"}, resume=True)
    assert again.head == {"plan": "a"}
    assert again.entries == [{"block": 0}, {"block": 1}, {"block": 2}]
    again.close()


def test_every_torn_end_is_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = filled(path, 3)
    starts = [0]
    for k, byte in enumerate(whole):
        if byte == 10:
            starts.append(k + 1)
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        complete = sum(cut >= end for end in starts[1:])
        journal = Journal(path, {"plan": "b"}, resume=True)
        assert journal.head == ({"plan": "a"} if complete else {"plan": "b"})
        assert len(journal.entries) == max(0, complete - 1)
        journal.append({"block": "new"})
        journal.close()
        assert read(path)[0][-1] == {"block": "new"}
        assert len(read(path)[0]) == max(1, complete) + 1


def test_a_damaged_line_ends_what_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    whole = bytearray(filled(path, 3))
    at = bytes(whole).index(b'"block":1')
    whole[at + 8] ^= 1
    path.write_bytes(whole)
    journal = Journal(path, {}, resume=True)
    assert journal.entries == [{"block": 0}]
    journal.close()


def test_without_resume_a_journal_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    filled(path, 3)
    journal = Journal(path, {"plan": "new"}, resume=False)
    journal.close()
    assert read(path)[0] == [{"plan": "new"}]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VyreError, match="--state"):
        Journal(tmp_path / "file" / "journal", {}, resume=False)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_durably(tmp_path / "a" / "b", b"data")
    assert (tmp_path / "a" / "b").read_bytes() == b"data"
    assert [p.name for p in (tmp_path / "a").iterdir()] == ["b"]
