"""Which backends exist: entry points of the group `vyre.backends`, ours and those of other packages.

A backend that cannot be loaded is listed with what is missing, and never breaks the listing. The metadata of
installed packages is read once for each `sys.path`, which takes milliseconds; a look-up takes about one
microsecond.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cache, lru_cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING

from vyre.backends.packages import offered_points
from vyre.backends.protocol import Backend, BackendInfo
from vyre.errors import BackendUnavailable, DispatchError, VyreError, boundary
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.backends.packages import Point

GROUP = "vyre.backends"
_making = threading.RLock()


def _renew() -> None:
    """In the child of a fork: another thread of the parent may have held the lock."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


@dataclass(frozen=True, slots=True)
class BackendStatus:
    """One line of `vyre backends`. `missing` and `install` are empty for an available backend."""

    name: str
    available: bool
    device: str
    version: str
    driver: str
    toolchain: str
    package: str
    missing: str
    install: str


def names() -> list[str]:
    """Every registered backend; none is loaded."""
    return sorted(_points())


def available(only: str | None = None) -> list[BackendStatus]:
    """Every registered backend, by name, available or not; or one of them."""
    return [_status(name, points) for name, points in sorted(_points().items()) if only in (None, name)]


@boundary
def get(name: str) -> Backend:
    """The backend of that name, constructed once. Raises `BackendUnavailable` when it cannot be had."""
    points = _points()
    if name not in points:
        from difflib import get_close_matches

        close = get_close_matches(name.lower(), points, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise DispatchError(
            f"no backend is called {name!r}.",
            fix=f"{hint}Choose one of {', '.join(sorted(points)) or '(none installed)'}.",
        )
    loaded = _load(points[name])
    if isinstance(loaded, _Failure):
        raise BackendUnavailable(
            f"the backend {name!r} is not available: {loaded.missing}", fix=loaded.install
        )
    return loaded


@dataclass(frozen=True, slots=True)
class _Failure:
    missing: str
    install: str


def _points() -> dict[str, tuple[Point, ...]]:
    return _points_on(tuple(sys.path))


@lru_cache(maxsize=4)
def _points_on(_path: tuple[str, ...]) -> dict[str, tuple[Point, ...]]:
    found: dict[str, tuple[Point, ...]] = {}
    for point in offered_points(GROUP):
        known = found.get(point.name, ())
        if all(p.value != point.value for p in known):
            found[point.name] = (*known, point)
    return found


def _load(points: tuple[Point, ...]) -> Backend | _Failure:
    if len(points) != 1:
        owners = " and ".join(p.package for p in points)
        return _Failure(f"{owners} both register it.", f"uninstall one of {owners}.")
    (point,) = points
    try:
        backend = _construct(point.value)
    except ImportError as error:
        package = point.package
        target = f'"vyre[{point.name}]"' if package == "vyre" else package
        module = f"the module {error.name!r} is not installed." if error.name else f"{error}."
        return _Failure(module, f"pip install {target}")
    except VyreError as error:  # it knows what to do better than we do
        return _Failure(error.message, error.fix)
    except (Exception, SystemExit) as error:  # a stranger's code may raise anything; the listing goes on
        return _Failure(f"{type(error).__name__}: {error}", f"repair or uninstall {point.package}.")
    return backend


def _construct(value: str) -> Backend:
    """One object for all threads: a buffer of one object is on another device for the other."""
    with _making:
        return _constructed(value)


@cache
def _constructed(value: str) -> Backend:
    """Nothing is kept of a constructor that fails: what it missed may be there at the next look-up."""
    module, _, name = value.partition("[")[0].partition(":")
    made = attrgetter(name.strip())(import_module(module.strip()))()
    if not isinstance(made, Backend):
        raise VyreError(
            f"{value} is not a Backend.", fix="give it `name`, `describe()` and `compile(program)`."
        )
    return made


def described(backend: Backend) -> BackendInfo:
    """What the backend says about itself. Raises `DispatchError` if that is not a `BackendInfo`."""
    info = backend.describe()
    if not isinstance(info, BackendInfo):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise DispatchError(
            f"describe() of the backend {backend.name!r} gave a {type(info).__name__}, not a BackendInfo.",
            fix="return vyre.BackendInfo(…) from describe().",
        )
    return info


def _status(name: str, points: tuple[Point, ...]) -> BackendStatus:
    package = ", ".join(p.package for p in points)
    loaded = _load(points)
    if not isinstance(loaded, _Failure):
        try:
            info = described(loaded)
        except VyreError as error:
            loaded = _Failure(error.message, error.fix)
        except (Exception, SystemExit) as error:  # a device may be lost between construction and the question
            loaded = _Failure(f"{type(error).__name__}: {error}", f"repair or uninstall {package}.")
        else:
            return BackendStatus(
                name, True, info.device, info.version, info.driver, info.toolchain, package, "", ""
            )
    return BackendStatus(name, False, "", "", "", "", package, loaded.missing, loaded.install)
