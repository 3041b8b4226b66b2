"""Records of blocks are typed values, and the bytes that a journal and a shard hold of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from vyre.conform.records.blocks import (
    BlockCoverage,
    BlockRecord,
    CaseRange,
    FailCount,
    FailRanges,
    GroupEntry,
    GroupFacts,
    OpBlock,
    Outcome,
    StageBlock,
    Stop,
    WrongInput,
)
from vyre.conform.records.documents import FieldError, canonical, decode, encode, reread
from vyre.conform.records.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

FULL = OpBlock(
    3,
    (FailCount(1, 2, 7),),
    ("commutative",),
    Stop("crash", "died", 9, (1, 2), "a single case", "laws", 4, "primitive.math.add", "random"),
    coverage=BlockCoverage((1, 0), ((0, 2), ())),
    failing=(FailRanges(1, (CaseRange(7, 8, 2),)),),
    made=WrongInput(5, 1, 0, 6, 1),
)
WRITTEN: dict[str, Any] = {
    "cases": 3,
    "fails": [[1, 2, 7]],
    "refused": ["commutative"],
    "stop": {
        "kind": "crash",
        "message": "died",
        "case": 9,
        "words": [1, 2],
        "at": "a single case",
        "check": "laws",
        "cases": 4,
        "op": "primitive.math.add",
        "in": "random",
    },
    "coverage": {"classes": [1, 0], "boundaries": [[0, 2], []]},
    "failing": [[1, [[7, 8, 2]]]],
    "made": [5, 1, 0, 6, 1],
}


def test_a_block_is_written_as_journals_have_it() -> None:
    assert encode(FULL) == WRITTEN
    assert decode(OpBlock, WRITTEN) == FULL
    assert encode(OpBlock(0)) == {"cases": 0, "fails": [], "refused": [], "stop": None}
    assert decode(OpBlock, encode(OpBlock(0))) == OpBlock(0)
    assert encode(GroupFacts()) == {}


def test_a_block_of_an_op_and_one_of_a_stage_are_told_apart() -> None:
    for record in (FULL, OpBlock(0), StageBlock(()), StageBlock((Outcome("wire/a/0", "a", "passed"),))):
        held = BlockRecord("unit", 4, record)
        assert reread(held) == held


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fails": [[1, 2]]}, r"fails\[0\]: expected a list of 3"),
        ({"fails": [[1, 2, -7]]}, r"fails\[0\]\[2\]: expected a whole number"),
        ({"made": [5, 1, 0, 6, "1"]}, r"made\[4\]: expected a whole number"),
        ({"in": "random"}, "in: no field of this name is known here"),
        ({"stop": {"kind": "crash"}}, r"stop\.message: this field is missing"),
        ({"failing": [[1, [[7, 8]]]]}, r"failing\[0\]\[1\]\[0\]: expected a list of 3"),
    ],
)
def test_what_is_no_record_is_named_by_its_place(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FieldError, match=message):
        decode(OpBlock, {**WRITTEN, **changed})


def test_the_journal_gives_a_record_as_it_will_be_read_back(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl", {}, resume=False)
    kept = journal.keep(GroupEntry("half \ud800", GroupFacts("native", "seen"), ()))
    journal.close()
    again = Journal(tmp_path / "journal.jsonl", {}, resume=True)
    again.close()
    assert kept.group == "half \\ud800"
    assert [decode(GroupEntry, entry) for entry in again.entries] == [kept]
    assert canonical(encode(kept)) == canonical(again.entries[0])
