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
