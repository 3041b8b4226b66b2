"""The comparison of two certificates overlooks the code's digest, and nothing else."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.pins.certificate import main, same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LEVELS: list[Any] = [
    {"level": "L1", "granted": True, "reasons": []},
    {"level": "L2", "granted": True, "reasons": []},
]
_OP = {"id": "primitive.math.add", "parity": [{"kind": "u8", "cases": 65536, "failed": 0, "planned": 65536}]}
STATEMENT: dict[str, Any] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": "cpu", "digest": {"sha256": "5a"}}],
    "predicate": {
        "backend": {"name": "cpu", "device": "some processor"},
        "code": "c0de",
        "digests": {"backend": "5a", "code": "d16e57", "ops": "0b5"},
        "ops": [_OP, {**_OP, "id": "primitive.math.sub"}],
        "plan": {"ops": ["primitive.math.add", "primitive.math.sub"], "cases": 16},
        "tracks": [{"track": "integer", "highest": "L2", "levels": _LEVELS}],
        "vyre": "0.1.0",
    },
}


def _code(predicate: dict[str, Any]) -> None:
    predicate["code"] = "beef"
    predicate["digests"]["code"] = "f00d"


def _count(predicate: dict[str, Any]) -> None:
    predicate["ops"][1]["parity"][0]["cases"] = 65535


def _level(predicate: dict[str, Any]) -> None:
    predicate["tracks"][0]["highest"] = "L1"
    predicate["tracks"][0]["levels"][1]["granted"] = False


def _type(predicate: dict[str, Any]) -> None:
    predicate["ops"][0]["parity"][0]["failed"] = False


def _lost(predicate: dict[str, Any]) -> None:
    del predicate["ops"][0]


def _section(predicate: dict[str, Any]) -> None:
    del predicate["vyre"]


def _order(predicate: dict[str, Any]) -> None:
    predicate["ops"].reverse()


def _plan(predicate: dict[str, Any]) -> None:
    predicate["plan"]["ops"].pop()


_ADD, _SUB = "predicate.ops[primitive.math.add]", "predicate.ops[primitive.math.sub]"
_INTEGER = "predicate.tracks[integer]"


@pytest.fixture
def before(tmp_path: Path) -> Path:
    path = tmp_path / "before.json"
    path.write_text(json.dumps(STATEMENT))
    return path


def changed(folder: Path, change: Callable[[dict[str, Any]], None], *, signed: bool = False) -> Path:
    record = json.loads(json.dumps(STATEMENT))  # a copy in which no part is shared
    change(record["predicate"])
    if signed:
        body = base64.b64encode(json.dumps(record).encode()).decode()
        record = {"payload": body, "payloadType": "any", "signatures": [{"keyid": "k", "sig": "s"}]}
    path = folder / "after.json"
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize("signed", [False, True])
def test_another_digest_of_the_code_is_the_same_certificate(
    before: Path, tmp_path: Path, signed: bool
) -> None:
    after = changed(tmp_path, _code, signed=signed)
    assert same(before, after) == []
    assert main([str(before), str(after)]) == 0


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (_count, [f"{_SUB}.parity[u8].cases: 65536, now 65535"]),
        (_level, [f'{_INTEGER}.highest: "L2", now "L1"', f"{_INTEGER}.levels[L2].granted: true, now false"]),
        (_type, [f"{_ADD}.parity[u8].failed: 0, now false"]),
        (_section, ['predicate.vyre: "0.1.0", now nothing']),
        (_order, ["predicate.ops: the order of 2 entries differs"]),
        (_plan, ['predicate.plan.ops[1]: "primitive.math.sub", now nothing']),
    ],
)
def test_every_other_field_that_differs_is_named(
    before: Path, tmp_path: Path, change: Callable[[dict[str, Any]], None], places: list[str]
) -> None:
    after = changed(tmp_path, change)
    assert same(before, after) == places
    assert main([str(before), str(after)]) == 1


def test_an_op_that_is_gone_is_named(before: Path, tmp_path: Path) -> None:
    (found,) = same(before, changed(tmp_path, _lost))
    assert found.startswith(_ADD)
    assert found.endswith("now nothing")
