"""A stranger's package is found through its entry points and works like our own."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest

import vyre
from vyre import BufferDecl, DataType, InvocationId, LitU32, Program
from vyre.backends import default_backend, default_name, registry
from vyre.backends.reference.backend import ReferenceBackend
from vyre.compose.plugins import installed_ops
from vyre.conform.oracle.golden.rows import load_rows
from vyre.conform.registry import specs
from vyre.conform.verify.golden.stage import run_rows
from vyre.conform.verify.stage import PASSED, REFUSED
from vyre.errors import DispatchError, UnsupportedByBackend

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.packages import Point

PACKAGE = Path(__file__).parent.parent / "plugin_package"


def write_metadata(folder: Path, name: str, version: str, groups: dict[str, dict[str, str]]) -> None:
    """What an installer leaves behind: a `dist-info` folder with the entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines: list[str] = []
    for group, entries in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the metadata of the plugin package, made from its own pyproject."""
    project: dict[str, Any] = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_metadata(tmp_path, project["name"], project["version"], project["entry-points"])
    return tmp_path


def prepend(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    specs()  # kept for this process, in which other tests know nothing of the package
    prepend(monkeypatch, PACKAGE)
    prepend(monkeypatch, site)


@pytest.fixture
def install_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Installs a package with one backend, whose module holds the given text."""

    def install(name: str, text: str) -> None:
        (tmp_path / f"{name}_module.py").write_text(text)
        write_metadata(tmp_path, f"{name}-package", "0.1", {"vyre.backends": {name: f"{name}_module:Mine"}})
        prepend(monkeypatch, tmp_path)

    return install


def status(name: str) -> registry.BackendStatus:
    return next(s for s in registry.available() if s.name == name)


def shifted() -> Program:
    a, out, i = (
        BufferDecl.read("a", 0, DataType.U32),
        BufferDecl.read_write("out", 1, DataType.U32),
        InvocationId(0),
    )
    return Program([a, out], [4], [out.store(i, vyre.Call("acme.mix", (a[i],)) + 1)])


@pytest.mark.usefixtures("installed")
def test_the_listing_names_the_package_and_its_device() -> None:
    found = status("acme")
    assert found.available
    assert (found.device, found.version, found.package) == ("NumPy lanes", "1.2.3", "vyre-acme")


@pytest.mark.usefixtures("installed")
def test_the_plugin_backend_agrees_with_the_reference() -> None:
    ops = installed_ops()
    assert [op.id for op in ops] == ["acme.mix"]
    own = vyre.Registry(ops)
    x = np.random.default_rng(3).integers(0, 1 << 32, 11, dtype=np.uint32)
    arrays = {"a": x, "out": np.zeros(13, np.uint32)}
    results = [
        vyre.dispatch(shifted(), arrays, backend=name, registry=own)["out"] for name in ("acme", "reference")
    ]
    assert results[0].tolist() == results[1].tolist()
    assert results[0][:11].tolist() != x.tolist()


@pytest.mark.usefixtures("installed")
def test_the_plugin_backend_refuses_what_it_cannot_do() -> None:
    out = BufferDecl.read_write("out", 0, DataType.U32, count=1)
    program = Program([out], [1], [out.store(0, LitU32(7) // 2)])
    with pytest.raises(UnsupportedByBackend, match="not supported by the backend acme"):
        vyre.dispatch(program, {}, backend="acme")


def test_without_the_package_nothing_is_there() -> None:
    with pytest.raises(DispatchError, match="no backend is called 'acme'"):
        registry.get("acme")
    assert installed_ops() == []


def test_a_new_process_finds_backend_and_op(site: Path) -> None:
    code = (
        "import vyre\n"
        "assert vyre.default_registry()['acme.mix'].doc == 'Mixes bits.'\n"
        "print(vyre.backends.get('acme').describe().device)"
    )
    path = os.pathsep.join([str(site), str(PACKAGE)])
    run = subprocess.run(
        [sys.executable, "-c", "import vyre.backends\n" + code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "NumPy lanes\n"


def test_a_missing_module_is_listed_with_the_command_that_installs_it(
    install_broken: Callable[[str, str], None],
) -> None:
    install_broken("lacking", "import not_a_module_anywhere\n")
    found = status("lacking")
    assert not found.available
    assert "'not_a_module_anywhere'" in found.missing
    assert found.install == "pip install lacking-package"
    with pytest.raises(DispatchError, match=r"'lacking' is not available.*pip install lacking-package"):
        registry.get("lacking")


def test_a_constructor_that_fails_never_breaks_the_listing(
    install_broken: Callable[[str, str], None],
) -> None:
    install_broken("failing", "def Mine():\n    raise RuntimeError('no device')\n")
    assert "RuntimeError: no device" in status("failing").missing
    assert status("reference").available


def test_an_object_without_the_methods_is_no_backend(install_broken: Callable[[str, str], None]) -> None:
    install_broken("hollow", "class Mine:\n    name = 'hollow'\n")
    assert "is not a Backend" in status("hollow").missing


class Asked(ReferenceBackend):
    """While the first one is made, another thread asks for it."""

    found: ClassVar[list[object]] = []
    others: ClassVar[list[Thread]] = []

    def __init__(self) -> None:
        super().__init__()
        if not self.others:
            self.others.append(Thread(target=lambda: self.found.append(registry._construct(ASKED))))
            self.others[0].start()
            self.others[0].join(0.2)


ASKED = f"{__name__}:Asked"


def test_threads_that_ask_for_a_backend_at_once_get_the_same() -> None:
    made = registry._construct(ASKED)
    Asked.others[0].join()
    assert Asked.found == [made]


def test_two_packages_cannot_share_a_name(install_broken: Callable[[str, str], None]) -> None:
    install_broken("reference", "class Mine:\n    pass\n")
    with pytest.raises(DispatchError, match="both register it"):
        registry.get("reference")


def test_the_metadata_of_packages_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = registry.get("reference")

    def never(group: str) -> list[Point]:
        raise AssertionError(f"the entry points of {group} were read again")

    monkeypatch.setattr(registry, "offered_points", never)
    assert registry.get("reference") is first
    assert default_backend() == default_name()
    vyre.device_zeros(4, np.uint32, backend="reference")


def test_close_names_are_suggested() -> None:
    with pytest.raises(DispatchError, match="did you mean 'reference'"):
        registry.get("referenc")


@pytest.mark.usefixtures("installed")
def test_the_plugin_backend_passes_the_golden_rows_that_it_takes() -> None:
    outcomes = run_rows(registry.get("acme"), load_rows())
    assert {o.status for o in outcomes} == {PASSED, REFUSED}
