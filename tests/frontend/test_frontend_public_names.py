"""The public names: one table, lazily loaded, the same for people and type checkers."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from pathlib import Path

import pytest

import vyre


def checker_imports() -> dict[str, str]:
    """The names that type checkers see, with their modules."""
    tree = ast.parse(Path(vyre.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    found: dict[str, str] = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        found.update({alias.name: str(node.module) for alias in node.names})
    return found


def test_checkers_and_people_see_the_same_names() -> None:
    homes: dict[str, str] = vars(vyre)["_HOME_OF"]
    assert homes == checker_imports()
    assert set(vyre.__all__) == set(homes) - set(dir(builtins))
    assert len(vyre.__all__) == len(set(vyre.__all__))


@pytest.mark.parametrize("name", vars(vyre)["_HOME_OF"])
def test_every_name_loads(name: str) -> None:
    assert getattr(vyre, name) is not None
    assert name in dir(vyre)


def test_a_star_shadows_no_builtin() -> None:
    assert not set(vyre.__all__) & set(dir(builtins))


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'popcnt'"):
        getattr(vyre, "popcnt")  # noqa: B009 - the checker would refuse the plain spelling


def test_importing_vyre_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import vyre; print(*(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["vyre"]


def test_decorating_a_kernel_loads_neither_numpy_nor_the_interpreter(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(
        "import sys, vyre\nfrom vyre import Out, u32\n"
        "@vyre.kernel\ndef k(out: Out[u32]):\n    out[0] = 1\n"
        "print({'numpy', 'click', 'rich', 'vyre.reference'} & set(sys.modules))\n"
    )
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
