"""`vyre new-backend`: a package with a backend that works, to be changed into another."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import click

from vyre.errors import VyreError
from vyre.files import write_bytes

_FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "__init__.py": "{package}/__init__.py",
    "backend.py": "{package}/backend.py",
    "emitter.py": "{package}/emitter.py",
    "lanes.py": "{package}/lanes.py",
    "judged.py": "tests/test_{name}.py",
}
"""The files of the template, and where each is written."""


@click.command("new-backend", epilog="Example: vyre new-backend mine · vyre new-backend mine --folder ~/mine")
@click.argument("name")
@click.option("--folder", metavar="DIR", help="Where to write [vyre-NAME]; created if it is missing.")
def command(name: str, *, folder: str | None) -> None:
    """Write a package with a backend called NAME that passes the golden rows as it is.

    It runs programs as NumPy code. docs/backend.md leads from there to a certificate.
    """
    _require_name(name)
    target = Path(folder or f"vyre-{name.replace('_', '-')}").expanduser()
    written = texts(name)
    _require_free(target, written)
    for path, text in written.items():
        _make(target / path, text)
    click.echo(f"{target}: a backend called {name}, {len(written)} files. Next:\n")
    click.echo(f"  cd {target}")
    for line in _next_commands(written["README.md"]):
        click.echo(f"  {line}")


def texts(name: str) -> dict[str, str]:
    """The files of a backend of this name, by their paths."""
    package, title = f"vyre_{name}", "".join(x.capitalize() for x in name.split("_"))
    found: dict[str, str] = {}
    for source, path in _FILES.items():
        text = files("vyre.cli.template").joinpath(source).read_text(encoding="utf-8")
        text = text.replace("vyre.cli.template", package).replace("MineBackend", f"{title}Backend")
        text = re.sub(r"\bvyre-mine\b", f"vyre-{name.replace('_', '-')}", text)
        text = re.sub(r"\b(vyre_|test_|)mine\b", rf"\g<1>{name}", text)
        found[path.format(package=package, name=name)] = text
    return found


def _next_commands(readme: str) -> list[str]:
    return readme.split("```\n")[1].splitlines()


def _require_name(name: str) -> None:
    from vyre.backends.registry import names

    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise VyreError(
            f"{name!r} cannot name a backend and its package.",
            fix="use lower-case letters, digits and single underscores, a letter first: mine, my_gpu.",
        )
    if name in names():
        raise VyreError(f"a backend called {name!r} is installed already.", fix="choose another name.")


def _require_free(target: Path, written: dict[str, str]) -> None:
    """Nothing is overwritten, and nothing is written before that is known."""
    if target.exists() and not target.is_dir():
        raise VyreError(f"{target} is not a folder.", fix="name another with --folder.")
    there = [path for path in written if (target / path).exists()]
    if there:
        raise VyreError(
            f"{target / there[0]} exists already, and nothing was written.",
            fix="name a new folder with --folder.",
        )


def _make(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VyreError(
            f"cannot make {path.parent}: {error.strerror}.", fix="check the path and its permissions."
        ) from None
    write_bytes(str(path), text.encode())
