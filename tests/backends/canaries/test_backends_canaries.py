"""Canaries: right on the reference, and a device that gets one wrong loses that feature and no other."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pytest

from vyre.backends.canaries.every import CANARIES
from vyre.backends.canaries.examined import Examined
from vyre.backends.canaries.programs import Canary, words
from vyre.backends.canaries.run import examine, refuse_lost_features
from vyre.backends.protocol import BackendInfo, CanaryVerdict
from vyre.backends.reference.backend import ReferenceBackend
from vyre.disk import cache_directory
from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir import BufferDecl, DataType, InvocationId, Program
from vyre.reference import run
from vyre.validate import check

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from vyre.backends.protocol import Executable

QUICK = tuple(c for c in CANARIES if c.name not in ("long loops", "zeroed workgroup memory"))


class Device:
    """The reference, with one wrong word in the results of one canary."""

    name = "fake"

    def __init__(self, *, wrong: str = "", driver: str = "1", refuses: str = "", breaks: str = "") -> None:
        self.wrong = wrong
        self.driver = driver
        self.refuses = refuses
        self.breaks = breaks
        self.compiled = 0

    def describe(self) -> BackendInfo:
        return BackendInfo(name=self.name, version="1", device="fake", driver=self.driver)

    def compile(self, program: Program) -> Executable:
        self.compiled += 1
        name = next(c.name for c in CANARIES if c.program == program)
        if name == self.refuses:
            raise UnsupportedByBackend("anything", self.name)
        return _Run(ReferenceBackend().compile(program), name == self.wrong, name == self.breaks)


class _Run:
    def __init__(self, inner: Executable, wrong: bool, breaks: bool) -> None:
        self._inner = inner
        self._wrong = wrong
        self._breaks = breaks

    def run(self, buffers: Mapping[str, memoryview], workgroups: tuple[int, int, int]) -> None:
        if self._breaks:
            raise DispatchError("out of memory.", fix="buy more.")
        self._inner.run(buffers, workgroups)
        if self._wrong:
            buffers["out"][4] ^= 1


@pytest.mark.parametrize("canary", CANARIES, ids=lambda c: c.name)
def test_the_expected_words_are_those_of_the_reference(canary: Canary) -> None:
    check(canary.program, allow_reserved=True)
    inputs = {name: words(values) for name, values in canary.inputs.items()}
    result = run(canary.program, inputs, (canary.workgroups, 1, 1), detect=canary.name != "long loops")
    assert struct.unpack(f"<{len(canary.expected)}I", result.buffers["out"]) == canary.expected
    assert result.report.races == ()


def test_long_loops_are_longer_than_what_some_drivers_stop_at() -> None:
    (canary,) = [c for c in CANARIES if c.name == "long loops"]
    assert canary.inputs["data"][1] > 65_535
    assert canary.inputs["data"][2] ** 2 > 65_535


@pytest.mark.parametrize("canary", [c for c in QUICK if c.uses], ids=lambda c: c.name)
def test_a_wrong_word_costs_that_feature(canary: Canary, tmp_path: Path) -> None:
    verdict = examine(Device(wrong=canary.name), canaries=QUICK, cache=tmp_path / "c.json")
    assert set(verdict.failures) == {canary.name}
    assert "expected 0x" in verdict.failures[canary.name]
    with pytest.raises(UnsupportedByBackend, match=f'canary "{canary.name}"') as refusal:
        refuse_lost_features(canary.program, verdict, "fake")
    assert refusal.value.op == f"a program with {canary.feature}"


def test_other_programs_still_run() -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32)
    plain = Program([out], (1,), [out.store(0, InvocationId(0) + 1)])
    everything = {c.name: "wrong" for c in CANARIES if c.name != "out-of-bounds storage"}
    refuse_lost_features(plain, CanaryVerdict(everything), "fake")
    with pytest.raises(UnsupportedByBackend, match="storage and uniform buffers"):
        refuse_lost_features(plain, CanaryVerdict({"out-of-bounds storage": "wrong"}), "fake")


def test_a_canary_that_nothing_relies_on_is_recorded_only(tmp_path: Path) -> None:
    (canary,) = [c for c in CANARIES if c.uses is None]
    verdict = examine(Device(wrong=canary.name), canaries=QUICK, cache=tmp_path / "c.json")
    assert set(verdict.failures) == {canary.name}
    refuse_lost_features(canary.program, verdict, "fake")


def test_a_verdict_is_kept_per_device_driver_and_lowering(tmp_path: Path) -> None:
    cache = tmp_path / "deep" / "c.json"
    device = Device(wrong="division")
    first = examine(device, canaries=QUICK, cache=cache)
    runs = device.compiled
    assert first.fresh
    again = examine(device, canaries=QUICK, cache=cache)
    assert device.compiled == runs
    assert (again.fresh, again.failures) == (False, first.failures)
    assert examine(Device(driver="2"), canaries=QUICK, cache=cache).fresh
    assert examine(device, canaries=QUICK, cache=cache, lowering="another").fresh
    assert not examine(device, canaries=QUICK, cache=cache).fresh


@pytest.mark.parametrize("content", ["", "{", "[1, 2]", '{"k": 3}', "\0\1\2"])
def test_a_damaged_cache_is_rebuilt(content: str, tmp_path: Path) -> None:
    cache = tmp_path / "c.json"
    cache.write_text(content)
    assert examine(Device(), canaries=QUICK, cache=cache).fresh
    assert not examine(Device(), canaries=QUICK, cache=cache).fresh
    entries = json.loads(cache.read_text())
    key = next(k for k in entries if k != "k")
    cache.write_text(json.dumps({key: {"division": 7}}))
    assert examine(Device(), canaries=QUICK, cache=cache).fresh


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert examine(Device(), canaries=QUICK, cache=tmp_path / "file" / "c.json").fresh


def test_trouble_is_not_kept_and_refusals_are_no_failures(tmp_path: Path) -> None:
    cache = tmp_path / "c.json"
    verdict = examine(Device(breaks="division"), canaries=QUICK, cache=cache)
    assert "out of memory" in verdict.failures["division"]
    assert examine(Device(refuses="division"), canaries=QUICK, cache=cache) == CanaryVerdict({})


def test_only_what_a_program_has_is_asked_of_the_device(tmp_path: Path) -> None:
    cache, device = tmp_path / "c.json", Device(wrong="division")
    out = BufferDecl.read_write("out", 0, DataType.U32)
    plain = Program([out], (1,), [out.store(0, InvocationId(0) + 1)])
    divided = Program([out], (1,), [out.store(0, InvocationId(0) // 3)])
    assert examine(device, canaries=QUICK, cache=cache, program=plain) == CanaryVerdict({})
    assert device.compiled == 1
    found = examine(device, canaries=QUICK, cache=cache, program=divided)
    assert (set(found.failures), found.fresh, device.compiled) == ({"division"}, True, 2)
    assert not examine(device, canaries=QUICK, cache=cache, program=divided).fresh
    assert set(examine(device, canaries=QUICK, cache=cache).failures) == {"division"}
    assert device.compiled == len(QUICK)


def test_a_backend_is_examined_for_what_it_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    class Watched(Device, Examined):
        def compile(self, program: Program) -> Executable:
            if all(c.program != program for c in CANARIES):
                self.require_sound(program)
            return super().compile(program)

    device = Watched(wrong="division")
    device.examine_later()
    out = BufferDecl.read_write("out", 0, DataType.U32)
    device.require_sound(Program([out], (1,), [out.store(0, InvocationId(0) + 1)]))
    assert device.compiled == 1
    with pytest.raises(UnsupportedByBackend, match='canary "division"'):
        device.require_sound(Program([out], (1,), [out.store(0, InvocationId(0) // 3)]))
    assert device.compiled == 2
    device.require_sound(Program([out], (1,), [out.store(0, InvocationId(0) * 3)]))
    assert device.compiled == 2


def test_the_cache_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "vyre"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "vyre"
