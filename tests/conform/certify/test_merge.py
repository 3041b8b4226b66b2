"""Merged shards are the certificate of the whole run, byte for byte; what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.small_runs import (
    DIV,
    FEW,
    Raising,
    Refusing,
    Right,
    WrongAddition,
    WrongDivision,
    certified,
    shards,
    small,
)
from vyre.conform.certify.merge import merge
from vyre.conform.certify.statement import read, write
from vyre.conform.records.blocks import BlockRecord, OpBlock
from vyre.conform.suite.regressions import Store
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vyre.conform.certify.certificate import CertificateContents

__all__ = ["small"]

STAGES = ("regressions", "ops", "wire", "programs")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("backend", [Right, WrongDivision, Raising, Refusing])
def test_three_shards_are_the_whole_run(backend: type[Right], tmp_path: Path) -> None:
    whole = certified(backend(), tmp_path / "whole", stages=STAGES)
    parts = shards(backend(), tmp_path, 3, stages=STAGES)
    assert all(part.blocks for part in parts)
    through_files = [read(write(part)).certificate for part in parts]
    merged = merge([through_files[1], through_files[2], through_files[0]])
    assert merged.to_json() == whole.to_json()
    assert bool(whole.failures) == (backend in (WrongDivision, Raising))
    statuses = {op.id: op.status for op in merged.ops}
    assert statuses[DIV] == {Right: "passed", Refusing: "refused"}.get(backend, "failed")


@pytest.mark.usefixtures("small")
def test_programs_that_a_run_would_make_small_are_those_of_the_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vyre.conform.verify.stages.programs._QUESTIONS", 12)
    monkeypatch.setattr("vyre.conform.verify.stages.programs.Programs.group", 2)
    options: dict[str, Any] = {"ops": (), "stages": ("programs",), "programs": 6}
    whole = certified(WrongAddition(), tmp_path / "whole", **options)
    parts = shards(WrongAddition(), tmp_path, 3, **options)
    assert len(whole.failures) > 3
    assert [len(p.blocks) for p in parts] == [1, 1, 1]
    assert merge(parts).to_json() == whole.to_json()


@pytest.mark.usefixtures("small")
def test_what_only_the_whole_run_can_see_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_boundaries(graph: object, masks: object) -> tuple[int, int]:
        return 2, 0

    monkeypatch.setattr("vyre.conform.verify.cases._boundary", no_boundaries)
    whole = certified(Right(), tmp_path / "whole", ops=(DIV,))
    parts = shards(Right(), tmp_path, 2, ops=(DIV,))
    assert {f.kind for f in whole.failures} == {"coverage"}
    assert not any(part.failures for part in parts)
    assert merge(parts).to_json() == whole.to_json()


@pytest.mark.usefixtures("small")
def test_stored_failures_are_replayed_by_the_first_shard_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "failures")
    certified(WrongDivision(), tmp_path / "before", ops=(DIV,), store=store)
    kept = Store(tmp_path / "failures")
    whole = certified(WrongDivision(), tmp_path / "whole", store=kept)
    parts = shards(WrongDivision(), tmp_path, 3, store=kept)
    assert len(parts[0].plan.regressions) == len(whole.plan.regressions) > 0
    assert [bool(p.plan.regressions) for p in parts] == [True, False, False]
    assert merge(parts).to_json() == whole.to_json()


@pytest.mark.usefixtures("small")
def test_expected_failures_and_baselines_come_along(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "expected": [(DIV, "our divider")],
        "baselines": ("copy", "add"),
        "ops": (DIV,),
    }
    whole = certified(WrongDivision(), tmp_path / "whole", **options)
    merged = merge(shards(WrongDivision(), tmp_path, 2, **options))
    assert merged.to_json() == whole.to_json()
    assert merged.expected[0].failed


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[CertificateContents]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vyre.conform.verify.cases.SHAPED", 16)
        patch.setattr("vyre.conform.verify.cases.PER_CLASS", 1)
        return shards(Right(), tmp_path_factory.mktemp("parts"), 3, ops=FEW[:1])


def refused(shards: list[CertificateContents]) -> str:
    with pytest.raises(CertificateError) as error:
        merge(shards)
    assert error.value.fix
    return error.value.message


def test_missing_and_double_shards_are_refused(parts: list[CertificateContents]) -> None:
    assert refused(parts[:2]) == "of 3 shards, 3 is missing."
    assert refused(parts[1:2]) == "of 3 shards, 1, 3 are missing."
    assert refused([*parts, parts[1]]) == "shard 2 of 3 is there twice."
    assert refused([]) == "there is nothing to merge."


def test_a_whole_certificate_is_not_merged(parts: list[CertificateContents]) -> None:
    whole = replace(parts[0], plan=replace(parts[0].plan, shard=(1, 1)))
    assert "of a whole run already" in refused([whole])


OTHERS: list[tuple[Callable[[CertificateContents], CertificateContents], str]] = [
    (lambda c: replace(c, plan=replace(c.plan, seed=7)), "their plans differ in seed (24301 and 7)"),
    (lambda c: replace(c, plan=replace(c.plan, shard=(2, 4))), "one is of 3 shards, the other of 4"),
    (
        lambda c: replace(c, backend=replace(c.backend, driver="another")),
        "their backends differ in driver",
    ),
    (
        lambda c: replace(c, registry=replace(c.registry, ops=c.registry.ops[1:])),
        "their registries differ: primitive.math.add was removed",
    ),
    (lambda c: replace(c, kind="approximate"), "one is strict, the other approximate"),
    (lambda c: replace(c, vyre="0.0.0"), "other versions of vyre made them"),
    (lambda c: replace(c, baselines=("copy",)), "their baselines differ"),
]


@pytest.mark.parametrize(("change", "message"), OTHERS)
def test_shards_of_other_runs_are_refused(
    parts: list[CertificateContents],
    change: Callable[[CertificateContents], CertificateContents],
    message: str,
) -> None:
    assert message in refused([parts[0], change(parts[1]), parts[2]])


def test_overlapping_and_torn_shards_are_refused(parts: list[CertificateContents]) -> None:
    doubled = replace(parts[1], blocks=(*parts[1].blocks, parts[0].blocks[0]))
    assert "which another shard holds too" in refused([parts[0], doubled, parts[2]])
    torn = replace(parts[1], blocks=parts[1].blocks[1:])
    assert "no shard holds block" in refused([parts[0], torn, parts[2]])
    strange = replace(
        parts[1], blocks=(*parts[1].blocks, BlockRecord("value.lane.u64.0/random", 99, OpBlock(0)))
    )
    assert "a block that its plan does not have" in refused([parts[0], strange, parts[2]])


def test_shards_of_another_registry_are_refused(parts: list[CertificateContents]) -> None:
    first = replace(parts[0].registry.ops[0], digest="0" * 64)
    changed = [replace(p, registry=replace(p.registry, ops=(first, *p.registry.ops[1:]))) for p in parts]
    assert "another registry: primitive.math.add was changed" in refused(changed)
