"""A certificate with an odd value anywhere is refused in words, by every command that reads one."""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

import pytest
from click.testing import CliRunner

from tests.conform.certify.odd_values import SOME, odd_documents, replaced
from tests.conform.certify.small_runs import DIV, Right, WrongDivision, certified, shards
from tests.conform.certify.small_runs import small as small  # a fixture
from vyre.cli import main
from vyre.conform.certify.annex import Baseline, check_annex, write_annex
from vyre.conform.certify.certificate import CertificateContents
from vyre.conform.certify.merge import merge
from vyre.conform.certify.statement import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    opened,
    read,
    sealed_record,
    unsealed,
    write,
)
from vyre.conform.certify.summary import summary
from vyre.conform.certify.verify import verify
from vyre.conform.records.documents import canonical, encode, parse
from vyre.conform.records.journal import Journal
from vyre.conform.suite.plan import make_plan
from vyre.conform.suite.regressions import Store
from vyre.conform.suite.run import Suite
from vyre.errors import CertificateError, VyreError
from vyre.report import render

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("small")
LANE = "value.lane.u64.0"
STAGES = ("regressions", "ops", "barrier")


def document(record: Any) -> bytes:
    """A bare certificate's file with everything about it in order, whatever the record says."""
    backend: Any = record.get("backend")
    name = cast("dict[str, Any]", backend).get("name") if isinstance(backend, dict) else ""
    digest = hashlib.sha256(canonical(backend)).hexdigest()
    return canonical(
        {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": name, "digest": {"sha256": digest}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": sealed_record(record),
        }
    )


def printable_refusal(attempt: Callable[[], object]) -> bool:
    """Whether an attempt is refused, in words that a terminal can show; any other error is the test's."""
    try:
        attempt()
    except VyreError as error:
        refusal = str(error)
    else:
        return False
    assert refusal.isprintable()
    assert "Fix: " in refusal
    return True


def test_every_field_replaced_is_refused_in_words(tmp_path: Path) -> None:
    made = certified(
        WrongDivision(), tmp_path, ops=(DIV,), stages=STAGES, expected=[(DIV, "known")], baselines=("copy",)
    )
    record = parse(made.to_json())
    assert verify(document(record)).ok
    registry = record["registry"]
    record["registry"] = {**registry, "ops": registry["ops"][:1]}  # which is read a thousand times faster
    refused = 0
    for name, odd in odd_documents(record):
        if printable_refusal(lambda odd=odd: CertificateContents.from_record(odd)):
            refused += 1
            continue
        report = verify(document(odd if "registry" in name else odd | {"registry": registry}))
        if report.document is not None:
            shown = report.document.certificate
            assert summary(shown.results, [shown]), name
            if name.endswith(("zero", "too large")):
                assert render(report.document).encode(), name
    assert refused > 1000


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (("ops", 0, "status"), "great", "ops[0].status"),
        (("ops", 0, "parity", 0, "cases"), -5, "ops[0].parity[0].cases"),
        (("kind",), "both", "kind"),
        (("plan", "shard"), [0, 0], "plan.shard"),
        (("plan", "repeats"), 0, "plan.repeats"),
        (("tracks", 0, "levels", 0, "level"), "L9", "tracks[0].levels[0].level"),
        (("backend", "device"), "\ud800", "canonical"),
    ],
)
@pytest.mark.parametrize("command", ["verify", "report", "merge"])
def test_every_command_names_the_field(
    command: str, path: tuple[Any, ...], value: Any, field: str, tmp_path: Path
) -> None:
    made = certified(WrongDivision(), tmp_path, ops=(DIV,))
    odd = replaced(parse(made.to_json()), path, value)
    file = tmp_path / "odd.json"
    data = document(odd)
    if value == "\ud800":
        data = data.replace(b"\\\\ud800", b"\\ud800")  # as another writer would spell it
    file.write_bytes(data)
    options = ["-o", str(tmp_path / "out")] if command != "verify" else []
    result = CliRunner().invoke(main, [command, str(file), *options])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    words = result.output.replace("\n             ", " ")
    assert field in words
    assert "Fix:" in words


