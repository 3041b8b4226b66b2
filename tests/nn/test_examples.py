"""The examples of networks check themselves; run here on two backends, which print the same hash."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


def printed(name: str, backend: str, capsys: pytest.CaptureFixture[str]) -> str:
    main: Any = runpy.run_path(str(FOLDER / name))["main"]
    main(["--backend", backend])
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["unet_block.py", "sparse_attention.py"])
def test_an_example_agrees_with_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(name, "cpu", capsys)
    assert "equal" in found
    assert found == printed(name, "reference", capsys)


LOGITS = "81dbd4d3b31a0d28b9e5d5626dffdc3a76bc2c6efd5d86287cc06ebac7d1f1cc"
"""Of the tiny model, as `docs/certified.md` has it for every stack that it ran on."""


def test_the_transformer_has_the_recorded_logits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["transformer.py", "--backend", "cpu"])
    main: Any = runpy.run_path(str(FOLDER / "transformer.py"))["main"]
    main()
    found = capsys.readouterr().out
    assert "token by token: equal" in found
    assert LOGITS in found
    assert LOGITS in (FOLDER.parent / "docs" / "certified.md").read_text()
