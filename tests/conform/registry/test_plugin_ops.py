"""The example package of ops passes the gates, enters `vyre laws` and a certificate, and hashes as published.

What breaks a promise is refused by name: a false law, a definition that gives nothing or wavers, and an op
about which nothing is promised.
"""

from __future__ import annotations

import importlib
import itertools
import sys
import tomllib
from dataclasses import asdict, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from tests.conform.registry.stranger_definitions import nothing, wavering
from tests.conform.registry.test_admission import write_metadata
from vyre.cli.app import main
from vyre.compose.registry import default_registry
from vyre.conform import registry
from vyre.conform.spec.law import Bounded
from vyre.conform.suite.units import graph_of
from vyre.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.conform.spec.op import OpSpec

PACKAGE = Path(__file__).parents[3] / "examples" / "plugin_ops"
BUILT = (registry._by_id, default_registry, graph_of)
"""What is made once in a process from the ops and specs that are installed."""

IDS = (
    "extras.murmur3.step",
    "extras.murmur3.mix",
    "extras.siphash.half",
    "extras.edit.distance",
    "extras.glob.matches",
)


@pytest.fixture(autouse=True)
def extras(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The package, installed as its own pyproject says; registries are built anew, before and after."""
    project: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_metadata(tmp_path, project["name"], project["entry-points"])
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(PACKAGE), *sys.path])
    for built in BUILT:
        built.cache_clear()
    yield importlib.import_module("vyre_extras")
    for built in BUILT:
        built.cache_clear()


def changed(extras: Any, op_id: str, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> None:
    """The package with another promise about one op."""
    given: list[OpSpec] = extras.SPECS
    assert any(s.id == op_id for s in given)
    monkeypatch.setattr(extras, "SPECS", [replace(s, **fields) if s.id == op_id else s for s in given])


def test_the_package_offers_what_is_tested_here(extras: Any) -> None:
    assert tuple(op.id for op in extras.OPS) == tuple(s.id for s in extras.SPECS) == IDS


def test_every_law_is_proved() -> None:
    found = CliRunner().invoke(main, ["laws", "extras."])
    assert found.exit_code == 0, found.output
    assert found.output.count(" proved ") >= len(IDS)


def certified(folder: Path, *ops: str) -> list[Any]:
    """What a run on the backend cpu finds for each op."""
    from vyre.backends.cpu.backend import CpuBackend
    from vyre.conform.records.journal import Journal
    from vyre.conform.suite.run import Suite, make_plan

    plan = make_plan("cpu", ops=ops, stages=("ops",), cases=4096)
    journal = Journal(folder / "journal.jsonl", {"plan": asdict(plan)}, resume=False)
    return list(Suite(plan, CpuBackend(threads=1), journal).run().results.ops)


def test_every_op_enters_a_certificate(tmp_path: Path) -> None:
    found = certified(tmp_path, *IDS)
    assert sorted((r.id, r.status) for r in found) == sorted((op_id, "passed") for op_id in IDS)
    assert all(sum(c.cases for c in r.parity) > 4096 for r in found)


def test_a_false_law_is_refused_with_what_breaks_it(
    tmp_path: Path, extras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(extras, "extras.edit.distance", monkeypatch, laws=(Bounded(0, 3),))
    found = CliRunner().invoke(main, ["laws", "extras.edit."])
    assert found.exit_code == 1
    assert "refuted" in found.output
    assert "Bounded(0, 3)" in found.output
    (result,) = certified(tmp_path, "extras.edit.distance")
    assert result.status == "failed"


@pytest.mark.parametrize(
    ("fields", "gate", "fix"),
    [
        ({"cpu_fn": nothing}, "gate 5 (observable)", "one word or more"),
        ({"cpu_fn": wavering}, "gate 4 (deterministic)", "from its operands alone"),
        ({"laws": (), "boundaries": ()}, "gate 6 (rules)", "declare a law"),
    ],
)
def test_a_promise_that_is_none_is_refused(
    fields: dict[str, Any], gate: str, fix: str, extras: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(extras, "extras.edit.distance", monkeypatch, **fields)
    with pytest.raises(OpError) as error:
        registry.specs()
    assert "the package vyre-extras cannot be used: extras.edit.distance is rejected" in error.value.message
    assert gate in error.value.message
    assert fix in error.value.fix
    assert "uninstall vyre-extras" in error.value.fix


def distance(a: bytes, b: bytes) -> int:
    """By the definition: the least number of steps from one to the other."""
    if not a or not b:
        return len(a) + len(b)
    changes = distance(a[1:], b[1:]) + (a[0] != b[0])
    return min(changes, distance(a[1:], b) + 1, distance(a, b[1:]) + 1)


def word(text: bytes) -> int:
    return int.from_bytes(text, "little")


def test_strings_are_compared_as_python_compares_them() -> None:
    far = registry.spec("extras.edit.distance")
    fits = registry.spec("extras.glob.matches")
    texts = [bytes(t) for t in itertools.product(b"ab*", repeat=4)]
    for one, other in itertools.product(texts[::5], texts[::7]):
        assert far.evaluate(word(one), word(other)) == (distance(one, other),)
    for pattern in itertools.product("ab*?", repeat=4):
        for text in texts[::3]:
            expected = fnmatchcase(text.decode(), "".join(pattern))
            assert fits.evaluate(word("".join(pattern).encode()), word(text)) == (expected,)


SOURCE = '''
import vyre
from vyre import u32

@vyre.op(id="two.once")
def once(x: u32) -> u32:
    """Turns a word by one bit."""
    return vyre.call("integer.rotl", x, 1)

@vyre.op(id="two.twice")
def twice(x: u32) -> u32:
    """Turns a word by two bits."""
    return once(once(x))

OPS = [once.op, twice.op]
'''


def test_ops_call_the_library_and_each_other_while_their_package_is_loaded(tmp_path: Path) -> None:
    write_metadata(tmp_path, "two", {"vyre.ops": {"all": "two_ops:OPS"}})
    (tmp_path / "two_ops.py").write_text(SOURCE)
    importlib.invalidate_caches()
    default_registry.cache_clear()
    try:
        importlib.import_module("two_ops")
        assert {"two.once", "two.twice", "extras.murmur3.mix"} <= {op.id for op in default_registry()}
    finally:
        sys.modules.pop("two_ops", None)
