"""`vyre cache`: what is kept on disk, and how it goes away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from click.testing import CliRunner

from vyre.backends.kernel_cache import KernelCache, key_of
from vyre.cli.app import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_it_counts_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    KernelCache(tmp_path).keep(key_of("cpu", ["x"]), b"code")
    run = CliRunner()
    assert json.loads(run.invoke(main, ["cache", "--json"]).output)["entries"] == 1
    assert "removed 1 kernel from" in run.invoke(main, ["cache", "--clear"]).output
    assert run.invoke(main, ["cache"]).output.startswith("0 kernels, 0 bytes in ")


def test_it_says_when_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VYRE_CACHE", "off")
    assert CliRunner().invoke(main, ["cache"]).output.startswith("no cache: ")
