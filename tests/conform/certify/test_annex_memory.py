"""Baselines are measured in the device's own memory where it has some, and say so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from tests.conform.certify.small_runs import Right, certified, small
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.certify import annex
from vyre.conform.certify.annex import BASELINES, check_annex, measure, read_annex, write_annex
from vyre.conform.certify.statement import read, sealed_record, write
from vyre.conform.records.documents import canonical
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo
    from vyre.ir.program import Program

__all__ = ["small"]


class _Memory:
    """Memory of the host that says it is elsewhere."""

    def __init__(self, owner: Device, inner: Any) -> None:
        self._owner, self.inner = owner, inner
        self.nbytes: int = inner.nbytes
        self.span = ("elsewhere", *inner.span[1:])
        owner.held.add(self)

    def read(self, target: memoryview) -> None:
        self._owner.reads += 1
        self.inner.read(target)

    def write(self, source: memoryview) -> None:
        self.inner.write(source)

    def copy(self, source: Any) -> None:
        self.inner.copy(source.inner)

    def free(self) -> None:
        self._owner.held.remove(self)
        self.inner.free()


class _Executable:
    def __init__(self, owner: Device, inner: Any) -> None:
        self._owner, self._inner = owner, inner

    def run(self, *_: object) -> None:
        raise AssertionError("the host's memory was used")

    def bind(self, memories: Any, workgroups: tuple[int, int, int]) -> Callable[[], None]:
        return self._inner.bind([m.inner for m in memories], workgroups)


class Device:
    name = "device"

    def __init__(self, *, limit: int = 1 << 16) -> None:
        self._cpu = CpuBackend(threads=1)
        self._limit = limit
        self.held: set[_Memory] = set()
        self.reads = 0

    def describe(self) -> BackendInfo:
        return self._cpu.describe()

    def compile(self, program: Program) -> Any:
        return _Executable(self, self._cpu.compile(program))

    def allocate(self, nbytes: int) -> _Memory:
        if nbytes > self._limit:
            raise DispatchError("too large.", fix="use less.")
        return _Memory(self, self._cpu.allocate(nbytes))

    def borrow(self, data: memoryview) -> _Memory:
        raise AssertionError("the host's memory was used")


def test_a_device_is_measured_in_its_own_memory_up_to_its_limit() -> None:
    device = Device()
    found = measure(device)
    assert tuple(b.name for b in found) == BASELINES
    assert {b.memory for b in found} == {"device"}
    assert {b.elements for b in found} == {1 << 14}, "four bytes each, and the limit is 64 KiB"
    assert not device.held, "everything was given back"
    assert device.reads > len(BASELINES)


def test_memory_is_given_back_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device()

    def fails(*_: object) -> None:
        raise RuntimeError("lost")

    monkeypatch.setattr(_Executable, "bind", fails)
    with pytest.raises(RuntimeError, match="lost"):
        measure(device)
    assert not device.held


def test_a_chain_is_queued_and_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    launches: list[int] = []
    device = Device(limit=1 << 12)

    def bind(self: _Executable, memories: Any, workgroups: tuple[int, int, int]) -> Callable[[], None]:
        return lambda: launches.append(workgroups[0])

    monkeypatch.setattr(_Executable, "bind", bind)
    measure(device)
    assert len(launches) > 8 * device.reads, "launches that do nothing are chained sixteen at a time"


def test_the_hosts_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annex, "_LARGEST", {"host": 1 << 12, "device": 0})
    assert {b.memory for b in measure(Right())} == {"host"}


def test_an_annex_says_where_and_an_older_one_is_still_read(
    small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = measure(Device(limit=1 << 12))
    certificate = certified(Right(), tmp_path, ops=("cast.u32.i32",), baselines=BASELINES)
    document = read(write(certificate))
    data = write_annex(found, certificate)
    assert {b.memory for b in read_annex(data)[0].baselines} == {"device"}
    assert check_annex(data, document).text.endswith("in memory of the device")
    record = json.loads(data)
    older = [{k: v for k, v in b.items() if k != "memory"} for b in record["predicate"]["baselines"]]
    record["predicate"] = sealed_record({"baselines": older, "schema": "vyre.performance/1"})
    assert {b.memory for b in read_annex(canonical(record))[0].baselines} == {"host"}
    record["predicate"] = sealed_record({"baselines": older, "schema": "vyre.performance/2"})
    assert "not a performance annex" in check_annex(canonical(record), document).text