def test_a_forged_shard_is_refused_by_merge(tmp_path: Path) -> None:
    """Records of blocks are not part of what levels rest on, so nothing but merge itself reads them."""
    first, second = shards(Right(), tmp_path, 2, ops=(LANE, DIV), stages=STAGES)
    blocks = encode(first.blocks)
    of_ops = next(k for k, b in enumerate(blocks) if "coverage" in b["record"])
    of_stage = next(k for k, b in enumerate(blocks) if "outcomes" in b["record"])
    failing = {"kind": "hang", "message": "", "case": 0, "words": [1, 2], "at": ""}
    blocks[of_ops]["record"] |= {"fails": [[0, 1, 0]], "stop": failing, "refusal": ""}
    refused = 0
    for k in (of_ops, of_stage):
        for _, odd in odd_documents(blocks, below=(k, "record")):
            record = {**encode(first), "blocks": odd}
            refused += printable_refusal(
                lambda record=record: merge([CertificateContents.from_record(record), second])
            )
    assert refused > 200


def test_blocks_of_other_fields_never_reach_merge(tmp_path: Path) -> None:
    first, _ = shards(Right(), tmp_path, 2, ops=(LANE,), stages=("ops",))
    record = parse(first.to_json())
    for name, odd in odd_documents(record, below=("blocks", 0)):
        if ".record." not in name:
            with pytest.raises(CertificateError):
                merge([read(document(odd)).certificate, first])


def test_a_plan_of_endless_cases_is_not_listed(tmp_path: Path) -> None:
    first, second = (
        replace(s, plan=replace(s.plan, cases=1 << 62))
        for s in shards(Right(), tmp_path, 2, ops=(LANE,), stages=("ops",))
    )
    with pytest.raises(VyreError, match="blocks of cases"):
        merge([first, second])


def test_an_annex_of_odd_values_is_refused_in_words(tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, ops=(LANE,), baselines=("copy",))
    whole = read(write(made))
    annex = write_annex((Baseline("copy", 64, 3, "1.000", "host"),), made)
    assert check_annex(annex, whole).status != "wrong"
    statement, _ = opened(annex)
    record = unsealed(statement["predicate"], "predicate")
    for name, odd in odd_documents(record):
        finding = check_annex(canonical({**statement, "predicate": sealed_record(odd)}), whole)
        free = ("device", "driver", "drops = a list", "baselines.0.microseconds", "baselines.0.elements")
        assert finding.status == "wrong" or name.startswith(free), name
        assert finding.text.isprintable()


def run_again(folder: Path, entries: list[Any]) -> None:
    """Resumes a run whose journal holds these lines."""
    plan = make_plan("cpu", ops=(LANE,), stages=("ops", "barrier"), cases=40, largest=0)
    path = folder / "journal.jsonl"
    data, checksum = b"", 0
    for entry in entries:
        body = canonical(entry)
        checksum = zlib.crc32(body, checksum)
        data += b"%08x %b" % (checksum, body)
    path.write_bytes(data)
    journal = Journal(path, {"plan": asdict(plan)}, resume=True)
    try:
        Suite(plan, Right(), journal).run()
    finally:
        journal.close()


def test_a_journal_of_odd_values_is_refused_in_words(tmp_path: Path) -> None:
    plan = make_plan("cpu", ops=(LANE,), stages=("ops", "barrier"), cases=40, largest=0)
    first = Journal(tmp_path / "journal.jsonl", {"plan": asdict(plan)}, resume=False)
    Suite(plan, Right(), first).run()
    lines = [parse(raw[9:]) for raw in first.path.read_bytes().splitlines(keepends=True)]
    run_again(tmp_path, lines)
    group = next(k for k, entry in enumerate(lines) if "group" in entry)
    refused = 0
    place, block = 1, 2
    for k in (place, block, group):
        for _, odd in odd_documents(lines, below=(k,), values=SOME):
            refused += printable_refusal(lambda odd=odd: run_again(tmp_path, odd))
    assert refused > 50


def test_a_journal_that_begins_with_no_plan_is_refused_in_words(tmp_path: Path) -> None:
    plan = asdict(make_plan("cpu", ops=(LANE,), stages=("ops", "barrier"), cases=40, largest=0))
    for name, odd in odd_documents({"plan": parse(canonical(plan))}, values=SOME):
        assert printable_refusal(lambda odd=odd: run_again(tmp_path, [odd])), name


def test_a_stored_failure_that_cannot_be_read_is_put_aside(tmp_path: Path) -> None:
    store = Store(tmp_path)
    folder = tmp_path / "cpu"
    folder.mkdir()
    (folder / "a.json").write_bytes(b"[" * 100_000)
    (folder / "b.json").write_bytes(b'{"count": 1e400}')
    assert store.load("cpu") == {}
    assert [p.name for p in store.damaged("cpu")] == ["a.damaged", "b.damaged"]
