"""Names, command-line options and exit codes may be added; none is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner

from tests.pins.doors import command_line
from tests.pins.pinned import HOW_TO_UPDATE
from tests.pins.programs import DATA
from tests.pins.surface import commands, names

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FOUND: dict[str, Callable[[], set[str]]] = {"names": names, "commands": commands}
_PROGRAM = "vyre 1 workgroup 1 buffer out: readwrite U32 @0 entry { out[0] = 1 }"


def lost(kind: str, found: set[str], *, update: bool = False, folder: Path = DATA) -> list[str]:
    """What is listed and no longer there."""
    path = folder / f"{kind}.json"
    if update:
        path.write_text(json.dumps(sorted(found), indent=0) + "\n", encoding="utf-8")
    return sorted(set(json.loads(path.read_text(encoding="utf-8"))) - found)


@pytest.mark.parametrize("kind", _FOUND)
def test_nothing_that_a_user_can_name_is_lost(kind: str, update_golden: bool) -> None:
    gone = lost(kind, _FOUND[kind](), update=update_golden)
    assert not gone, f"{len(gone)} {kind} are gone: {', '.join(gone[:20])}. {HOW_TO_UPDATE}"


def test_a_loss_is_named_and_an_addition_is_not(tmp_path: Path) -> None:
    assert lost("some", {"vyre.a", "vyre.b"}, update=True, folder=tmp_path) == []
    assert lost("some", {"vyre.b", "vyre.c"}, folder=tmp_path) == ["vyre.a"]


def exit_code(*words: str | Path) -> int:
    return CliRunner().invoke(command_line, [str(w) for w in words]).exit_code


def test_a_command_that_succeeds_exits_with_0(tmp_path: Path) -> None:
    file = tmp_path / "good.vyre"
    file.write_text(_PROGRAM)
    assert exit_code("validate", file) == 0
    assert exit_code("--version") == 0


@pytest.mark.parametrize(
    "text", [_PROGRAM.replace("out[0]", "none[0]"), "vyre 1 nonsense"], ids=["invalid", "not a program"]
)
def test_an_error_exits_with_1(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.vyre"
    file.write_text(text)
    assert exit_code("validate", file) == 1


@pytest.mark.parametrize("words", [["nonsense"], ["validate"], ["validate", "--nonsense", "x"]])
def test_a_wrong_command_line_exits_with_2(words: list[str]) -> None:
    assert exit_code(*words) == 2


def test_verifying_a_shard_exits_with_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    few = ("--ops", "cast.u32.i32", "--cases", "16", "--quick", "--in-process")
    assert exit_code("certify", "reference", *few, "--shard", "1/2", "--certificate", "shard.json") == 0
    assert exit_code("verify", "shard.json") == 3


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, click.Abort])
def test_an_interrupt_exits_with_130(interrupt: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise interrupt

    monkeypatch.setattr(click.Command, "invoke", stop)
    assert exit_code("backends") == 130
