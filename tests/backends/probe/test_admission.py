"""Who is admitted to guarded floats: devices that keep the bits within the range, and nobody else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.backends.probe.simulated import Simulated, exactly, is_inside
from vyre.backends.probe import admission
from vyre.backends.probe.admission import admitted_ways, refusals
from vyre.backends.probe.guarded import CHAINED, FUSED, TOGETHER, edge_cases, guarded_probe, inside
from vyre.ir.float_formats import F32
from vyre.lower.native import CHAIN_KEY, GUARDED_KEYS, GUARDED_RANGES
from vyre.lower.ways import SOFT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COUNT, SWEEP = 100, 400


def refused(backend: Simulated) -> set[str]:
    return {key for key, why in refusals(backend, count=COUNT, sweep=SWEEP).items() if why}


def flushed(bits: int) -> int:
    """A subnormal number as zero."""
    return bits & F32.sign if 0 < bits & F32.magnitude < F32.hidden else bits


def flushing(name: str) -> Callable[..., int]:
    """Operands and results are flushed, NaNs and infinities are taken for zeros."""

    def result(*operands: int) -> int:
        taken = [flushed(x) if x & F32.magnitude < F32.infinity else 0 for x in operands]
        return flushed(exactly(name)(*taken))

    return result


def changed(name: str, wrong: Callable[[tuple[int, ...], int], int]) -> Simulated:
    return Simulated({name: lambda *a: wrong(a, exactly(name)(*a))})


def test_an_exact_device_is_admitted_to_all() -> None:
    assert refused(Simulated({})) == set()


def test_a_device_that_flushes_is_admitted_for_nothing_is_subnormal_within_the_ranges() -> None:
    assert refused(Simulated({name: flushing(name) for name in ("add", "sub", "mul", "fma")})) == set()


def test_a_device_that_flushes_above_the_subnormal_numbers_is_refused() -> None:
    def wrong(_: tuple[int, ...], bits: int) -> int:
        return bits & F32.sign if bits & F32.magnitude < (F32.bias - 110) << 23 else bits

    assert refused(changed("mul", wrong)) >= {"f32.mul"}


def test_a_device_that_fuses_across_operations_is_refused_them() -> None:
    assert refused(Simulated({}, fuses=True)) >= {"f32.add", "f32.mul", CHAIN_KEY}


def test_a_product_and_a_sum_are_no_fma() -> None:
    def twice(a: int, b: int, c: int) -> int:
        return exactly("add")(exactly("mul")(a, b), c)

    assert refused(Simulated({"fma": twice})) == {"f32.fma"}


@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma"])
def test_one_unit_in_the_last_place_is_enough_to_be_refused(name: str) -> None:
    """Wrong in one result of about fifty, all of them ordinary numbers."""

    def wrong(operands: tuple[int, ...], bits: int) -> int:
        return bits ^ 1 if bits & F32.magnitude and sum(operands) % 53 == 0 else bits

    assert refused(changed(name, wrong)) >= {f"f32.{name}"}


@pytest.mark.parametrize("name", ["add", "sub", "fma"])
def test_a_device_without_negative_zero_is_refused(name: str) -> None:
    def wrong(_: tuple[int, ...], bits: int) -> int:
        return 0 if bits == F32.sign else bits

    assert refused(changed(name, wrong)) >= {f"f32.{name}"}


def test_a_compiler_that_folds_a_zero_is_refused() -> None:
    """`x + 0` is not `x` where `x` is -0."""

    def folded(operands: tuple[int, ...], bits: int) -> int:
        return operands[0] if operands[1] == 0 else bits

    assert refused(changed("add", folded)) >= {"f32.add"}


def test_the_edges_lie_on_both_sides_of_every_range() -> None:
    for key in GUARDED_RANGES:
        op = guarded_probe(key)
        name = key.partition(".")[2]
        found = {is_inside(name, case) for case in edge_cases(op)}
        assert found == {True, False}
        columns = inside(op, 500)
        rows = list(zip(*(c.tolist() for c in columns), strict=True))
        assert all(is_inside(name, row) for row in rows)
        assert any(0 in row for row in rows)
        assert [c.tolist() for c in inside(op, 500)] == [c.tolist() for c in columns]


def test_operations_are_asked_together() -> None:
    assert {*TOGETHER.keys, *FUSED.keys, *CHAINED.keys} == GUARDED_KEYS


def test_what_was_found_is_kept_for_the_same_device_and_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = dict.fromkeys(GUARDED_KEYS, "") | {"f32.fma": "wrong"}
    asked: list[str] = []

    def answers(_: object) -> dict[str, str]:
        asked.append("")
        return found

    monkeypatch.setattr(admission, "refusals", answers)
    tmp_path.chmod(0o700)
    path = tmp_path / "guarded.json"
    for _ in range(2):
        assert admitted_ways(Simulated({}), path=path).guarded == GUARDED_KEYS - {"f32.fma"}
    assert len(asked) == 1
    monkeypatch.setattr(admission, "questions_version", lambda: "others")
    admitted_ways(Simulated({}), path=path)
    assert len(asked) == 2
    kept = json.loads(path.read_text())
    key = next(iter(kept))
    path.write_text(json.dumps({key: {"f32.add": ""}}))  # an answer is missing
    monkeypatch.undo()
    monkeypatch.setattr(admission, "refusals", answers)
    admitted_ways(Simulated({}), path=path)
    assert len(asked) == 3


def test_a_device_that_refuses_the_kernels_stays_soft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vyre.errors import DeviceError

    def lost(*_: object, **__: object) -> None:
        raise DeviceError("the device refused the work.", fix="none.")

    backend = Simulated({})
    monkeypatch.setattr(backend, "compile", lost)
    tmp_path.chmod(0o700)
    assert admitted_ways(backend, path=tmp_path / "guarded.json") == SOFT
    assert not (tmp_path / "guarded.json").exists()
