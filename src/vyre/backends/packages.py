"""What installed packages say of themselves: entry points and versions, read straight from their files.

    offered_points(group)       the entries of a group, of every package that `import` would find
    version_of(package)         the version of a package

It is what `importlib.metadata` finds, which takes longer to load than all the rest of a first call. Where
packages are installed in any other way than as folders on `sys.path`, it is asked instead.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_INFO = (".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class Point:
    """One entry: what it is called, what it names, and the package it comes from."""

    name: str
    value: str
    package: str

    @property
    def module(self) -> str:
        return self.value.partition(":")[0].strip()


def offered_points(group: str) -> list[Point]:
    if not _in_folders():
        from importlib.metadata import entry_points

        return [
            Point(p.name, p.value, p.dist.name if p.dist else p.module) for p in entry_points(group=group)
        ]
    found: list[Point] = []
    for folder in _packages():
        text = _read(os.path.join(folder, "entry_points.txt"))
        if f"[{group}]" in text:
            found += [Point(name, value, _fact(folder, "Name")) for name, value in _entries(text, group)]
    return found


def version_of(package: str) -> str:
    """Raises `importlib.metadata.PackageNotFoundError` where there is no such package."""
    return _version_on(package, tuple(sys.path))


@lru_cache(maxsize=8)
def _version_on(package: str, _path: tuple[str, ...]) -> str:
    if _in_folders():
        wanted = _normal(package)
        for folder in _packages():
            if _named(folder) == wanted and (found := _fact(folder, "Version")):
                return found
    from importlib.metadata import version

    return version(package)


def _in_folders() -> bool:
    """Whether every package is a folder that lies on the path."""
    others = (f for f in sys.meta_path if getattr(f, "__module__", "") != "_frozen_importlib_external")
    return not any(hasattr(f, "find_distributions") for f in others) and not any(
        os.path.isfile(path) or path.endswith(".egg") for path in sys.path
    )


def _packages() -> Iterator[str]:
    """The folders of facts, the first of each package: later ones are hidden by it."""
    seen: set[str] = set()
    for path in dict.fromkeys(sys.path):
        try:
            names = sorted(os.listdir(path or "."))
        except OSError:
            continue
        for name in names:
            if name.endswith(_INFO) and (package := _named(name)) not in seen:
                seen.add(package)
                yield os.path.join(path or ".", name)


def _named(folder: str) -> str:
    return _normal(os.path.basename(folder).rpartition(".")[0].partition("-")[0])


def _normal(package: str) -> str:
    return package.lower().replace("-", "_").replace(".", "_")


def _entries(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def _fact(folder: str, name: str) -> str:
    """A line of the head of a package's facts."""
    for file in ("METADATA", "PKG-INFO"):
        for line in _read(os.path.join(folder, file)).split("\n\n", 1)[0].splitlines():
            if line.startswith(f"{name}: "):
                return line.partition(": ")[2].strip()
    return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
